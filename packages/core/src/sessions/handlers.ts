import { type AttachmentServices, attachmentTimes, tellOfAgents } from '../agents/attachments.ts';
import { conflict, notFound } from '../errors.ts';
import { decodeCursor, encodeCursor, pageOf } from '../http/cursor.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import type { QuestNotices } from '../quests/notices.ts';
import { QUESTS } from '../quests/records.ts';
import { stopQuest } from '../quests/transitions.ts';
import { defineRoute, type Route } from '../route.ts';
import { canEditSession, canReadSession, ownsSession } from './access.ts';
import {
  cloneSession,
  createSession,
  deleteSession,
  getSession,
  listSessions,
  updateSession,
} from './contract.ts';
import { copyMessages } from './copy.ts';
import { checkLinks, type LinkReader } from './links.ts';
import { purgeJob } from './purge.ts';
import { SESSIONS } from './records.ts';
import { nameOfCopy, newSession, settingsOf, toWireSession } from './sessions.ts';

export interface SessionServices extends PipelineServices, AttachmentServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly notices: QuestNotices;
  readonly links: LinkReader;
}

const SESSION_DELETED = 'The session of this turn was deleted.';

/** `GET /api/v1/sessions` */
export function createListSessionsHandler(services: SessionServices): Route {
  const sessions = services.store.collection(SESSIONS);
  return defineRoute(listSessions, services, async ({ query }, { caller }) => {
    const { limit, cursor, search = '' } = query;
    const after = decodeCursor(listSessions.id, caller.userId, cursor);
    const rows = await sessions.find(
      { ownerId: caller.userId, ...(search !== '' && { name: { contains: search } }) },
      {
        order: { field: 'firstCreated', direction: 'desc' },
        limit: limit + 1,
        ...(after !== undefined && { after }),
      },
    );
    return pageOf(rows, limit, toWireSession, ({ id, firstCreated }) =>
      encodeCursor(listSessions.id, caller.userId, { value: firstCreated, id }),
    );
  });
}

/** `POST /api/v1/sessions` */
export function createCreateSessionHandler(services: SessionServices): Route {
  const sessions = services.store.collection(SESSIONS);
  return defineRoute(createSession, services, async ({ body }, { caller }) => {
    const { name, ...settings } = body;
    await checkLinks(services.links, caller.userId, settings);
    const session = newSession(services, caller.userId, name, settings);
    await sessions.insert(session);
    return toWireSession(session);
  });
}

/** `POST /api/v1/sessions/{id}/clone` */
export function createCloneSessionHandler(services: SessionServices): Route {
  const sessions = services.store.collection(SESSIONS);
  return defineRoute(cloneSession, services, async ({ params }, { caller }) => {
    const original = await sessions.get(params.id, canReadSession(caller.userId));
    if (original === undefined) throw notFound('Session');
    const copy = newSession(services, caller.userId, nameOfCopy(original.name), settingsOf(original));
    await copyMessages(services, original, copy);
    // Last, so that nobody finds half a conversation.
    await sessions.insert(copy);
    return toWireSession(copy);
  });
}

/** `GET /api/sessions/{id}` */
export function createGetSessionHandler(services: SessionServices): Route {
  const sessions = services.store.collection(SESSIONS);
  return defineRoute(getSession, services, async ({ params }, { caller }) => {
    const session = await sessions.get(params.id, canReadSession(caller.userId));
    if (session === undefined) throw notFound('Session');
    return toWireSession(session);
  });
}

/** `PUT /api/sessions/{id}` */
export function createUpdateSessionHandler(services: SessionServices): Route {
  const sessions = services.store.collection(SESSIONS);
  return defineRoute(updateSession, services, async ({ params, body }, { caller }) => {
    const mayEdit = canEditSession(caller.userId);
    const before = await sessions.get(params.id, mayEdit);
    if (before === undefined) throw notFound('Session');
    await checkLinks(services.links, caller.userId, body);
    const now = services.clock.now();
    const change = {
      ...body,
      // What somebody has chosen is no longer for us to replace.
      ...(body.name !== undefined && { automaticName: undefined }),
      ...(body.tags !== undefined && { hasAutomaticTags: undefined }),
      ...attachmentTimes(before, body.agentIds, now),
      lastUpdated: now,
    };
    const session = await sessions.update(params.id, change, mayEdit);
    if (session === undefined) throw notFound('Session');
    await tellOfAgents(services, caller.userId, before, session);
    return toWireSession(session);
  });
}

/** `DELETE /api/sessions/{id}` */
export function createDeleteSessionHandler(services: SessionServices): Route {
  const { store, queue, notices, clock } = services;
  const sessions = store.collection(SESSIONS);
  const quests = store.collection(QUESTS);
  return defineRoute(deleteSession, services, async ({ params }, { caller }) => {
    const { userId } = caller;
    const session = await sessions.get(params.id, ownsSession(userId));
    if (session === undefined) throw notFound('Session');
    // What is left behind is cleared away by a job, written down first: it finds nothing to do while the session stands.
    await queue.enqueue(purgeJob(session));
    const { lastUpdated } = session;
    const deleted = await sessions.take(session.id, { ...ownsSession(userId), lastUpdated });
    if (deleted === undefined) throw conflict('The session was changed at the same time. Read it again.');
    for (const quest of await quests.find({ sessionId: session.id, liveSince: { gt: 0 } })) {
      const stopped = await stopQuest(quests, quest.id, SESSION_DELETED, clock.now());
      if (stopped !== undefined) notices.stopped(quest.id);
    }
    const [latest] = await sessions.find(
      { ownerId: userId },
      { order: { field: 'lastUpdated', direction: 'desc' }, limit: 1 },
    );
    return { newLastNotebookId: latest?.id ?? null };
  });
}
