import { findNumberedPage, findPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Store } from '../../ports/store.ts';
import { notFound } from '../../shared/errors.ts';
import { canReadSession } from './access.ts';
import { listMessages, listSessionMessages, type WireMessage } from './messages-contract.ts';
import { MESSAGES, type MessageRecord, SESSIONS } from './records.ts';

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
    const { order = 'desc' } = query;
    const filter = { sessionId: session.id };
    const { rows, pagination } = await findNumberedPage(messages, filter, query, {
      field: 'createdAt',
      direction: order,
    });
    return { messages: rows.map(toWireMessage), pagination };
  });
}

/** `GET /api/v1/sessions/{id}/messages` */
export function createListSessionMessagesHandler(services: MessagesServices): Route {
  const sessions = services.store.collection(SESSIONS);
  const messages = services.store.collection(MESSAGES);
  return defineRoute(listSessionMessages, services, async ({ params, query }, { caller }) => {
    const session = await sessions.get(params.id, canReadSession(caller.userId));
    if (session === undefined) throw notFound('Session');
    const { order: direction } = query;
    const list = `${listSessionMessages.id}:${session.id}`;
    return findPage(
      messages,
      { sessionId: session.id },
      { list, owner: caller.userId, query, order: { field: 'createdAt', direction } },
      toWireMessage,
    );
  });
}

function toWireMessage({ id, role, content, questId, createdAt }: MessageRecord): WireMessage {
  return { id, role, content, questId: questId ?? null, createdAt: new Date(createdAt).toISOString() };
}
