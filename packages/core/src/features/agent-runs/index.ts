import type { DeletionHooks } from '../../operations/deletion.ts';
import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { removeAll } from '../../ports/remove-where.ts';
import { writesTo } from '../../ports/write-all.ts';
import { createQuestEventSource } from '../../runs/event-source.ts';
import type { RunningQuests } from '../../runs/running.ts';
import {
  createCancelExecutionHandler,
  createExecutionEventsHandler,
  createGetExecutionHandler,
  createStartExecutionHandler,
} from './handlers.ts';
import { createExecutionHandler } from './job.ts';
import { personalRuns } from './personal.ts';
import { AGENT_EXECUTION, EXECUTION_SLOTS, STEPS } from './records.ts';

/** Maximum number of steps that one write deletes. */
const MAX_STEPS = 500;

const deletion: DeletionHooks = {
  quests: async ({ store }, ids) =>
    void (await removeAll(store.collection(STEPS), { executionId: { in: ids } })),
  session: async ({ store }, id) => void (await removeAll(store.collection(STEPS), { sessionId: id })),
  toSessionWrites: (sessionId) => [writesTo(STEPS).removeWhere({ sessionId }, MAX_STEPS)],
};

export const agentRuns = {
  name: 'agent-runs',
  eventSources: [createQuestEventSource('execution', [AGENT_EXECUTION])],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [STEPS, EXECUTION_SLOTS],
  routes: (
    services: ServicesFor<typeof createStartExecutionHandler> &
      ServicesFor<typeof createGetExecutionHandler> &
      ServicesFor<typeof createCancelExecutionHandler> &
      ServicesFor<typeof createExecutionEventsHandler>,
  ) => [
    createStartExecutionHandler(services),
    createGetExecutionHandler(services),
    createCancelExecutionHandler(services),
    createExecutionEventsHandler(services),
  ],
  jobs: (services: ServicesFor<typeof createExecutionHandler>, running: RunningQuests) => [
    createExecutionHandler(services, running),
  ],
  personal: (services: ServicesFor<typeof personalRuns>) => personalRuns(services),
  deletion,
};
