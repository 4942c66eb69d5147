import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { createLogEventHandler } from './handlers.ts';
import { ANALYTICS_EVENTS } from './records.ts';
import { analyticsRetention } from './retention.ts';

export const analytics = {
  name: 'analytics',
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [ANALYTICS_EVENTS],
  retention: (services: ServicesFor<typeof analyticsRetention>) => analyticsRetention(services),
  routes: (services: ServicesFor<typeof createLogEventHandler>) => [createLogEventHandler(services)],
};
