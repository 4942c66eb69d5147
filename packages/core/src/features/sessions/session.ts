import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Collection, Store } from '../../ports/store.ts';
import { writesTo } from '../../ports/write-all.ts';
import { QuestAbandoned } from '../../runs/quest-task.ts';
import type { QuestRecord } from '../../runs/records.ts';
import type { PlannedEnd } from '../../runs/run-context.ts';
import { countStorage, measureRecord, storageWrite } from '../storage/usage.ts';
import { canEditSession } from './access.ts';
import { MESSAGES, type MessageRecord, SESSIONS, type SessionRecord } from './records.ts';
import type { MessagePosition } from './replaced.ts';

const MAX_MESSAGES = 1000;
/** Minimum number of earlier messages where the request sets none, and the step of the window, of which it is a multiple. */
const DEFAULT_HISTORY = 10;
const HISTORY_BLOCK = 10;
/** Number of messages that `recentMessages` reads where the request sets none. */
export const NEWEST_MESSAGES = DEFAULT_HISTORY + HISTORY_BLOCK;

/**
 * Loads the session of a quest.
 * @throws QuestAbandoned when the quest's user has lost access.
 */
export async function getSession(store: Store, quest: QuestRecord): Promise<SessionRecord> {
  const session = await store.collection(SESSIONS).get(quest.sessionId, canEditSession(quest.ownerId));
  if (session === undefined) throw new QuestAbandoned('The session of this turn no longer exists.');
  return session;
}

export interface RecentMessages {
  /** Oldest first. */
  readonly messages: readonly MessageRecord[];
  /** Number of the newest message; 0 in an empty session. Undefined: unknown. */
  readonly last: number | undefined;
}

/**
 * Reads the newest messages of a session.
 * @param count the exact number. Absent: 10 to 19, so that the window moves by ten messages, not with each turn: providers
 * cache a prompt only while it begins the same way.
 * @param before a message: only those before it.
 * @param known the newest messages, newest first, up to `NEWEST_MESSAGES`, if they are read already.
 */
export async function recentMessages(
  messages: Collection<MessageRecord>,
  session: SessionRecord,
  count: number | undefined,
  before?: MessagePosition,
  known?: readonly MessageRecord[],
): Promise<RecentMessages> {
  const inSession = { sessionId: session.id, ownerId: session.ownerId };
  const limit = Math.min(count === undefined ? NEWEST_MESSAGES : Math.ceil(count), MAX_MESSAGES);
  const isKnown =
    before === undefined &&
    (limit <= NEWEST_MESSAGES || (known !== undefined && known.length < NEWEST_MESSAGES)) &&
    known?.every(({ ownerId }) => ownerId === session.ownerId) === true;
  const newest = isKnown
    ? known.slice(0, limit)
    : await messages.find(inSession, {
        order: { field: 'createdAt', direction: 'desc' },
        limit,
        ...(before !== undefined && { after: { value: before.createdAt, id: before.id } }),
      });
  const isAll = newest.length < limit;
  const number = newest[0]?.number ?? (isAll ? newest.length : undefined);
  if (count !== undefined || isAll) return { messages: newest.toReversed(), last: number };
  // Counting takes longer with each message, so the messages have numbers.
  const counted = { ...inSession, ...(before !== undefined && { createdAt: { lt: before.createdAt } }) };
  const last = number ?? (await messages.count(counted));
  return { messages: newest.slice(0, DEFAULT_HISTORY + (last % HISTORY_BLOCK)).toReversed(), last };
}

/** Returns the number of the newest message; 0 in an empty session. */
export async function getLastNumber(
  messages: Collection<MessageRecord>,
  { id, ownerId }: Pick<SessionRecord, 'id' | 'ownerId'>,
): Promise<number> {
  const inSession = { sessionId: id, ownerId };
  const [newest] = await messages.find(inSession, {
    order: { field: 'createdAt', direction: 'desc' },
    limit: 1,
  });
  return newest?.number ?? (newest === undefined ? 0 : messages.count(inSession));
}

/** What a user sent. */
export interface Question {
  readonly content: string;
  readonly pageId?: string | undefined;
  readonly fileIds?: readonly string[] | undefined;
}

/**
 * Adds the messages to the session: at the quest's end, in its transaction.
 * @param answer undefined and '' add nothing.
 */
export async function writeMessages(
  services: { readonly clock: Clock; readonly ids: Ids },
  store: Store,
  quest: QuestRecord,
  question: Question,
  answer: string | undefined,
): Promise<void> {
  const session = await store.collection(SESSIONS).get(quest.sessionId);
  if (session === undefined) return;
  const said = buildMessages(services, session, quest, question, answer);
  const messages = store.collection(MESSAGES);
  for (const record of said) await messages.insert(record);
  // The turn is paid: if it began below the quota it is stored, whatever its size.
  await countStorage(store, { ownerId: session.ownerId, kind: 'sessions', bytes: sumBytes(said) });
}

/**
 * `writeMessages`, for the end of a quest in one step.
 * @param session as it was read: only its owner is used.
 * @param last number of the message before. Undefined: unknown.
 */
export function planMessages(
  services: { readonly clock: Clock; readonly ids: Ids },
  session: SessionRecord,
  quest: QuestRecord,
  question: Question,
  answer: string | undefined,
  last?: number,
): PlannedEnd {
  const { id, ownerId } = session;
  const said = buildMessages(services, session, quest, question, answer).map((message, at) =>
    last === undefined ? message : { ...message, number: last + 1 + at },
  );
  return {
    expected: [writesTo(SESSIONS).expect(id, { ownerId })],
    written: [
      ...said.map((record) => writesTo(MESSAGES).insert(record)),
      storageWrite({ ownerId, kind: 'sessions', bytes: sumBytes(said) }),
    ],
  };
}

function sumBytes(messages: readonly MessageRecord[]): number {
  return messages.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
}

function buildMessages(
  services: { readonly clock: Clock; readonly ids: Ids },
  session: SessionRecord,
  quest: QuestRecord,
  { content, pageId, fileIds }: Question,
  answer: string | undefined,
): readonly MessageRecord[] {
  const common = {
    sessionId: session.id,
    ownerId: session.ownerId,
    questId: quest.id,
    createdAt: services.clock.now(),
  };
  const said: MessageRecord[] = [
    {
      id: services.ids.next(),
      role: 'user',
      content,
      bytes: measureRecord(content),
      ...(pageId !== undefined && { pageId }),
      ...(fileIds !== undefined && { fileIds }),
      ...common,
    },
  ];
  if (answer !== undefined && answer !== '') {
    said.push({
      id: services.ids.next(),
      role: 'assistant',
      content: answer,
      bytes: measureRecord(answer),
      ...common,
    });
  }
  return said;
}
