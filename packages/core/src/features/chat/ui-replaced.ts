import type { Collection } from '../../ports/store.ts';
import { invalid } from '../../shared/errors.ts';
import type { MessageRecord } from '../sessions/records.ts';
import { MAX_REPLACED, type MessageRange } from '../sessions/replaced.ts';
import type { UiChatBody } from './ui-contract.ts';

/** What a turn replaces. */
export interface Replaced {
  readonly replaces: MessageRange;
  /** The id of the replaced message of the user: the new one keeps it. */
  readonly pageId: string;
  /** The stored message that gets another answer. Absent: the request contains the message. */
  readonly repeated?: MessageRecord;
}

/** Most turns replace the newest messages. */
const LOOKUPS = [10, MAX_REPLACED];

/**
 * Finds the messages that an edit or a regeneration replaces: a message of the user and all that follow it.
 * @returns undefined for a message that the chat does not contain and that follows its last one: it was never accepted.
 * @throws ApiError 422 for an unknown message.
 */
export async function findReplaced(
  messages: Collection<MessageRecord>,
  sessionId: string,
  body: UiChatBody,
): Promise<Replaced | undefined> {
  let last: MessageRecord | undefined;
  for (const limit of LOOKUPS) {
    const newest = await messages.find(
      { sessionId },
      { order: { field: 'createdAt', direction: 'desc' }, limit },
    );
    [last] = newest;
    const replaced = searchReplaced(newest, body);
    if (replaced !== undefined) return replaced;
    if (newest.length < limit) break;
  }
  if (isNew(last, body)) return undefined;
  const [field, subject] =
    typeof body.messageId === 'string' ? ['messageId', ''] : ['messages', 'the last message '];
  throw invalid(field, `${subject}must be one of the last ${MAX_REPLACED} messages of this chat`);
}

/** @param newest the newest messages, in this order. */
function searchReplaced(newest: readonly MessageRecord[], body: UiChatBody): Replaced | undefined {
  const isRepeated = body.trigger === 'regenerate-message';
  const name = getName(body);
  const at = newest.findIndex((message) => name === undefined || hasName(message, name));
  const question = newest.slice(Math.max(at, 0)).find(({ role }) => role === 'user');
  const [to] = newest;
  if (at < 0 || question === undefined || to === undefined) return undefined;
  if (!isRepeated && newest[at] !== question) throw invalid('messageId', 'must be a message of the user');
  return {
    replaces: { from: toPosition(question), to: toPosition(to) },
    pageId: getPageId(question),
    ...(isRepeated && { repeated: question }),
  };
}

/** The message that the request names. Undefined: the newest. */
function getName({ messageId, messages: last }: UiChatBody): string | undefined {
  return messageId ?? (last.role === 'user' ? last.id : undefined);
}

/** The id of a message in pages: that which its page gave it, else one derived from its quest. */
export function getPageId({ id, role, pageId, questId }: MessageRecord): string {
  if (pageId !== undefined || questId === undefined) return pageId ?? id;
  return role === 'assistant' ? questId : `${questId}.question`;
}

/** Whether a page knows a message by this id. A failed answer has no message: its page knows it by its quest. */
function hasName(message: MessageRecord, name: string): boolean {
  return [getPageId(message), message.id, message.questId].includes(name);
}

/** Whether the page added its last message after those that are stored. */
function isNew(last: MessageRecord | undefined, body: UiChatBody): boolean {
  const { role, id, previousId } = body.messages;
  if (role !== 'user' || (getName(body) ?? id) !== id) return false;
  return last === undefined || previousId === undefined || hasName(last, String(previousId));
}

function toPosition({ id, createdAt }: MessageRecord) {
  return { id, createdAt };
}
