import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { audioRoutes } from './handlers.ts';
import { createExpiryHandler } from './passing.ts';
import { personalUploads } from './personal.ts';
import { transcriptionRoutes } from './transcriptions-handlers.ts';
import { TRANSCRIPTION_UPLOADS } from './transcriptions-records.ts';
import { voiceRoutes } from './voices-handlers.ts';

export const audio = {
  name: 'audio',
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [TRANSCRIPTION_UPLOADS],
  routes: (
    services: ServicesFor<typeof audioRoutes> &
      ServicesFor<typeof transcriptionRoutes> &
      ServicesFor<typeof voiceRoutes>,
  ) => [...audioRoutes(services), ...transcriptionRoutes(services), ...voiceRoutes(services)],
  personal: (services: ServicesFor<typeof personalUploads>) => personalUploads(services),
  jobs: (services: ServicesFor<typeof createExpiryHandler>) => [createExpiryHandler(services)],
};
