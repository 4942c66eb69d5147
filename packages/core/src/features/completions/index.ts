import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { createCompletionsHandler } from './handlers.ts';
import { createInferHandler } from './infer-handlers.ts';

export const completions = {
  name: 'completions',
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  routes: (
    services: ServicesFor<typeof createCompletionsHandler> & ServicesFor<typeof createInferHandler>,
  ) => [createCompletionsHandler(services), createInferHandler(services)],
};
