import { canRead, canWrite, sharedAs, whose } from '../../access/access.ts';
import type { LinkReader } from '../../access/links.ts';
import type { DeletionCleanup } from '../../operations/deletion.ts';
import { findPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { isUniqueViolation, type Store } from '../../ports/store.ts';
import { invalid, notFound } from '../../shared/errors.ts';
import { createProject, deleteProject, getProject, listProjects, updateProject } from './contract.ts';
import { checkMembers, hideInSessions, mergeMembers, showInSessions, updateMembers } from './members.ts';
import { PROJECTS, type ProjectRecord, toNameKey, toWireProject } from './records.ts';

export interface ProjectServices extends PipelineServices {
  readonly store: Store;
  readonly links: LinkReader;
  readonly deletion: DeletionCleanup;
}

/** All handlers of `/api/v1/projects`. */
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
    const { shared } = query;
    const { userId } = caller;
    return findPage(
      projects,
      whose(userId, shared),
      { list: listProjects.id, owner: userId, query, order: { field: 'createdAt', direction: 'asc' } },
      (row) => ({ ...toWireProject(row), ...sharedAs(row, userId, shared) }),
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
      nameKey: toNameKey(name),
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

/** `GET /api/v1/projects/{id}`. @param operation the same at another path. */
export function createGetProjectHandler(
  services: ProjectServices,
  operation: typeof getProject = getProject,
): Route {
  const projects = services.store.collection(PROJECTS);
  return defineRoute(operation, services, async ({ params }, { caller }) => {
    const project = await projects.get(params.id, canRead(caller.userId));
    if (project === undefined) throw notFound('Project');
    return toWireProject(project);
  });
}

/** `PATCH /api/v1/projects/{id}` */
export function createUpdateProjectHandler(services: ProjectServices): Route {
  const { store, clock } = services;
  const projects = store.collection(PROJECTS);
  return defineRoute(updateProject, services, async ({ params, body }, { caller }) => {
    const { userId } = caller;
    const { session_ids: sessionIds, file_ids: fileIds, name, ...fields } = body;
    const mayEdit = canWrite(userId);
    const before = await projects.get(params.id, mayEdit);
    if (before === undefined) throw notFound('Project');
    const known = new Set([...before.sessionIds, ...before.fileIds]);
    await checkMembers(services, userId, sessionIds ?? [], fileIds ?? [], known);
    const checked = [...(sessionIds ?? []), ...(fileIds ?? [])].filter((id) => !known.has(id));
    const change = {
      ...fields,
      ...(name !== undefined && { name, nameKey: toNameKey(name) }),
      updatedAt: clock.now(),
    };
    const update = async (inner: Store) => {
      const current = await inner.collection(PROJECTS).get(params.id, mayEdit);
      if (current === undefined) return undefined;
      const members = mergeMembers(current, { sessionIds, fileIds }, checked, userId);
      return updateMembers(inner, current, { ...change, ...members }, mayEdit);
    };
    const project = await store.transaction(update).catch((error: unknown) => {
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
    await services.deletion.project(params.id);
    return undefined;
  });
}

function nameTaken() {
  return invalid('name', 'you have another project with this name');
}
