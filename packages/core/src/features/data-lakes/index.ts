import type { DeletionHooks } from '../../operations/deletion.ts';
import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { leaveOrganization } from './access.ts';
import { createAttachedReader } from './attached.ts';
import { dataLakeRoutes } from './handlers.ts';
import { createIngestionHandler } from './ingestion.ts';
import { sessionKnowledge } from './knowledge.ts';
import { knowledgeTools } from './knowledge-tool.ts';
import { personalLakes } from './personal.ts';
import { createForgetFileHandler, createLakePurgeHandler } from './purge.ts';
import { LAKE_FILES, LAKES } from './records.ts';
import { removeFromLakes } from './remove-file.ts';
import type { KnowledgeServices } from './sources.ts';
import { createLakeSweep } from './sweep.ts';

const deletion: DeletionHooks = { file: removeFromLakes, organization: leaveOrganization };

export const dataLakes = {
  name: 'data-lakes',
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [LAKES, LAKE_FILES],
  routes: (services: ServicesFor<typeof dataLakeRoutes>) => dataLakeRoutes(services),
  jobs: (
    services: ServicesFor<typeof createIngestionHandler> &
      ServicesFor<typeof createForgetFileHandler> &
      ServicesFor<typeof createLakePurgeHandler>,
  ) => [
    createIngestionHandler(services),
    createForgetFileHandler(services),
    createLakePurgeHandler(services),
  ],
  periodicTasks: (services: ServicesFor<typeof createLakeSweep>) => [createLakeSweep(services)],
  deletion,
  personal: (services: ServicesFor<typeof personalLakes>) => personalLakes(services),
  tools: (services: KnowledgeServices) => [knowledgeTools(services)],
  promptSources: (services: KnowledgeServices & ServicesFor<typeof createAttachedReader>) => [
    sessionKnowledge(services, createAttachedReader(services)),
  ],
};
