import { ApiError } from '../errors.ts';
import { isId } from '../http/identifiers.ts';
import type { Store } from '../ports/store.ts';
import { canReadSession, ownsSession } from '../sessions/access.ts';
import type { LinkReader } from '../sessions/links.ts';
import { SESSIONS } from '../sessions/records.ts';
import { MOST_MEMBERS } from './contract.ts';
import { PROJECTS, type ProjectRecord } from './records.ts';

/** Files are asked about one by one; so many at a time. */
const AT_ONCE = 20;

/**
 * Whether the user may read everything that is to go into a project.
 * @throws ApiError 400 for the first that they may not, worded like an unknown one.
 */
export async function checkMembers(
  services: { readonly store: Store; readonly links: LinkReader },
  userId: string,
  sessionIds: readonly string[],
  fileIds: readonly string[],
): Promise<void> {
  const ids = sessionIds.filter(isId);
  const found = await services.store
    .collection(SESSIONS)
    .find({ id: { in: ids }, ...canReadSession(userId) }, { limit: 1000 });
  const readable = new Set(found.map(({ id }) => id));
  requireAll('session_ids', 'session', sessionIds, (id) => readable.has(id));

  const files = new Set<string>();
  for (let at = 0; at < fileIds.length; at += AT_ONCE) {
    await Promise.all(
      fileIds.slice(at, at + AT_ONCE).map(async (id) => {
        if (isId(id) && (await services.links.isReadable('file', id, userId))) files.add(id);
      }),
    );
  }
  requireAll('file_ids', 'file', fileIds, (id) => files.has(id));
}

function requireAll(
  field: string,
  what: string,
  ids: readonly string[],
  isReadable: (id: string) => boolean,
): void {
  const at = ids.findIndex((id) => !isReadable(id));
  if (at >= 0) throw new ApiError(400, `${field}.${at}: ${what} not found`);
}

/** Has the owner's own sessions show the project. Sessions of others, which they share, stay as they are. */
export async function showInSessions(store: Store, project: ProjectRecord): Promise<void> {
  const sessions = store.collection(SESSIONS);
  for (const id of project.sessionIds) {
    await sessions.update(id, { projectId: project.id }, ownsSession(project.ownerId));
  }
}

/** Whether the user has such a project, and so many files more find room in it. */
export async function hasRoom(
  store: Store,
  { ownerId, projectId }: { ownerId: string; projectId: string },
  files: number,
): Promise<boolean> {
  const project = isId(projectId) ? await store.collection(PROJECTS).get(projectId, { ownerId }) : undefined;
  return project !== undefined && project.fileIds.length + files <= MOST_MEMBERS;
}

/** Puts files of the user's into their project, as far as it is still there and has room. May be repeated. */
export async function addFiles(
  store: Store,
  { ownerId, projectId }: { ownerId: string; projectId: string },
  fileIds: readonly string[],
): Promise<void> {
  await store.transaction(async (inner) => {
    const projects = inner.collection(PROJECTS);
    const project = await projects.get(projectId, { ownerId });
    if (project === undefined) return;
    const members = [...new Set([...project.fileIds, ...fileIds])].slice(0, MOST_MEMBERS);
    await projects.update(projectId, { fileIds: members }, { ownerId });
  });
}

/** The project is gone: no session shows it any more. */
export async function hideInSessions(store: Store, { id: projectId, ownerId }: ProjectRecord): Promise<void> {
  const sessions = store.collection(SESSIONS);
  for (const { id } of await sessions.find({ projectId, ownerId })) {
    await sessions.update(id, { projectId: undefined }, { ...ownsSession(ownerId), projectId });
  }
}

/** A session or file is gone: no project lists it any more. May be repeated. */
export async function removeFromProjects(
  store: Store,
  field: 'sessionIds' | 'fileIds',
  memberId: string,
): Promise<void> {
  for (const { id } of await store.collection(PROJECTS).find({ [field]: { has: memberId } })) {
    await store.transaction(async (inner) => {
      const projects = inner.collection(PROJECTS);
      const project = await projects.get(id);
      if (project === undefined) return;
      await projects.update(id, { [field]: project[field].filter((member) => member !== memberId) });
    });
  }
}
