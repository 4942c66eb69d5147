import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { createHealthHandler, createPingHandler } from './handlers.ts';

export const health = {
  name: 'health',
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  routes: (services: ServicesFor<typeof createPingHandler> & ServicesFor<typeof createHealthHandler>) => [
    createPingHandler(services),
    createHealthHandler(services),
  ],
};
