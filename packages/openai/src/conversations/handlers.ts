import { ApiError, defineRoute, jsonReply, type Route } from '@questline/core';
import {
  type Conversation,
  type Conversations,
  type ConversationsServices,
  createConversations,
  createResponses,
  type PipelineServices,
  type ResponsesServices,
} from '@questline/core/internal';
import type { InputItem, WholeItem } from '../responses/contract-items.ts';
import { resolveReferences } from '../responses/history.ts';
import { checkReadable } from '../responses/input.ts';
import {
  createConversation,
  createConversationItems,
  deleteConversation,
  deleteConversationItem,
  getConversation,
  getConversationItem,
  listConversationItems,
  updateConversation,
} from './contract.ts';
import { readConversationId, readEntryId, toConversationId } from './ids.ts';
import { findMessage, readItems, toKeptItems, toListed, withoutItem } from './items.ts';
import { readPage, toPage } from './pages.ts';

export interface ConversationRouteServices
  extends PipelineServices,
    ResponsesServices,
    ConversationsServices {
  // Both have these, with the same types.
  readonly store: ResponsesServices['store'];
  readonly clock: ResponsesServices['clock'];
  readonly onError: PipelineServices['onError'];
  readonly ids: PipelineServices['ids'];
}

/** Creates, reads, changes and deletes conversations. */
export function conversationRoutes(services: ConversationRouteServices): Route[] {
  const conversations = createConversations(services);
  const responses = createResponses(services);
  const find = (userId: string, id: string) => findConversation(conversations, userId, id);

  /** Replaces references by their items. @throws ApiError 400 for items that have no meaning here. */
  const read = async (userId: string, given: readonly InputItem[]): Promise<readonly WholeItem[]> => {
    const items = await resolveReferences(responses, userId, given, 'items');
    for (const [index, { item }] of items.entries()) checkReadable(item, `items.${index}`);
    return items.map(({ item }) => item);
  };

  return [
    defineRoute(createConversation, services, async ({ body }, { caller: { userId } }) => {
      const items = await read(userId, body.items ?? []);
      const created = await conversations.create(userId, {
        metadata: body.metadata ?? {},
        toItems: (source) => toKeptItems(source, items),
        message: findMessage(items),
      });
      return jsonReply(200, toWire(created));
    }),

    defineRoute(getConversation, services, async ({ params: { id } }, { caller: { userId } }) =>
      jsonReply(200, toWire(await find(userId, id))),
    ),

    defineRoute(updateConversation, services, async ({ params, body }, { caller: { userId } }) => {
      const { id } = await find(userId, params.id);
      const changed = await conversations.setMetadata(userId, id, body.metadata ?? {});
      if (changed === undefined) throw unknownConversation(params.id);
      return jsonReply(200, toWire(changed));
    }),

    defineRoute(deleteConversation, services, async ({ params }, { caller: { userId } }) => {
      const { id } = await find(userId, params.id);
      if (!(await conversations.remove(userId, id))) throw unknownConversation(params.id);
      return jsonReply(200, { id: params.id, object: 'conversation.deleted', deleted: true });
    }),

    defineRoute(listConversationItems, services, async ({ params, query }, { caller: { userId } }) =>
      jsonReply(200, await readPage(conversations, await find(userId, params.id), query)),
    ),

    defineRoute(createConversationItems, services, async ({ params, body }, { caller: { userId } }) => {
      const conversation = await find(userId, params.id);
      const items = await read(userId, body.items);
      const source = await conversations.add(conversation, (owner) => toKeptItems(owner, items));
      if (source === undefined) throw unknownConversation(params.id);
      return jsonReply(200, toPage(toKeptItems(source, items).map(toListed)));
    }),

    defineRoute(getConversationItem, services, async ({ params }, { caller: { userId } }) => {
      const conversation = await find(userId, params.id);
      const entryId = readEntryId(params.itemId);
      const entry = entryId === undefined ? undefined : await conversations.getEntry(conversation, entryId);
      const items = entry === undefined ? [] : readItems(entry);
      const item = items.find(({ id }) => id === params.itemId);
      if (item === undefined) throw unknownItem(params.itemId);
      return jsonReply(200, toListed(item));
    }),

    defineRoute(deleteConversationItem, services, async ({ params }, { caller: { userId } }) => {
      const conversation = await find(userId, params.id);
      const entryId = readEntryId(params.itemId);
      const isDeleted =
        entryId !== undefined &&
        (await conversations.keepItems(conversation, entryId, (entry) =>
          withoutItem(readItems(entry), params.itemId),
        ));
      if (!isDeleted) throw unknownItem(params.itemId);
      return jsonReply(200, toWire(conversation));
    }),
  ];
}

/** @param wireId as clients know it. @throws ApiError 404 for an unknown one. */
export async function findConversation(
  conversations: Conversations,
  userId: string,
  wireId: string,
): Promise<Conversation> {
  const id = readConversationId(wireId);
  const conversation = id === undefined ? undefined : await conversations.find(userId, id);
  if (conversation === undefined) throw unknownConversation(wireId);
  return conversation;
}

function toWire({ id, createdAt, metadata }: Conversation) {
  const created = Math.floor(createdAt / 1000);
  return { id: toConversationId(id), object: 'conversation', created_at: created, metadata };
}

function unknownConversation(id: string): ApiError {
  return new ApiError(404, `Conversation with id '${id.slice(0, 200)}' not found.`);
}

function unknownItem(id: string): ApiError {
  return new ApiError(404, `Item with id '${id.slice(0, 200)}' not found in the conversation.`);
}
