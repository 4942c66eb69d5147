import { unlinkArtifacts } from '../artifacts/artifacts.ts';
import { invalid, notFound } from '../errors.ts';
import { decodeCursor, encodeCursor, pageOf } from '../http/cursor.ts';
import type { PipelineServices } from '../pipeline.ts';
import { isUniqueViolation, type Store } from '../ports/store.ts';
import { defineRoute, type Route } from '../route.ts';
import type { LinkReader } from '../sessions/links.ts';
import { createProject, deleteProject, getProject, listProjects, updateProject } from './contract.ts';
import { checkMembers, hideInSessions, showInSessions } from './members.ts';
import { nameKeyOf, PROJECTS, type ProjectRecord, toWireProject } from './records.ts';

export interface ProjectServices extends PipelineServices {
  readonly store: Store;
  readonly links: LinkReader;
}

/** All of `/api/v1/projects`. */
export function projectRoutes(services: ProjectServices): Route[] {
  return [
    createListProjectsHandler(services),
    createCreateProjectHandler(services),
    createGetProjectHandler(services),
    createUpdateProjectHandler(services),
    createDeleteProjectHandler(services),
  ];
}

/** `GET /api/v1/projects` */
export function createListProjectsHandler(services: ProjectServices): Route {
  const projects = services.store.collection(PROJECTS);
  return defineRoute(listProjects, services, async ({ query }, { caller }) => {
    const { limit, cursor } = query;
    const ownerId = caller.userId;
    const after = decodeCursor(listProjects.id, ownerId, cursor);
    const rows = await projects.find(
      { ownerId },
      {
        order: { field: 'createdAt', direction: 'asc' },
        limit: limit + 1,
        ...(after !== undefined && { after }),
      },
    );
    return pageOf(rows, limit, toWireProject, ({ id, createdAt }) =>
      encodeCursor(listProjects.id, ownerId, { value: createdAt, id }),
    );
  });
}

/** `POST /api/v1/projects` */
export function createCreateProjectHandler(services: ProjectServices): Route {
  const { store, clock, ids } = services;
  return defineRoute(createProject, services, async ({ body }, { caller }) => {
    const { name, description } = body;
    const sessionIds = [...new Set(body.session_ids)];
    const fileIds = [...new Set(body.file_ids)];
    await checkMembers(services, caller.userId, sessionIds, fileIds);
    const now = clock.now();
    const project: ProjectRecord = {
      id: ids.next(),
      ownerId: caller.userId,
      name,
      nameKey: nameKeyOf(name),
      description,
      sessionIds,
      fileIds,
      createdAt: now,
      updatedAt: now,
    };
    await store.transaction(async (inner) => {
      if (!(await inner.collection(PROJECTS).insert(project))) throw nameTaken();
      await showInSessions(inner, project);
    });
    return toWireProject(project);
  });
}

/** `GET /api/v1/projects/{id}` */
export function createGetProjectHandler(services: ProjectServices): Route {
  const projects = services.store.collection(PROJECTS);
  return defineRoute(getProject, services, async ({ params }, { caller }) => {
    const project = await projects.get(params.id, { ownerId: caller.userId });
    if (project === undefined) throw notFound('Project');
    return toWireProject(project);
  });
}

/** `PATCH /api/v1/projects/{id}` */
export function createUpdateProjectHandler(services: ProjectServices): Route {
  const projects = services.store.collection(PROJECTS);
  return defineRoute(updateProject, services, async ({ params, body }, { caller }) => {
    const { name } = body;
    const change = {
      ...body,
      ...(name !== undefined && { nameKey: nameKeyOf(name) }),
      updatedAt: services.clock.now(),
    };
    const project = await projects
      .update(params.id, change, { ownerId: caller.userId })
      .catch((error: unknown) => {
        throw isUniqueViolation(error) ? nameTaken() : error;
      });
    if (project === undefined) throw notFound('Project');
    return toWireProject(project);
  });
}

/** `DELETE /api/v1/projects/{id}` */
export function createDeleteProjectHandler(services: ProjectServices): Route {
  const { store } = services;
  return defineRoute(deleteProject, services, async ({ params }, { caller }) => {
    await store.transaction(async (inner) => {
      const project = await inner.collection(PROJECTS).take(params.id, { ownerId: caller.userId });
      if (project === undefined) throw notFound('Project');
      await hideInSessions(inner, project);
    });
    await unlinkArtifacts(store, 'projectId', params.id);
    return undefined;
  });
}

function nameTaken() {
  return invalid('name', 'you have a project of this name already');
}
