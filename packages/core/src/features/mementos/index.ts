import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import type { RunningQuests } from '../../runs/running.ts';
import { mementoRoutes } from './handlers.ts';
import { createMementosHandler, rememberAfterwards } from './job.ts';
import { recalledMementos } from './recall.ts';
import { MEMENTOS } from './records.ts';

export const mementos = {
  name: 'mementos',
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [MEMENTOS],
  routes: (services: ServicesFor<typeof mementoRoutes>) => mementoRoutes(services),
  jobs: (services: ServicesFor<typeof createMementosHandler>, running: RunningQuests) => [
    createMementosHandler(services, running),
  ],
  promptSources: (services: ServicesFor<typeof recalledMementos>) => [recalledMementos(services)],
  followUps: (services: ServicesFor<typeof rememberAfterwards>) => [rememberAfterwards(services)],
};
