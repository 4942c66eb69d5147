import { removeWhere } from '../../ports/remove-where.ts';
import type { Store } from '../../ports/store.ts';
import { giveStorageBack } from '../storage/usage.ts';
import { MESSAGES, type MessageRecord } from './records.ts';

/** Maximum messages that one turn replaces. */
export const MAX_REPLACED = 1000;

/** The place of a message in its session. */
export type MessagePosition = Pick<MessageRecord, 'id' | 'createdAt'>;

/** Consecutive messages of a session, from the first to the last. */
export interface MessageRange {
  readonly from: MessagePosition;
  readonly to: MessagePosition;
}

/** Deletes the messages of a range, and releases their quota. For a transaction; messages that came later stay. */
export async function removeMessages(
  store: Store,
  sessionId: string,
  { from, to }: MessageRange,
): Promise<void> {
  const messages = store.collection(MESSAGES);
  const candidates = await messages.find(
    { sessionId, createdAt: { gte: from.createdAt, lte: to.createdAt } },
    { order: { field: 'createdAt', direction: 'asc' }, limit: MAX_REPLACED },
  );
  const replaced = candidates.filter((message) => isInRange(message, { from, to }));
  const [first] = replaced;
  if (first === undefined) return;
  await removeWhere(messages, { id: { in: replaced.map(({ id }) => id) } });
  const bytes = replaced.reduce((sum, message) => sum + (message.bytes ?? 0), 0);
  await giveStorageBack(store, { ownerId: first.ownerId, kind: 'sessions', bytes });
}

export function isInRange(message: MessagePosition, { from, to }: MessageRange): boolean {
  return !isBefore(message, from) && !isBefore(to, message);
}

function isBefore(a: MessagePosition, b: MessagePosition): boolean {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.id < b.id);
}
