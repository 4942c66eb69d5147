import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { createQuestEventSource } from '../../runs/event-source.ts';
import type { RunningQuests } from '../../runs/running.ts';
import { imageTools } from '../tools/builtin/image.ts';
import { imageRoutes } from './handlers.ts';
import { createImageHandlers } from './job.ts';
import { IMAGE_EDIT, IMAGE_GENERATION } from './request.ts';
import { createImageHook } from './tool.ts';

export const images = {
  name: 'images',
  eventSources: [createQuestEventSource('quest', [IMAGE_GENERATION, IMAGE_EDIT])],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  routes: (services: ServicesFor<typeof imageRoutes>) => imageRoutes(services),
  jobs: (services: ServicesFor<typeof createImageHandlers>, running: RunningQuests) =>
    createImageHandlers(services, running),
  tools: (services: ServicesFor<typeof createImageHook>) => [imageTools(createImageHook(services))],
};
