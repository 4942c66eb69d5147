import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { apiKeyAudit } from './audit.ts';
import { apiKeyEvents } from './events.ts';
import {
  createChangeApiKeyRateLimitHandler,
  createCreateApiKeyHandler,
  createGetApiKeyHandler,
  createListApiKeysHandler,
  createRevokeApiKeyHandler,
  createRotateApiKeyHandler,
} from './handlers.ts';

export const apiKeys = {
  name: 'api-keys',
  eventSources: [apiKeyEvents],
  auditSources: [apiKeyAudit],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  routes: (
    services: ServicesFor<typeof createCreateApiKeyHandler> &
      ServicesFor<typeof createListApiKeysHandler> &
      ServicesFor<typeof createRotateApiKeyHandler> &
      ServicesFor<typeof createRevokeApiKeyHandler> &
      ServicesFor<typeof createChangeApiKeyRateLimitHandler>,
  ) => [
    createListApiKeysHandler(services),
    createGetApiKeyHandler(services),
    createCreateApiKeyHandler(services),
    createRotateApiKeyHandler(services),
    createRevokeApiKeyHandler(services),
    createChangeApiKeyRateLimitHandler(services),
  ],
};
