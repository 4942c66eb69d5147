import type { DeletionHooks } from '../../operations/deletion.ts';
import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { writesTo } from '../../ports/write-all.ts';
import { applicationProjectRoutes } from './application-handlers.ts';
import { projectRoutes } from './handlers.ts';
import { projectMemberRoutes } from './member-handlers.ts';
import { removeFromProjects } from './members.ts';
import { personalProjects } from './personal.ts';
import { PROJECTS } from './records.ts';

const deletion: DeletionHooks = {
  session: ({ store }, id) => removeFromProjects(store, 'sessionIds', id),
  toSessionWrites: (id) => [writesTo(PROJECTS).removeWhere({ sessionIds: { has: id } }, 0)],
  file: ({ store }, id) => removeFromProjects(store, 'fileIds', id),
};

export const projects = {
  name: 'projects',
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [PROJECTS],
  routes: (services: ServicesFor<typeof projectRoutes>) => [
    ...projectRoutes(services),
    ...projectMemberRoutes(services),
    ...applicationProjectRoutes(services),
  ],
  personal: (services: ServicesFor<typeof personalProjects>) => personalProjects(services),
  deletion,
};
