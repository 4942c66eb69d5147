import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import type { RunningQuests } from '../../runs/running.ts';
import { personalGenerations } from './cancellation.ts';
import { generationEvents } from './events.ts';
import { generationRoutes } from './handlers.ts';
import { createGenerationHandlers } from './job.ts';
import { createGenerationMaintenance } from './maintenance.ts';
import { generationRetention } from './retention.ts';
import { GENERATIONS } from './stored.ts';

export const mediaJobs = {
  name: 'media-jobs',
  eventSources: [generationEvents],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [GENERATIONS],
  routes: (services: ServicesFor<typeof generationRoutes>) => generationRoutes(services),
  retention: (services: ServicesFor<typeof generationRetention>) => generationRetention(services),
  personal: (services: ServicesFor<typeof personalGenerations>) => personalGenerations(services),
  jobs: (services: ServicesFor<typeof createGenerationHandlers>, running: RunningQuests) =>
    createGenerationHandlers(services, running),
  periodicTasks: (services: ServicesFor<typeof createGenerationMaintenance>) => [
    createGenerationMaintenance(services),
  ],
};
