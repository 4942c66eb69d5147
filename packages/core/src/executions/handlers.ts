import { notFound } from '../errors.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { Filter, Store } from '../ports/store.ts';
import { type BeginServices, createBeginQuest } from '../quests/begin.ts';
import { questJob } from '../quests/handler.ts';
import type { QuestNotices } from '../quests/notices.ts';
import { QUESTS, type QuestRecord } from '../quests/records.ts';
import { stopQuest } from '../quests/transitions.ts';
import { defineRoute, type Route } from '../route.ts';
import { canEditSession, canReadSession } from '../sessions/access.ts';
import { SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { cancelAgentExecution, getAgentExecution, startAgentExecution } from './contract.ts';
import { AGENT_EXECUTION } from './records.ts';
import { createPrepareExecution, type StartServices } from './start.ts';
import { stepsOf } from './steps.ts';
import { toWireExecution } from './wire.ts';

const ABORTED = 'This run was cancelled.';

export interface StartExecutionServices extends PipelineServices, StartServices, BeginServices {}

export interface ExecutionServices extends PipelineServices {
  readonly store: Store;
  readonly notices: QuestNotices;
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
      (id) => questJob({ id, kind: AGENT_EXECUTION }),
    ),
  );
}

/** `GET /api/v1/agent-executions/{id}` */
export function createGetExecutionHandler(services: ExecutionServices): Route {
  const { store } = services;
  return defineRoute(getAgentExecution, services, async ({ params }, { caller }) => {
    const quest = await findExecution(store, params.id, canReadSession(caller.userId));
    return toWireExecution(quest, await stepsOf(store, quest.id));
  });
}

/** `POST /api/v1/agent-executions/{id}/cancel` */
export function createCancelExecutionHandler(services: ExecutionServices): Route {
  const { store, clock, notices } = services;
  const quests = store.collection(QUESTS);
  return defineRoute(cancelAgentExecution, services, async ({ params }, { caller }) => {
    const mayCancel = canEditSession(caller.userId);
    await findExecution(store, params.id, mayCancel);
    const stopped = await stopQuest(quests, params.id, ABORTED, clock.now());
    if (stopped !== undefined) notices.stopped(stopped.id);
    const quest = stopped ?? (await findExecution(store, params.id, mayCancel));
    return toWireExecution(quest, await stepsOf(store, quest.id));
  });
}

/** A run is its session's, like every quest. */
async function findExecution(store: Store, id: string, mayUse: Filter<SessionRecord>): Promise<QuestRecord> {
  const quest = await store.collection(QUESTS).get(id);
  const session = quest && (await store.collection(SESSIONS).get(quest.sessionId, mayUse));
  if (quest?.kind !== AGENT_EXECUTION || session === undefined) throw notFound('Agent execution');
  return quest;
}
