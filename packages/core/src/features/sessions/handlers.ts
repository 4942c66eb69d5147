import { sharedAs, whose } from '../../access/access.ts';
import { checkLinks, type LinkReader } from '../../access/links.ts';
import type { SessionListener } from '../../contract/session.ts';
import { findPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { JobQueue } from '../../ports/queue.ts';
import type { Filter, Store } from '../../ports/store.ts';
import type { QuestEvents } from '../../runs/quest-events.ts';
import { conflict, forbidden, notFound } from '../../shared/errors.ts';
import { giveStorageBack, type StorageQuotas, takeStorage } from '../storage/usage.ts';
import { canEditSession, canReadSession, ownsSession } from './access.ts';
import { attachmentTimes } from './attachment-times.ts';
import {
  cloneSession,
  createSession,
  deleteSession,
  getSession,
  listSessions,
  updateSession,
} from './contract.ts';
import { copyMessages } from './copy.ts';
import { checkLinkChange, withoutDeleted } from './links.ts';
import { deleteMessages, purgeCopyJob } from './purge.ts';
import { SESSIONS, type SessionRecord } from './records.ts';
import { removeSession } from './removal.ts';
import { getSettings, measured, nameOfCopy, newSession, toWireSession } from './sessions.ts';

export interface SessionServices extends PipelineServices {
  readonly sessionListeners: readonly SessionListener[];
  readonly store: Store;
  readonly queue: JobQueue;
  readonly questEvents: QuestEvents;
  readonly links: LinkReader;
  readonly storageQuotas: StorageQuotas;
}

/** `GET /api/v1/sessions` */
export function createListSessionsHandler(services: SessionServices): Route {
  const sessions = services.store.collection(SESSIONS);
  return defineRoute(listSessions, services, async ({ query }, { caller }) => {
    const { search = '', shared } = query;
    return findPage(
      sessions,
      { ...whose(caller.userId, shared), ...(search !== '' && { name: { contains: search } }) },
      {
        list: listSessions.id,
        owner: caller.userId,
        query,
        order: { field: 'firstCreated', direction: 'desc' },
      },
      (row) => ({ ...toWireSession(row), ...sharedAs(row, caller.userId, shared) }),
    );
  });
}

/** A user's own sessions, with a text in the name if one is given. */
export function ownSessions(ownerId: string, search = ''): Filter<SessionRecord> {
  return { ownerId, ...(search !== '' && { name: { contains: search } }) };
}

/** `POST /api/v1/sessions`. @param operation the same at another path. */
export function createCreateSessionHandler(
  services: SessionServices,
  operation: typeof createSession = createSession,
): Route {
  return defineRoute(operation, services, async ({ body }, { caller }) => {
    const { name, dataLakeId, ...others } = body;
    const settings = { ...others, ...(dataLakeId && { dataLakeId }) };
    await checkLinks(services.links, caller.userId, settings);
    const session = measured(newSession(services, caller.userId, name, settings));
    await insertCounted(services, session);
    return toWireSession(session);
  });
}

/** `POST /api/v1/sessions/{id}/clone` */
export function createCloneSessionHandler(services: SessionServices): Route {
  const sessions = services.store.collection(SESSIONS);
  return defineRoute(cloneSession, services, async ({ params }, { caller }) => {
    const found = await sessions.get(params.id, canReadSession(caller.userId));
    if (found === undefined) throw notFound('Session');
    const original = await withoutDeleted(services.links, found);
    const plain = newSession(services, caller.userId, nameOfCopy(original.name), {
      ...getSettings(original),
      // Read and write shares do not include it.
      ...(original.ownerId !== caller.userId && { systemPromptText: undefined }),
    });
    const copy = measured(plain);
    await services.queue.enqueue(purgeCopyJob(copy, services.clock.now()));
    try {
      await copyMessages(services, original, copy);
      // Inserted last, so that no incomplete copy is visible.
      await insertCounted(services, copy);
    } catch (error) {
      await deleteMessages(services.store, copy.id);
      throw error;
    }
    return toWireSession(copy);
  });
}

/** `GET /api/sessions/{id}` */
export function createGetSessionHandler(services: SessionServices): Route {
  const sessions = services.store.collection(SESSIONS);
  return defineRoute(getSession, services, async ({ params }, { caller }) => {
    const session = await sessions.get(params.id, canReadSession(caller.userId));
    if (session === undefined) throw notFound('Session');
    return toWireSession(await withoutDeleted(services.links, session));
  });
}

/** `PUT /api/sessions/{id}` */
export function createUpdateSessionHandler(services: SessionServices): Route {
  const sessions = services.store.collection(SESSIONS);
  return defineRoute(updateSession, services, async ({ params, body }, { caller }) => {
    const mayEdit = canEditSession(caller.userId);
    const before = await sessions.get(params.id, mayEdit);
    if (before === undefined) throw notFound('Session');
    // It affects every turn in the session, and no response contains it.
    if (body.systemPromptText !== undefined && before.ownerId !== caller.userId) {
      throw forbidden('Only the owner may set the system prompt of a session');
    }
    const linkChange = await checkLinkChange(services.links, caller.userId, before, body);
    const now = services.clock.now();
    const { knowledgeIds: _f, artifactIds: _a, agentIds: _g, dataLakeId: _d, ...fields } = body;
    const change = {
      ...fields,
      // Enrichment does not replace what a user has chosen.
      ...(body.name !== undefined && { automaticName: undefined }),
      ...(body.tags !== undefined && { hasAutomaticTags: undefined }),
      lastUpdated: now,
    };
    // Links are merged with the current ones, so that concurrent changes keep the links of other users.
    const session = await services.store.transaction(async (inner) => {
      const stored = inner.collection(SESSIONS);
      const current = await stored.get(params.id, mayEdit);
      if (current === undefined) return undefined;
      const links = linkChange.applyTo(current);
      const times = attachmentTimes(current, links.agentIds, now);
      const changed = await stored.update(params.id, { ...change, ...links, ...times }, mayEdit);
      return changed && countChange(services, inner, changed);
    });
    if (session === undefined) throw notFound('Session');
    for (const listener of services.sessionListeners) await listener(caller.userId, before, session);
    return toWireSession(session);
  });
}

/** `DELETE /api/sessions/{id}` */
export function createDeleteSessionHandler(services: SessionServices): Route {
  const sessions = services.store.collection(SESSIONS);
  return defineRoute(deleteSession, services, async ({ params }, { caller }) => {
    const { userId } = caller;
    const session = await sessions.get(params.id, ownsSession(userId));
    if (session === undefined) throw notFound('Session');
    if ((await removeSession(services, session)) === undefined) {
      throw conflict('The session was changed concurrently. Read it again.');
    }
    const [latest] = await sessions.find(
      { ownerId: userId },
      { order: { field: 'lastUpdated', direction: 'desc' }, limit: 1 },
    );
    return { newLastNotebookId: latest?.id ?? null };
  });
}

/** @throws ApiError 422 beyond the quota. */
async function insertCounted(
  { store, storageQuotas }: Pick<SessionServices, 'store' | 'storageQuotas'>,
  session: SessionRecord,
): Promise<void> {
  await store.transaction(async (inner) => {
    const { ownerId, bytes = 0 } = session;
    await takeStorage(inner, { ownerId, kind: 'sessions', bytes }, storageQuotas);
    await inner.collection(SESSIONS).insert(session);
  });
}

/** Updates the storage usage of a session. @throws ApiError 422 beyond the quota. */
async function countChange(
  { storageQuotas }: Pick<SessionServices, 'storageQuotas'>,
  inner: Store,
  session: SessionRecord,
): Promise<SessionRecord | undefined> {
  const { ownerId, bytes: before = 0 } = session;
  const { bytes = 0 } = measured(session);
  if (bytes === before) return session;
  const amount = { ownerId, kind: 'sessions', bytes: Math.abs(bytes - before) } as const;
  if (bytes > before) await takeStorage(inner, amount, storageQuotas);
  else await giveStorageBack(inner, amount);
  return inner.collection(SESSIONS).update(session.id, { bytes });
}
