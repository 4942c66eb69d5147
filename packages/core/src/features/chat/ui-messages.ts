import { findPage } from '../../operations/find-page.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import { notFound } from '../../shared/errors.ts';
import { getPayloads } from '../quests/wire.ts';
import { MESSAGES, type MessageRecord } from '../sessions/records.ts';
import { isInRange } from '../sessions/replaced.ts';
import type { ChatRequest } from './request.ts';
import { createUiChats } from './ui-chats.ts';
import { listUiMessages, type UiMessage } from './ui-contract.ts';
import {
  distinctSources,
  findFileParts,
  getCreatedFiles,
  toCreditsPart,
  toPayloadPart,
  toQuestPart,
  type UiPart,
} from './ui-data.ts';
import type { UiChatServices } from './ui-handlers.ts';
import { getPageId } from './ui-replaced.ts';

/** `GET /api/chat/{id}/messages` */
export function createListUiMessagesHandler(services: UiChatServices): Route {
  const chats = createUiChats(services);
  const messages = services.store.collection(MESSAGES);
  const quests = services.store.collection(QUESTS);

  return defineRoute(listUiMessages, services, async ({ params, query }, call) => {
    const { userId } = call.caller;
    const session = await chats.find(userId, params.id, 'read');
    if (session === undefined) throw notFound('Session');
    const sessionId = session === 'new' ? params.id : session.id;
    // Before the messages: a turn that ends meanwhile is among them.
    const running =
      session === 'new' || query.cursor !== undefined ? undefined : await chats.findUnstored(sessionId);
    const page = await findPage(
      messages,
      { sessionId },
      {
        list: `${listUiMessages.id}:${sessionId}`,
        owner: userId,
        query,
        order: { field: 'createdAt', direction: 'desc' },
      },
      (message) => message,
    );
    const stored = withRunning(page.data.toReversed(), running);
    const ids = [...new Set(stored.flatMap(({ questId }) => questId ?? []))];
    const found = ids.length === 0 ? [] : await quests.find({ id: { in: ids }, sessionId });
    const answers = new Map(found.map((quest) => [quest.id, quest]));
    const fileIds = [
      ...stored.flatMap((message) => message.fileIds ?? []),
      ...found.flatMap((quest) => getCreatedFiles(quest)),
    ];
    const files = await findFileParts(services.library, { userId, mountPath: call.mountPath }, [
      ...new Set(fileIds),
    ]);
    const seen = new Set<string>();
    const data = stored.map((message) =>
      toUiMessage(message, answers.get(message.questId ?? ''), files, seen),
    );
    return { data, next_cursor: page.next_cursor };
  });
}

/** Adds the question of a turn whose messages are not stored yet, in the place of those that it replaces. */
function withRunning(
  stored: readonly MessageRecord[],
  running: QuestRecord | undefined,
): readonly MessageRecord[] {
  if (running === undefined || stored.some(({ questId }) => questId === running.id)) return stored;
  const { id: questId, sessionId, ownerId, createdAt } = running;
  const { message: content, pageId, fileIds, replaces } = running.request as ChatRequest;
  const question: MessageRecord = {
    id: questId,
    sessionId,
    ownerId,
    role: 'user',
    content,
    questId,
    createdAt,
    ...(pageId !== undefined && { pageId }),
    ...(fileIds !== undefined && { fileIds }),
  };
  const left = replaces === undefined ? stored : stored.filter((message) => !isInRange(message, replaces));
  return [...left, question];
}

function toUiMessage(
  message: MessageRecord,
  quest: QuestRecord | undefined,
  files: ReadonlyMap<string, UiPart>,
  seen: Set<string>,
): UiMessage {
  const { role, content, sessionId, createdAt } = message;
  const named = getPageId(message);
  // A page may have sent the same id twice.
  const id = seen.has(named) ? message.id : named;
  seen.add(id);
  const text = { type: 'text', text: content, ...(role === 'assistant' && { state: 'done' }) };
  const metadata = { sessionId, createdAt: new Date(createdAt).toISOString() };
  if (role === 'user') {
    const attached = (message.fileIds ?? []).flatMap((fileId) => files.get(fileId) ?? []);
    // A message without text has files only.
    return {
      id,
      role,
      metadata,
      parts: content === '' && attached.length > 0 ? attached : [...attached, text],
    };
  }
  if (quest === undefined) return { id, role, metadata, parts: [text] };
  const { promptMeta } = quest;
  const payloads = getPayloads(quest);
  return {
    id,
    role,
    metadata: { ...metadata, questId: quest.id, ...promptMeta },
    parts: [
      toQuestPart(quest),
      text,
      ...payloads.map(toPayloadPart),
      ...distinctSources(payloads),
      ...getCreatedFiles(quest).flatMap((fileId) => files.get(fileId) ?? []),
      ...(promptMeta === undefined ? [] : [toCreditsPart(promptMeta)]),
    ],
  };
}
