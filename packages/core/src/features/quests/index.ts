import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { getApplicationQuest } from './application-contract.ts';
import { createDecideQuestHandler } from './decisions.ts';
import {
  createCancelQuestHandler,
  createGetQuestHandler,
  createQuestEventsHandler,
  createQuestPoller,
} from './handlers.ts';
import { MCP_TASKS } from './mcp-tasks.ts';
import { personalQuests } from './personal.ts';

export const quests = {
  name: 'quests',
  collections: [MCP_TASKS],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  routes: (
    services: ServicesFor<typeof createQuestPoller> &
      ServicesFor<typeof createCancelQuestHandler> &
      ServicesFor<typeof createQuestEventsHandler> &
      ServicesFor<typeof createDecideQuestHandler>,
  ) => [
    createQuestPoller(services),
    createCancelQuestHandler(services),
    createDecideQuestHandler(services),
    createGetQuestHandler(services, getApplicationQuest),
    createQuestEventsHandler(services),
  ],
  personal: (services: ServicesFor<typeof personalQuests>) => personalQuests(services),
};
