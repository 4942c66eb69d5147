import { type LinkReader, mergeLinks, toIdSet } from '../../access/links.ts';
import { isId } from '../../contract/identifiers.ts';
import type { Filter, Patch, Store } from '../../ports/store.ts';
import { ApiError, invalid } from '../../shared/errors.ts';
import { canReadSession, ownsSession } from '../sessions/access.ts';
import { SESSIONS } from '../sessions/records.ts';
import { MAX_MEMBERS } from './contract.ts';
import { PROJECTS, type ProjectRecord } from './records.ts';

/**
 * Checks that the user may read every session and file that is added to a project.
 * @throws ApiError 400 for the first unreadable one, with the message for an unknown one.
 */
export async function checkMembers(
  services: { readonly store: Store; readonly links: LinkReader },
  userId: string,
  sessionIds: readonly string[],
  fileIds: readonly string[],
  /** Ids that the project has already. */
  known: ReadonlySet<string> = new Set(),
): Promise<void> {
  const toCheck = (ids: readonly string[]) => ids.filter((id) => isId(id) && !known.has(id));
  if (sessionIds.some((id) => !known.has(id))) {
    const readable = await findReadable(services, userId, 'sessionIds', toCheck(sessionIds));
    requireAll('session_ids', 'session', sessionIds, (id) => known.has(id) || readable.has(id));
  }
  if (!fileIds.some((id) => !known.has(id))) return;
  const files = await findReadable(services, userId, 'fileIds', toCheck(fileIds));
  requireAll('file_ids', 'file', fileIds, (id) => known.has(id) || files.has(id));
}

/** Returns the sessions, or the files, that the user can read. Ids are well-formed. */
export async function findReadable(
  { store, links }: { readonly store: Store; readonly links: LinkReader },
  userId: string,
  list: MemberList,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (list === 'fileIds') return links.findReadable('file', ids, userId);
  return toIdSet(await store.collection(SESSIONS).find({ id: { in: ids }, ...canReadSession(userId) }));
}

/** The lists of a project that a user wants; absent lists stay unchanged. */
export interface MemberInput {
  readonly sessionIds?: readonly string[] | undefined;
  readonly fileIds?: readonly string[] | undefined;
}

const LISTS = ['sessionIds', 'fileIds'] as const;
export type MemberList = (typeof LISTS)[number];

/**
 * The lists after a change: a user with a write share removes only what that user has added.
 * @param checked ids that the user can read.
 * @throws ApiError 422 beyond the maximum.
 */
export function mergeMembers(
  project: ProjectRecord,
  input: MemberInput,
  checked: readonly string[],
  userId: string,
): Partial<Pick<ProjectRecord, 'sessionIds' | 'fileIds' | 'linkedBy'>> {
  const isOwner = project.ownerId === userId;
  const linkedBy: Record<string, string> = { ...project.linkedBy };
  const change: { -readonly [K in MemberList]?: readonly string[] } = {};
  for (const field of LISTS) {
    const wanted = input[field];
    if (wanted === undefined) continue;
    const current = project[field];
    const mayRemove = (id: string) => isOwner || linkedBy[id] === userId;
    const merged = mergeLinks({ current, wanted, added: checked, mayRemove });
    if (merged.length > MAX_MEMBERS) {
      const name = field === 'fileIds' ? 'file_ids' : 'session_ids';
      throw invalid(name, `the project has the maximum of ${MAX_MEMBERS} with those of other users`);
    }
    const had = new Set(current);
    if (!isOwner) for (const id of merged) if (!had.has(id)) linkedBy[id] = userId;
    change[field] = merged;
  }
  const ids = new Set([...(change.sessionIds ?? project.sessionIds), ...(change.fileIds ?? project.fileIds)]);
  const entries = Object.entries(linkedBy).filter(([id]) => ids.has(id));
  return { ...change, linkedBy: entries.length === 0 ? undefined : Object.fromEntries(entries) };
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

/** Stores a change, and shows or hides the project in the sessions that it added or removed. */
export async function updateMembers(
  store: Store,
  before: ProjectRecord,
  change: Patch<ProjectRecord>,
  guard: Filter<ProjectRecord>,
): Promise<ProjectRecord | undefined> {
  const after = await store.collection(PROJECTS).update(before.id, change, guard);
  if (after === undefined) return undefined;
  const [had, has] = [new Set(before.sessionIds), new Set(after.sessionIds)];
  await showInSessions(
    store,
    after,
    after.sessionIds.filter((id) => !had.has(id)),
  );
  await hideInRemoved(
    store,
    after,
    before.sessionIds.filter((id) => !has.has(id)),
  );
  return after;
}

/** Sets the project on the owner's own sessions. Shared sessions of other users stay unchanged. */
export async function showInSessions(
  store: Store,
  project: ProjectRecord,
  added: readonly string[] = project.sessionIds,
): Promise<void> {
  const sessions = store.collection(SESSIONS);
  for (const id of added) {
    await sessions.update(id, { projectId: project.id }, ownsSession(project.ownerId));
  }
}

/** Takes the project off sessions that left it. */
async function hideInRemoved(
  store: Store,
  { id: projectId, ownerId }: ProjectRecord,
  removed: readonly string[],
): Promise<void> {
  const sessions = store.collection(SESSIONS);
  for (const id of removed) {
    await sessions.update(id, { projectId: undefined }, { ...ownsSession(ownerId), projectId });
  }
}

/** Whether the user has such a project, with room for more files. */
export async function hasRoom(
  store: Store,
  { ownerId, projectId }: { ownerId: string; projectId: string },
  files: number,
): Promise<boolean> {
  const project = isId(projectId) ? await store.collection(PROJECTS).get(projectId, { ownerId }) : undefined;
  return project !== undefined && project.fileIds.length + files <= MAX_MEMBERS;
}

/** Adds the user's files to their project, if it still exists and has room. Safe to repeat. */
export async function addFiles(
  store: Store,
  { ownerId, projectId }: { ownerId: string; projectId: string },
  fileIds: readonly string[],
): Promise<void> {
  await store.transaction(async (inner) => {
    const projects = inner.collection(PROJECTS);
    const project = await projects.get(projectId, { ownerId });
    if (project === undefined) return;
    const members = [...new Set([...project.fileIds, ...fileIds])].slice(0, MAX_MEMBERS);
    await projects.update(projectId, { fileIds: members }, { ownerId });
  });
}

/** Removes a deleted project from its sessions. */
export async function hideInSessions(store: Store, { id: projectId, ownerId }: ProjectRecord): Promise<void> {
  const sessions = store.collection(SESSIONS);
  for (const { id } of await sessions.find({ projectId, ownerId })) {
    await sessions.update(id, { projectId: undefined }, { ...ownsSession(ownerId), projectId });
  }
}

/** Removes a deleted session or file from all projects. Safe to repeat. */
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
