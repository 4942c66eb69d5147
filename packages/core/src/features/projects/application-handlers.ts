import { getRange, toBracketPage } from '../../contract/bracket-pages.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { getApplicationProject, listApplicationProjects } from './application-contract.ts';
import { createGetProjectHandler, type ProjectServices } from './handlers.ts';
import { PROJECTS, toWireProject } from './records.ts';

/** Paths of older clients. */
export function applicationProjectRoutes(services: ProjectServices): Route[] {
  return [
    createListApplicationProjectsHandler(services),
    createGetProjectHandler(services, getApplicationProject),
  ];
}

/** `GET /api/projects` */
function createListApplicationProjectsHandler(services: ProjectServices): Route {
  const projects = services.store.collection(PROJECTS);
  return defineRoute(listApplicationProjects, services, async ({ query }, { caller }) => {
    const { search = '' } = query;
    const rows = await projects.find(
      { ownerId: caller.userId, ...(search !== '' && { name: { contains: search } }) },
      { order: { field: 'createdAt', direction: 'asc' }, ...getRange(query) },
    );
    return toBracketPage(rows, query, toWireProject);
  });
}
