import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { applicationFileRoutes } from './application-handlers.ts';
import { fileEvents } from './events.ts';
import { fileRoutes } from './handlers.ts';
import { objectRoutes } from './objects-handlers.ts';
import { personalFiles } from './personal.ts';
import { createFilePurgeHandler } from './purge.ts';
import { FILE_USAGE, FILES } from './records.ts';
import { fileRetention } from './retention.ts';
import { createScanHandler } from './scan.ts';
import { TRANSFERS } from './transfers.ts';
import { createWatchHandler } from './watch.ts';

export const files = {
  name: 'files',
  eventSources: [fileEvents],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [FILES, FILE_USAGE, TRANSFERS],
  routes: (services: ServicesFor<typeof fileRoutes> & ServicesFor<typeof objectRoutes>) => [
    ...fileRoutes(services),
    ...objectRoutes(services),
    ...applicationFileRoutes(services),
  ],
  retention: (services: ServicesFor<typeof fileRetention>) => fileRetention(services),
  personal: (services: ServicesFor<typeof personalFiles>) => personalFiles(services),
  jobs: (
    services: ServicesFor<typeof createScanHandler> &
      ServicesFor<typeof createWatchHandler> &
      ServicesFor<typeof createFilePurgeHandler>,
  ) => [createScanHandler(services), createWatchHandler(services), createFilePurgeHandler(services)],
};
