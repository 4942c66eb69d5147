import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { getApplicationQuest } from './application-contract.ts';
import { createCancelQuestHandler, createGetQuestHandler, createQuestPoller } from './handlers.ts';
import { personalQuests } from './personal.ts';

export const quests = {
  name: 'quests',
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  routes: (
    services: ServicesFor<typeof createQuestPoller> & ServicesFor<typeof createCancelQuestHandler>,
  ) => [
    createQuestPoller(services),
    createCancelQuestHandler(services),
    createGetQuestHandler(services, getApplicationQuest),
  ],
  personal: (services: ServicesFor<typeof personalQuests>) => personalQuests(services),
};
