import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { createEmbeddingsHandler } from './handlers.ts';

export const embeddings = {
  name: 'embeddings',
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  routes: (services: ServicesFor<typeof createEmbeddingsHandler>) => [createEmbeddingsHandler(services)],
};
