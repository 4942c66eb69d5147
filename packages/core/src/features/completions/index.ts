import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { createCompletionsHandler } from './handlers.ts';
import { createInferHandler } from './infer-handlers.ts';
import { storedResponses } from './responses/index.ts';
import { createCompletionEventsHandler } from './stored/handlers.ts';
import { createStoredSweep } from './stored/interrupted.ts';
import { STORED_COMPLETIONS } from './stored/records.ts';

export const completions = {
  ...storedResponses,
  name: 'completions',
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  routes: (
    services: ServicesFor<typeof createCompletionsHandler> &
      ServicesFor<typeof createInferHandler> &
      ServicesFor<typeof createCompletionEventsHandler>,
  ) => [
    createCompletionsHandler(services),
    createInferHandler(services),
    createCompletionEventsHandler(services),
  ],
  collections: [...storedResponses.collections, STORED_COMPLETIONS],
  periodicTasks: (services: ServicesFor<typeof createStoredSweep>) => [createStoredSweep(services)],
};
