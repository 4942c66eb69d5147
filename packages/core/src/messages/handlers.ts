import { notFound } from '../errors.ts';
import { paginationOf } from '../http/pages.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { Store } from '../ports/store.ts';
import { defineRoute, type Route } from '../route.ts';
import { canReadSession } from '../sessions/access.ts';
import { MESSAGES, type MessageRecord, SESSIONS } from '../sessions/records.ts';
import { listMessages, type WireMessage } from './contract.ts';

export interface MessagesServices extends PipelineServices {
  readonly store: Store;
}

/** `GET /api/sessions/{id}/messages` */
export function createListMessagesHandler(services: MessagesServices): Route {
  const sessions = services.store.collection(SESSIONS);
  const messages = services.store.collection(MESSAGES);
  return defineRoute(listMessages, services, async ({ params, query }, { caller }) => {
    const session = await sessions.get(params.id, canReadSession(caller.userId));
    if (session === undefined) throw notFound('Session');
    const { page, limit, order = 'desc' } = query;
    const filter = { sessionId: session.id };
    const [total, rows] = await Promise.all([
      messages.count(filter),
      messages.find(filter, {
        order: { field: 'createdAt', direction: order },
        offset: (page - 1) * limit,
        limit,
      }),
    ]);
    return { messages: rows.map(toWireMessage), pagination: paginationOf(query, total) };
  });
}

function toWireMessage({ id, role, content, questId, createdAt }: MessageRecord): WireMessage {
  return { id, role, content, questId: questId ?? null, createdAt: new Date(createdAt).toISOString() };
}
