import { canWrite } from '../../access/access.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Store } from '../../ports/store.ts';
import { forbidden, notFound } from '../../shared/errors.ts';
import type { WireProject } from './contract.ts';
import type { ProjectServices } from './handlers.ts';
import {
  addProjectFile,
  addProjectSession,
  removeProjectFile,
  removeProjectSession,
} from './member-contract.ts';
import { findReadable, type MemberList, mergeMembers, updateMembers } from './members.ts';
import { PROJECTS, type ProjectRecord, toWireProject } from './records.ts';

interface MemberChange {
  readonly userId: string;
  readonly projectId: string;
  readonly field: MemberList;
  readonly id: string;
}

const NAMES: Readonly<Record<MemberList, string>> = { sessionIds: 'Session', fileIds: 'File' };

/** `POST` and `DELETE` of one session or file of a project. */
export function projectMemberRoutes(services: ProjectServices): Route[] {
  return [
    defineRoute(addProjectSession, services, ({ params }, { caller }) =>
      add(services, {
        userId: caller.userId,
        projectId: params.id,
        field: 'sessionIds',
        id: params.session_id,
      }),
    ),
    defineRoute(removeProjectSession, services, ({ params }, { caller }) =>
      remove(services, {
        userId: caller.userId,
        projectId: params.id,
        field: 'sessionIds',
        id: params.session_id,
      }),
    ),
    defineRoute(addProjectFile, services, ({ params }, { caller }) =>
      add(services, { userId: caller.userId, projectId: params.id, field: 'fileIds', id: params.file_id }),
    ),
    defineRoute(removeProjectFile, services, ({ params }, { caller }) =>
      remove(services, { userId: caller.userId, projectId: params.id, field: 'fileIds', id: params.file_id }),
    ),
  ];
}

async function add(services: ProjectServices, change: MemberChange): Promise<WireProject> {
  const { userId, field, id } = change;
  const before = await services.store.collection(PROJECTS).get(change.projectId, canWrite(userId));
  if (before === undefined) throw notFound('Project');
  const isKnown = before[field].includes(id);
  if (!isKnown && !(await findReadable(services, userId, field, [id])).has(id)) throw notFound(NAMES[field]);
  return update(services, change, (project) =>
    project[field].includes(id) ? undefined : [...project[field], id],
  );
}

async function remove(services: ProjectServices, change: MemberChange): Promise<WireProject> {
  const { userId, field, id } = change;
  return update(services, change, (project) => {
    if (!project[field].includes(id)) throw notFound(NAMES[field]);
    if (project.ownerId !== userId && project.linkedBy?.[id] !== userId) {
      throw forbidden('Only the owner of the project, or the user who added this, may remove it');
    }
    return project[field].filter((member) => member !== id);
  });
}

/** @param toList the new list. Undefined: the project does not change. */
async function update(
  { store, clock }: ProjectServices,
  { userId, projectId, field, id }: MemberChange,
  toList: (project: ProjectRecord) => readonly string[] | undefined,
): Promise<WireProject> {
  const project = await store.transaction(async (inner: Store) => {
    const current = await inner.collection(PROJECTS).get(projectId, canWrite(userId));
    const list = current && toList(current);
    if (current === undefined || list === undefined) return current;
    const members = mergeMembers(current, { [field]: list }, [id], userId);
    return updateMembers(inner, current, { ...members, updatedAt: clock.now() }, canWrite(userId));
  });
  if (project === undefined) throw notFound('Project');
  return toWireProject(project);
}
