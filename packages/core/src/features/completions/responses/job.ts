import type { JobHandler } from '../../../jobs/handler.ts';
import type { GetCatalogue } from '../../../models/allowed-models.ts';
import { type AnsweringServices, generateWithFallback, readAnswer } from '../../../models/answering.ts';
import { candidatesFor, toFallback } from '../../../models/candidates.ts';
import type { CatalogueEntry, ModelCatalogue } from '../../../models/catalogue.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import type { GenerateRequest, ModelPart } from '../../../ports/models.ts';
import { isStorageUnavailable, type Store } from '../../../ports/store.ts';
import { createQuestHandler, type QuestHandlerServices } from '../../../runs/handler.ts';
import type { LiveEvent } from '../../../runs/live-event.ts';
import { QuestAbandoned } from '../../../runs/quest-task.ts';
import { QUESTS, type QuestOutcome, type QuestRecord } from '../../../runs/records.ts';
import type { RunContext } from '../../../runs/run-context.ts';
import type { RunningQuests } from '../../../runs/running.ts';
import { countStorage } from '../../storage/usage.ts';
import { addTurn } from '../conversations/turns.ts';
import { forStandIn } from '../request.ts';
import { packOutput } from './output.ts';
import { createOutputWriter, INTERRUPTED, interrupted, type OutputWriter } from './output-writer.ts';
import { RESPONSE, RESPONSE_OPERATION, RESPONSES, type ResponseRequest } from './records.ts';

const CONCURRENCY = 50;
const PHASES = ['load', 'model', 'store'];

export interface ResponseJobServices extends QuestHandlerServices, AnsweringServices {
  readonly catalogue: ModelCatalogue;
  readonly getCatalogue: GetCatalogue;
  /** By model id: the fallback models, in order. */
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
}

/** Makes a stored response: one call of a model, whose parts are kept and emitted as they come. */
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
      return { output: packOutput({ parts: await readParts(eventLog, id), failure: interrupted() }) };
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
        if (output.parts.length > 0) throw interrupted();
        stopwatch.phase('model');
        return await answer(services, run, output, JSON.parse(call) as GenerateRequest);
      } catch (error) {
        if (isStorageUnavailable(error) && output.parts.length === 0) throw error;
        throw output.fail(error);
      }
    },
  });
}

async function answer(
  services: ResponseJobServices,
  run: RunContext,
  output: OutputWriter,
  asked: GenerateRequest,
): Promise<QuestOutcome> {
  const { quest, operation, signal } = run;
  const { payer, requestId, model, isCapOurs } = quest.request as ResponseRequest;
  const catalogue = await services.getCatalogue(payer);
  const answering = await generateWithFallback(services, {
    candidates: candidatesFor({ catalogue, fallbacks: services.fallbacks }, model),
    requestFor: (entry) => toRequest(asked, entry, model),
    isCapNamed: isCapOurs !== true,
    pay: run.pay,
    operation,
    requestId,
    callerId: quest.ownerId,
    signal,
  });
  const { entry, money } = answering;
  run.update(toFallback(services.catalogue, model, answering));
  output.begin(entry);
  await readAnswer(answering, signal, (part) => output.add(part));
  const { finishReason } = money.meter;
  output.keep({
    usage: money.meter.read('finished').usage,
    ...(finishReason !== undefined && { finishReason }),
  });
  if (finishReason !== undefined) run.update({ stopReason: finishReason });
  return { type: 'message' };
}

function toRequest(asked: GenerateRequest, entry: CatalogueEntry, model: string): GenerateRequest {
  return entry.info.id === model ? { ...asked, model: entry.providerModel } : forStandIn(asked, entry);
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
  if (response !== undefined) await addTurn(store, quest, response);
  if (response === undefined || bytes === 0) return;
  await responses.add(id, { bytes });
  await countStorage(store, { ownerId: response.ownerId, kind: 'sessions', bytes });
}

/** Reads the parts that readers may have seen. */
async function readParts(eventLog: EventLog, id: string): Promise<ModelPart[]> {
  const parts: ModelPart[] = [];
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
