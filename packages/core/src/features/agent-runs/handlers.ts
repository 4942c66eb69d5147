import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { type BeginServices, createBeginQuest } from '../../runs/begin.ts';
import { type LiveReaderServices, replyWithEvents, toLiveView } from '../../runs/live-reader.ts';
import type { QuestEvents } from '../../runs/quest-events.ts';
import { questJob } from '../../runs/quest-job.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import type { RunningQuests } from '../../runs/running.ts';
import { createStopQuest, type StopServices } from '../../runs/stop.ts';
import { withProgress } from '../../runs/text-pieces.ts';
import { notFound } from '../../shared/errors.ts';
import { canEditSession, canReadSession } from '../sessions/access.ts';
import { SESSIONS, type SessionRecord } from '../sessions/records.ts';
import {
  cancelAgentExecution,
  getAgentExecution,
  getAgentExecutionEvents,
  startAgentExecution,
} from './contract.ts';
import { AGENT_EXECUTION } from './records.ts';
import { createPrepareExecution, type StartServices } from './start.ts';
import { getSteps } from './steps.ts';
import { toWireExecution } from './wire.ts';

const ABORTED = 'This run was cancelled.';

export interface StartExecutionServices extends PipelineServices, StartServices, BeginServices {}

export interface ExecutionServices extends PipelineServices {
  readonly store: Store;
  readonly questEvents: QuestEvents;
  readonly runningQuests: RunningQuests;
}

/** `POST /api/v1/agent-executions` */
export function createStartExecutionHandler(services: StartExecutionServices): Route {
  const prepare = createPrepareExecution(services);
  const begin = createBeginQuest(services);
  const { path } = startAgentExecution;
  return defineRoute(startAgentExecution, services, ({ body }, call) =>
    begin(
      { call, path, body },
      () => prepare(body, call),
      (id) => questJob({ id, kind: AGENT_EXECUTION, ownerId: call.caller.userId }),
    ),
  );
}

/** `GET /api/v1/agent-executions/{id}` */
export function createGetExecutionHandler(services: ExecutionServices): Route {
  const { store } = services;
  return defineRoute(getAgentExecution, services, async ({ params }, { caller }) => {
    const quest = await findExecution(store, params.id, canReadSession(caller.userId));
    return toWireExecution(quest, await getSteps(store, quest.id), caller.userId);
  });
}

/** `GET /api/v1/agent-executions/{id}/events` */
export function createExecutionEventsHandler(services: ExecutionServices & LiveReaderServices): Route {
  const { store } = services;
  return defineRoute(getAgentExecutionEvents, services, ({ params, query }, call) => {
    const { userId } = call.caller;
    return replyWithEvents(services, call, query.after, {
      stream: params.id,
      async load() {
        const found = await findExecution(store, params.id, canReadSession(userId));
        const quest = await withProgress(services, found);
        return toLiveView(quest, toWireExecution(quest, await getSteps(store, quest.id), userId));
      },
    });
  });
}

/** `POST /api/v1/agent-executions/{id}/cancel` */
export function createCancelExecutionHandler(services: ExecutionServices & StopServices): Route {
  const { store } = services;
  const stop = createStopQuest(services);
  return defineRoute(cancelAgentExecution, services, async ({ params }, { caller }) => {
    const mayCancel = canEditSession(caller.userId);
    await findExecution(store, params.id, mayCancel);
    const quest = (await stop(params.id, ABORTED)) ?? (await findExecution(store, params.id, mayCancel));
    return toWireExecution(quest, await getSteps(store, quest.id), caller.userId);
  });
}

/** Access to a run follows from its session, like every quest. */
async function findExecution(store: Store, id: string, mayUse: Filter<SessionRecord>): Promise<QuestRecord> {
  const quest = await store.collection(QUESTS).get(id);
  const session = quest && (await store.collection(SESSIONS).get(quest.sessionId, mayUse));
  if (quest?.kind !== AGENT_EXECUTION || session === undefined) throw notFound('Agent execution');
  return quest;
}
