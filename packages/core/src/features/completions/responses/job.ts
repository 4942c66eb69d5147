import type { JobHandler } from '../../../jobs/handler.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import type { AnswerPart, GenerateRequest } from '../../../ports/models.ts';
import { isStorageUnavailable, type Store } from '../../../ports/store.ts';
import { createQuestHandler, type QuestHandlerServices } from '../../../runs/handler.ts';
import type { LiveEvent } from '../../../runs/live-event.ts';
import { QuestAbandoned } from '../../../runs/quest-task.ts';
import { QUESTS, type QuestRecord } from '../../../runs/records.ts';
import type { RunningQuests } from '../../../runs/running.ts';
import { ApiError } from '../../../shared/errors.ts';
import { countStorage } from '../../storage/usage.ts';
import { addTurn } from '../conversations/turns.ts';
import { type MakeServices, makeResponse } from './make.ts';
import { packOutput } from './output.ts';
import { createOutputWriter, INTERRUPTED } from './output-writer.ts';
import { RESPONSE, RESPONSE_OPERATION, RESPONSES } from './records.ts';

const CONCURRENCY = 50;
const PHASES = ['load', 'model', 'store'];

export interface ResponseJobServices extends QuestHandlerServices, MakeServices {
  readonly clock: QuestHandlerServices['clock'];
  readonly onError: QuestHandlerServices['onError'];
}

/** Makes a stored response: the parts of the answer are kept and emitted as they come. */
export function createResponseJob(services: ResponseJobServices, runningQuests: RunningQuests): JobHandler {
  const { store, eventLog } = services;
  return createQuestHandler(services, runningQuests, {
    kind: RESPONSE,
    operation: RESPONSE_OPERATION,
    concurrency: CONCURRENCY,
    phases: PHASES,
    isLive: 'parts',
    unfinished: { type: 'error', explanation: INTERRUPTED },
    alongside: storeOutput,
    async restore({ id }) {
      return { output: packOutput({ parts: await readParts(eventLog, id) }) };
    },

    async work(run) {
      const { quest, stopwatch } = run;
      stopwatch.phase('load');
      const { call } = (await store.collection(RESPONSES).get(quest.id)) ?? {};
      if (call === undefined) throw new QuestAbandoned('The response was deleted.');
      const output = createOutputWriter(services, run);
      try {
        // What a reader has seen is not made again in other words.
        output.parts.push(...(run.job.fence > 1 ? await readParts(eventLog, quest.id) : []));
        if (output.parts.length > 0) throw new ApiError(503, INTERRUPTED);
        stopwatch.phase('model');
        return await makeResponse(services, run, output, JSON.parse(call) as GenerateRequest);
      } catch (error) {
        if (isStorageUnavailable(error) && output.parts.length === 0) throw error;
        throw output.fail(error);
      }
    },
  });
}

/** Drops the call of the model. The output of a stopped quest is known only when its worker has closed it. */
async function storeOutput(store: Store, quest: QuestRecord): Promise<void> {
  const { id, status, output } = quest;
  if (status === 'stopped' && output !== undefined) {
    await store.collection(QUESTS).update(id, { output });
  }
  const bytes = output === undefined ? 0 : Buffer.byteLength(output);
  const responses = store.collection(RESPONSES);
  const response = await responses.update(id, { call: undefined });
  if (response === undefined) return;
  await addTurn(store, quest, response);
  await responses.add(id, { bytes });
  await countStorage(store, { ownerId: response.ownerId, kind: 'sessions', bytes });
}

/** Reads the parts that readers may have seen. */
async function readParts(eventLog: EventLog, id: string): Promise<AnswerPart[]> {
  const parts: AnswerPart[] = [];
  for (let after = 0; ; ) {
    const page = (await eventLog.read(id, after)) ?? [];
    for (const { sequence, event } of page) {
      const live = event as unknown as LiveEvent;
      if (live.type === 'part') parts.push(live.part);
      after = sequence;
    }
    if (page.length === 0) return parts;
  }
}
