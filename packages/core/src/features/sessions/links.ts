import {
  checkLinks,
  type LinkedIds,
  type LinkKind,
  type LinkReader,
  mergeLinks,
  toLinks,
} from '../../access/links.ts';
import { isId } from '../../contract/identifiers.ts';
import type { DeletionHooks } from '../../operations/deletion.ts';
import type { Store } from '../../ports/store.ts';
import { forbidden, invalid } from '../../shared/errors.ts';
import { MAX_SESSION_AGENTS, MAX_SESSION_LINKS, SESSIONS, type SessionRecord } from './records.ts';

/** The lists of links, with the kind of their ids and the maximum length. */
const LISTS = [
  { field: 'knowledgeIds', kind: 'file', most: MAX_SESSION_LINKS },
  { field: 'artifactIds', kind: 'artifact', most: MAX_SESSION_LINKS },
  { field: 'agentIds', kind: 'agent', most: MAX_SESSION_AGENTS },
] as const;

type ListField = (typeof LISTS)[number]['field'];

/** Maximum ids whose existence is checked; lists from before the maximum existed can be longer. */
const MAX_CHECKED = 1000;
const BATCH = 200;
const MAX_DROPPED = 100;

/** A change of links that was checked for its user. */
export interface LinkChange {
  /** The change of the lists and the data lake after a concurrent change; to be stored together with it. */
  applyTo(session: SessionRecord): Partial<Pick<SessionRecord, ListField | 'dataLakeId' | 'linkedBy'>>;
}

/**
 * Checks the links that are new to a session; the others need no access, as they stay.
 * @throws ApiError 404 for a new link that the user cannot read, 403 for the data lake of another user.
 */
export async function checkLinkChange(
  links: LinkReader,
  userId: string,
  before: SessionRecord,
  wanted: LinkedIds,
): Promise<LinkChange> {
  const had = toLinks(before);
  const added: Record<ListField, readonly string[]> = { knowledgeIds: [], artifactIds: [], agentIds: [] };
  for (const { field, kind } of LISTS) {
    const known = new Set([...had[kind], ...(before.droppedLinks ?? [])]);
    added[field] = (wanted[field] ?? []).filter((id) => !known.has(id));
  }
  const dead = new Set([...(before.droppedLinks ?? []), ...(await findDeleted(links, before))]);
  const lake =
    typeof wanted.dataLakeId === 'string' && dead.has(wanted.dataLakeId) ? null : wanted.dataLakeId;
  const newLake = typeof lake === 'string' && lake !== before.dataLakeId ? lake : undefined;
  await checkLinks(links, userId, { ...added, dataLakeId: newLake });

  return {
    applyTo(session) {
      const isOwner = session.ownerId === userId;
      const mayRemove = (id: string) => mayRemoveLink(session, userId, id);
      const linkedBy: Record<string, string> = { ...session.linkedBy };
      const change: { -readonly [K in ListField]?: readonly string[] } = {};
      for (const { field, most } of LISTS) {
        const list = wanted[field];
        if (list === undefined) continue;
        const current = (session[field] ?? []).filter((id) => !dead.has(id));
        const merged = mergeLinks({ current, wanted: list, added: added[field], mayRemove });
        change[field] = merged;
        if (merged.length > most) {
          throw invalid(field, `the session has the maximum of ${most} with the links of other users`);
        }
        if (!isOwner) for (const id of added[field]) linkedBy[id] = userId;
      }
      const lakeChange = applyLake(session, lake, userId, dead);
      if (!isOwner && newLake !== undefined) linkedBy[newLake] = userId;
      const after = { ...change, ...lakeChange };
      return { ...after, ...pruned(linkedBy, { ...session, ...after }) };
    },
  };
}

/** @throws ApiError 403 */
function applyLake(
  { ownerId, dataLakeId, linkedBy = {} }: SessionRecord,
  wanted: string | null | undefined,
  userId: string,
  dead: ReadonlySet<string>,
): Pick<SessionRecord, 'dataLakeId'> {
  if (wanted === undefined || wanted === (dataLakeId ?? null)) return {};
  const isKept = dataLakeId !== undefined && !dead.has(dataLakeId);
  if (isKept && ownerId !== userId && linkedBy[dataLakeId] !== userId) {
    throw forbidden('The data lake of this session was chosen by another user');
  }
  return { dataLakeId: wanted ?? undefined };
}

/** Stores the user who adds a link, unless that is the owner. */
export function addedBy(
  { ownerId, linkedBy }: SessionRecord,
  userId: string,
  id: string,
): Pick<SessionRecord, 'linkedBy'> {
  return ownerId === userId ? {} : { linkedBy: { ...linkedBy, [id]: userId } };
}

/** Whether a user may remove a link: the owner of the session any, others those that they have added. */
export function mayRemoveLink({ ownerId, linkedBy }: SessionRecord, userId: string, id: string): boolean {
  return ownerId === userId || linkedBy?.[id] === userId;
}

/** Forgets who added a link that is removed. */
export function withoutLinkedBy(
  { linkedBy = {} }: SessionRecord,
  id: string,
): Pick<SessionRecord, 'linkedBy'> {
  if (!Object.hasOwn(linkedBy, id)) return {};
  const entries = Object.entries(linkedBy).filter(([linked]) => linked !== id);
  return { linkedBy: entries.length === 0 ? undefined : Object.fromEntries(entries) };
}

/** Remembers the id of a deleted record that leaves a list. */
export function dropped(
  { droppedLinks = [] }: SessionRecord,
  id: string,
): Pick<SessionRecord, 'droppedLinks'> {
  return { droppedLinks: [...droppedLinks, id].slice(-MAX_DROPPED) };
}

/** Users are stored only for links that exist. */
function pruned(linkedBy: Readonly<Record<string, string>>, session: SessionRecord) {
  const ids = new Set(Object.values(toLinks(session)).flat());
  const entries = Object.entries(linkedBy).filter(([id]) => ids.has(id));
  if (entries.length === 0 && session.linkedBy === undefined) return {};
  return { linkedBy: entries.length === 0 ? undefined : Object.fromEntries(entries) };
}

/** The session without links to deleted records: a clean-up that has not run yet, or ended with its process. */
export async function withoutDeleted(links: LinkReader, session: SessionRecord): Promise<SessionRecord> {
  const dead = await findDeleted(links, session);
  if (dead.size === 0) return session;
  const left = (ids: readonly string[] | undefined) => ids?.filter((id) => !dead.has(id));
  return {
    ...session,
    knowledgeIds: left(session.knowledgeIds),
    artifactIds: left(session.artifactIds),
    agentIds: left(session.agentIds),
    dataLakeId: left(session.dataLakeId === undefined ? [] : [session.dataLakeId])?.[0],
  };
}

async function findDeleted(links: LinkReader, session: SessionRecord): Promise<ReadonlySet<string>> {
  const kinds = Object.entries(toLinks(session)) as [LinkKind, readonly string[]][];
  const dead = await Promise.all(
    kinds.map(async ([kind, ids]) => {
      const checked = ids.slice(0, MAX_CHECKED);
      if (checked.length === 0) return [];
      const existing = await links.findExisting(kind, checked.filter(isId));
      return checked.filter((id) => !existing.has(id));
    }),
  );
  return new Set(dead.flat());
}

/** Removes deleted records from the sessions that link them. */
export const linkDeletion: DeletionHooks = {
  file: ({ store }, id) => unlink(store, 'knowledgeIds', id),
  artifact: ({ store }, id) => unlink(store, 'artifactIds', id),
  dataLake: ({ store }, id) => takeOffLake(store, id),
};

/** Removes a deleted record from the sessions that link it. Safe to repeat. */
export async function unlink(store: Store, field: 'knowledgeIds' | 'artifactIds', id: string): Promise<void> {
  for (;;) {
    const batch = await store.collection(SESSIONS).find({ [field]: { has: id } }, { limit: BATCH });
    for (const { id: sessionId } of batch) {
      await store.transaction(async (inner) => {
        const sessions = inner.collection(SESSIONS);
        const session = await sessions.get(sessionId, { [field]: { has: id } });
        if (session === undefined) return;
        const list = session[field]?.filter((one) => one !== id);
        await sessions.update(sessionId, { [field]: list, ...dropped(session, id) });
      });
    }
    if (batch.length < BATCH) return;
  }
}

async function takeOffLake(store: Store, dataLakeId: string): Promise<void> {
  const sessions = store.collection(SESSIONS);
  for (;;) {
    const batch = await sessions.find({ dataLakeId }, { limit: BATCH });
    for (const session of batch) {
      const change = { dataLakeId: undefined, ...dropped(session, dataLakeId) };
      await sessions.update(session.id, change, { dataLakeId });
    }
    if (batch.length < BATCH) return;
  }
}
