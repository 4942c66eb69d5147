import type { DeletionHooks } from '../../operations/deletion.ts';
import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { writesTo } from '../../ports/write-all.ts';
import { applicationArtifactRoutes } from './application-handlers.ts';
import { unlinkArtifacts } from './artifacts.ts';
import { artifactRoutes } from './handlers.ts';
import { personalArtifacts } from './personal.ts';
import { ARTIFACT_VERSIONS, ARTIFACTS } from './records.ts';
import { artifactTools } from './tool.ts';

const deletion: DeletionHooks = {
  session: ({ store }, id) => unlinkArtifacts(store, 'sessionId', id),
  toSessionWrites: (sessionId) => [writesTo(ARTIFACTS).removeWhere({ sessionId }, 0)],
  project: ({ store }, id) => unlinkArtifacts(store, 'projectId', id),
};

export const artifacts = {
  name: 'artifacts',
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [ARTIFACTS, ARTIFACT_VERSIONS],
  routes: (services: ServicesFor<typeof artifactRoutes>) => [
    ...artifactRoutes(services),
    ...applicationArtifactRoutes(services),
  ],
  personal: (services: ServicesFor<typeof personalArtifacts>) => personalArtifacts(services),
  deletion,
  tools: (services: ServicesFor<typeof artifactTools>) => [artifactTools(services)],
};
