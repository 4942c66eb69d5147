import { isId } from '../../contract/identifiers.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { JobQueue } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import { CLOSING, hasEnded } from '../../runs/states.ts';
import { ApiError, notFound } from '../../shared/errors.ts';
import { hashSecret } from '../../shared/secrets.ts';
import { canEditSession, canReadSession } from '../sessions/access.ts';
import { sessionBusy } from '../sessions/new-turn.ts';
import { isPurging } from '../sessions/purge.ts';
import { MESSAGES, SESSIONS, type SessionRecord } from '../sessions/records.ts';
import type { TurnPlan } from './accept.ts';
import { CHAT } from './job.ts';
import type { UiChatBody } from './ui-contract.ts';
import { findReplaced, type Replaced } from './ui-replaced.ts';

/** Maximum wait for a stopped turn to store its output or for a deletion, and how often to look, in milliseconds. */
const MAX_CLOSING_MS = 5000;
const LOOK_EVERY_MS = 100;
/** A turn that was stopped longer ago has no worker. */
const CLOSED_AFTER_MS = 120_000;

/** Where the next turn of a chat goes. */
export interface UiTurn {
  /** Undefined: the turn begins a session. */
  readonly session: SessionRecord | undefined;
  /** Undefined: the turn follows the stored ones. */
  readonly replaced: Replaced | undefined;
  readonly ids: Pick<TurnPlan, 'questId' | 'newSessionId'>;
}

/** The chats of `useChat`: each is a session. */
export interface UiChats {
  /**
   * Chooses the session and the id of the next turn, and finds the messages that it replaces. Two turns that begin at once
   * get the same id, or begin the same session, so that only one can be stored. Waits for a stopped turn to store its output.
   * @throws ApiError 404 for a session that the user may not edit; 409 while a turn runs; 422 for an unknown message.
   */
  next(userId: string, body: UiChatBody): Promise<UiTurn>;
  /**
   * Returns the session of a chat that the user may read or, with `edit`, edit; `new` for a name without a session;
   * undefined for the id of a session that is unknown to the user.
   */
  find(userId: string, chatId: string, use: 'read' | 'edit'): Promise<SessionRecord | 'new' | undefined>;
  /** Returns the turn of a session whose messages are not stored yet. */
  findUnstored(sessionId: string): Promise<QuestRecord | undefined>;
  /** Returns the running turn of a chat, as `find`. */
  findRunning(userId: string, chatId: string, use: 'read' | 'edit'): Promise<QuestRecord | undefined>;
}

export function createUiChats({
  store,
  queue,
  clock,
  ids,
}: {
  readonly store: Store;
  readonly queue: Pick<JobQueue, 'findKeys'>;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'next'>;
}): UiChats {
  const sessions = store.collection(SESSIONS);
  const quests = store.collection(QUESTS);
  const messages = store.collection(MESSAGES);

  const isBusy = async (sessionId: string): Promise<boolean> => {
    const live = await quests.find({ sessionId, liveSince: { gte: 0 } }, { limit: 10 });
    // A waiting turn that was stopped stays live until its worker has closed it.
    return live.some((quest) => !hasEnded(quest));
  };

  const findClosing = async (sessionId: string): Promise<QuestRecord | undefined> => {
    const since = clock.now() - CLOSED_AFTER_MS;
    const closing = await quests.find({ sessionId, ...CLOSING }, { limit: 100 });
    return closing.find(({ kind, updatedAt }) => kind === CHAT && updatedAt >= since);
  };

  const findLive = async (sessionId: string): Promise<QuestRecord | undefined> => {
    const running = await quests.find({ sessionId, liveSince: { gte: 0 } }, { limit: 10 });
    return running.find(({ kind }) => kind === CHAT);
  };

  const find: UiChats['find'] = async (userId, chatId, use) => {
    const mayUse = use === 'edit' ? canEditSession(userId) : canReadSession(userId);
    const sessionId = getSessionId(userId, chatId);
    const session = await sessions.get(sessionId, mayUse);
    return session ?? (sessionId === chatId ? undefined : 'new');
  };

  const requireFree = async (sessionId: string): Promise<void> => {
    if (await isBusy(sessionId)) throw sessionBusy();
    await waitWhile(async () => (await findClosing(sessionId)) !== undefined, sessionBusy);
  };

  /** Waits at most `MAX_CLOSING_MS`. @throws the error after that. */
  const waitWhile = async (isSo: () => Promise<boolean>, toError: () => ApiError): Promise<void> => {
    for (let waited = 0; await isSo(); waited += LOOK_EVERY_MS) {
      if (waited >= MAX_CLOSING_MS) throw toError();
      await new Promise<void>((resolve) => {
        clock.timer(LOOK_EVERY_MS, resolve);
      });
    }
  };

  /** The id names a hold, so it differs between sessions that had the same id one after the other. */
  const nextQuestId = async ({ id: sessionId, firstCreated }: SessionRecord): Promise<string> => {
    const [last] = await messages.find(
      { sessionId },
      { order: { field: 'createdAt', direction: 'desc' }, limit: 1 },
    );
    // A stopped turn leaves no message: the next attempt follows it.
    for (let attempt = 0; ; attempt += 1) {
      const before = [last?.questId ?? '', last?.createdAt ?? 0];
      const id = toId(['turn', sessionId, firstCreated, ...before, attempt]);
      const quest = await quests.get(id);
      if (quest === undefined) return id;
      if (!hasEnded(quest)) throw sessionBusy();
    }
  };

  return {
    find,

    findUnstored: async (sessionId) => (await findLive(sessionId)) ?? findClosing(sessionId),

    async next(userId, body) {
      const { id: chatId, trigger, messageId } = body;
      const found = await find(userId, chatId, 'edit');
      if (found === undefined) throw notFound('Session');
      const newSessionId = getSessionId(userId, chatId);
      if (found === 'new') await waitWhile(() => isPurging(queue, newSessionId), deletionRuns);
      await requireFree(newSessionId);
      const isPlain = trigger === 'submit-message' && typeof messageId !== 'string';
      const replaced = isPlain ? undefined : await findReplaced(messages, newSessionId, body);
      // Of two first turns, one can store the session.
      const questId = found === 'new' ? ids.next() : await nextQuestId(found);
      return { session: found === 'new' ? undefined : found, replaced, ids: { questId, newSessionId } };
    },

    async findRunning(userId, chatId, use) {
      const found = await find(userId, chatId, use);
      return found === undefined || found === 'new' ? undefined : findLive(found.id);
    },
  };
}

/** An id of ours names a session. Any other text is a name of the user's own, which no other user can reach. */
function getSessionId(userId: string, chatId: string): string {
  return isId(chatId) ? chatId : toId(['chat', userId, chatId]);
}

function toId(of: readonly (string | number)[]): string {
  return hashSecret(JSON.stringify(of)).slice(0, 24);
}

function deletionRuns(): ApiError {
  return new ApiError(409, 'The deleted conversation with this id is not yet removed. Try again shortly.');
}
