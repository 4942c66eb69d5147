import type { Call, Caller } from '../call.ts';
import { invalid, notFound } from '../errors.ts';
import { isId } from '../http/identifiers.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Collection } from '../ports/store.ts';
import { canEditSession } from './access.ts';
import type { SessionRecord } from './records.ts';
import { nameFromMessage, newSession } from './sessions.ts';

/** What a request says about the session it belongs to. */
export interface SessionWish {
  readonly sessionId?: string | null | undefined;
  readonly newConversation?: boolean | undefined;
  /** A new session is named by its beginning. */
  readonly message: string;
  /** The model that will work in it. */
  readonly model: string;
}

/** The session that `chooseSession` will find, as it stands; undefined for a new one, and where that will refuse. */
export async function peekSession(
  sessions: Collection<SessionRecord>,
  { sessionId, newConversation }: Pick<SessionWish, 'sessionId' | 'newConversation'>,
  caller: Caller,
): Promise<SessionRecord | undefined> {
  const { userId } = caller;
  if (typeof sessionId === 'string') {
    return isId(sessionId) ? sessions.get(sessionId, canEditSession(userId)) : undefined;
  }
  return caller.kind === 'key' || newConversation === true ? undefined : latestSession(sessions, userId);
}

async function latestSession(
  sessions: Collection<SessionRecord>,
  userId: string,
): Promise<SessionRecord | undefined> {
  const [latest] = await sessions.find(
    { ownerId: userId },
    { order: { field: 'lastUpdated', direction: 'desc' }, limit: 1 },
  );
  return latest;
}

/**
 * The session a message belongs to: the named one; without a name a new one for a key, the latest one for a signed-in
 * user; `newConversation` forces a new one. A new one is not written down yet.
 * @throws ApiError 404 for a session the caller may not edit, and when there is no latest one.
 */
export async function chooseSession(
  services: { readonly clock: Clock; readonly ids: Ids },
  sessions: Collection<SessionRecord>,
  { sessionId, newConversation, message, model }: SessionWish,
  { caller }: Call,
): Promise<{ session: SessionRecord; isNew: boolean }> {
  const { userId } = caller;
  const used = { lastUsedModel: model, lastUpdated: services.clock.now() };
  if (typeof sessionId === 'string') {
    if (newConversation === true) throw invalid('newConversation', 'does not go together with sessionId');
    // One step finds out whether the session may be used, and notes that it was.
    const session = isId(sessionId)
      ? await sessions.update(sessionId, used, canEditSession(userId))
      : undefined;
    if (session === undefined) throw notFound('Session');
    return { session, isNew: false };
  }
  if (caller.kind === 'key' || newConversation === true) {
    const name = nameFromMessage(message);
    const session = newSession(services, userId, name);
    return { session: { ...session, automaticName: name, lastUsedModel: model }, isNew: true };
  }
  const latest = await latestSession(sessions, userId);
  const session = latest && (await sessions.update(latest.id, used, canEditSession(userId)));
  if (session === undefined) throw notFound('Session');
  return { session, isNew: false };
}
