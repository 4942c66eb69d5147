import { isId } from '../../contract/identifiers.ts';
import type { Store } from '../../ports/store.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import { hasEnded } from '../../runs/transitions.ts';
import { notFound } from '../../shared/errors.ts';
import { hashSecret } from '../../shared/secrets.ts';
import { canEditSession, canReadSession } from '../sessions/access.ts';
import { sessionBusy } from '../sessions/new-turn.ts';
import { MESSAGES, SESSIONS, type SessionRecord } from '../sessions/records.ts';
import type { TurnIds } from './accept.ts';
import { CHAT } from './job.ts';

/** Where the next turn of a chat goes. */
export interface UiTurn {
  /** Undefined: the turn begins a session. */
  readonly session: SessionRecord | undefined;
  readonly turnIds: TurnIds;
}

/** The chats of `useChat`: each is a session. */
export interface UiChats {
  /**
   * Chooses the session and the id of the next turn. Two turns that begin at once get the same id, so that only one can
   * be stored.
   * @throws ApiError 404 for a session that the user may not edit; 409 while a turn runs.
   */
  next(userId: string, chatId: string): Promise<UiTurn>;
  /** Returns the running turn of a chat that the user may read or, with `edit`, edit. */
  findRunning(userId: string, chatId: string, use: 'read' | 'edit'): Promise<QuestRecord | undefined>;
}

export function createUiChats(store: Store): UiChats {
  const sessions = store.collection(SESSIONS);
  const quests = store.collection(QUESTS);
  const messages = store.collection(MESSAGES);

  const isBusy = async (sessionId: string): Promise<boolean> =>
    (await quests.find({ sessionId, liveSince: { gte: 0 } }, { limit: 1 })).length > 0;

  const nextQuestId = async (sessionId: string): Promise<string> => {
    const [last] = await messages.find(
      { sessionId },
      { order: { field: 'createdAt', direction: 'desc' }, limit: 1 },
    );
    // A stopped turn leaves no message: the next attempt follows it.
    for (let attempt = 0; ; attempt += 1) {
      const id = toId(['turn', sessionId, last?.questId ?? '', last?.createdAt ?? 0, attempt]);
      const quest = await quests.get(id);
      if (quest === undefined) return id;
      if (!hasEnded(quest)) throw sessionBusy();
    }
  };

  return {
    async next(userId, chatId) {
      const sessionId = getSessionId(userId, chatId);
      const session = await sessions.get(sessionId, canEditSession(userId));
      if (session === undefined && sessionId === chatId) throw notFound('Session');
      if (await isBusy(sessionId)) throw sessionBusy();
      return { session, turnIds: { questId: await nextQuestId(sessionId), newSessionId: sessionId } };
    },
    async findRunning(userId, chatId, use) {
      const mayUse = use === 'edit' ? canEditSession(userId) : canReadSession(userId);
      const session = await sessions.get(getSessionId(userId, chatId), mayUse);
      if (session === undefined) return undefined;
      const running = await quests.find({ sessionId: session.id, liveSince: { gte: 0 } }, { limit: 10 });
      return running.find(({ kind }) => kind === CHAT);
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
