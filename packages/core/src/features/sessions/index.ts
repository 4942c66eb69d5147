import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { applicationSessionRoutes } from './application-handlers.ts';
import {
  createCloneSessionHandler,
  createCreateSessionHandler,
  createDeleteSessionHandler,
  createGetSessionHandler,
  createListSessionsHandler,
  createUpdateSessionHandler,
} from './handlers.ts';
import { turnsInUse } from './in-use.ts';
import { linkDeletion } from './links.ts';
import { createListMessagesHandler, createListSessionMessagesHandler } from './messages-handlers.ts';
import { messageRetention } from './messages-retention.ts';
import { personalSessions } from './personal.ts';
import { createPurgeHandler } from './purge.ts';
import { MESSAGES, SESSIONS } from './records.ts';
import { sessionRetention } from './retention.ts';
import { createSearchSessionsHandler } from './semantic-search-handlers.ts';

export const sessions = {
  name: 'sessions',
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [SESSIONS, MESSAGES],
  routes: (
    services: ServicesFor<typeof createDeleteSessionHandler> &
      ServicesFor<typeof createUpdateSessionHandler> &
      ServicesFor<typeof createListMessagesHandler> &
      ServicesFor<typeof createSearchSessionsHandler>,
  ) => [
    createListSessionsHandler(services),
    createCreateSessionHandler(services),
    createCloneSessionHandler(services),
    createGetSessionHandler(services),
    createUpdateSessionHandler(services),
    createDeleteSessionHandler(services),
    createListMessagesHandler(services),
    createListSessionMessagesHandler(services),
    createSearchSessionsHandler(services),
    ...applicationSessionRoutes(services),
  ],
  retention: (services: ServicesFor<typeof sessionRetention>) => [
    sessionRetention(services),
    messageRetention(services),
  ],
  inUse: turnsInUse,
  deletion: linkDeletion,
  personal: (services: ServicesFor<typeof personalSessions>) => personalSessions(services),
  jobs: (services: ServicesFor<typeof createPurgeHandler>) => [createPurgeHandler(services)],
};
