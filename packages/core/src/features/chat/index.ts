import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { createQuestEventSource } from '../../runs/event-source.ts';
import type { RunningQuests } from '../../runs/running.ts';
import { createChatHandler } from './handlers.ts';
import { CHAT, createTurnHandler } from './job.ts';
import { questRetention } from './quest-retention.ts';
import { createResumeUiChatHandler, createStopUiChatHandler } from './ui-handlers.ts';
import { createListUiMessagesHandler } from './ui-messages.ts';

export const chat = {
  name: 'chat',
  eventSources: [createQuestEventSource('quest', [CHAT])],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  routes: (
    services: ServicesFor<typeof createChatHandler> & ServicesFor<typeof createListUiMessagesHandler>,
  ) => [
    createChatHandler(services),
    createResumeUiChatHandler(services),
    createStopUiChatHandler(services),
    createListUiMessagesHandler(services),
  ],
  retention: (services: ServicesFor<typeof questRetention>) => questRetention(services),
  jobs: (services: ServicesFor<typeof createTurnHandler>, running: RunningQuests) => [
    createTurnHandler(services, running),
  ],
};
