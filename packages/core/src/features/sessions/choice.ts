import type { Call, Caller } from '../../contract/call.ts';
import { isId } from '../../contract/identifiers.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Collection } from '../../ports/store.ts';
import { ApiError, invalid, notFound } from '../../shared/errors.ts';
import { canEditSession } from './access.ts';
import type { SessionRecord } from './records.ts';
import { nameFromMessage, newSession } from './sessions.ts';

const NO_SESSION =
  'You have no session to continue. In a chat, send "newConversation": true; otherwise name the sessionId of one that you created.';

/** The session fields of a request. */
export interface SessionRequest {
  readonly sessionId?: string | null | undefined;
  readonly newConversation?: boolean | undefined;
  /** The beginning of the message, which names a new session. */
  readonly message: string;
  /** The model of the turn. */
  readonly model: string;
}

/** Returns the session that `chooseSession` will choose; undefined for a new one, and when that will reject. */
export async function peekSession(
  sessions: Collection<SessionRecord>,
  { sessionId, newConversation }: Pick<SessionRequest, 'sessionId' | 'newConversation'>,
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
 * Chooses the session of a message: the named one; otherwise a new one for an API key, and the latest one for a signed-in
 * user; `newConversation` forces a new one. Does not store a new session yet.
 * @throws ApiError 404 for a session that the caller may not edit, and when there is no latest one.
 */
export async function chooseSession(
  services: { readonly clock: Clock; readonly ids: Ids },
  sessions: Collection<SessionRecord>,
  { sessionId, newConversation, message, model }: SessionRequest,
  { caller }: Call,
): Promise<{ session: SessionRecord; isNew: boolean }> {
  const { userId } = caller;
  const used = { lastUsedModel: model, lastUpdated: services.clock.now() };
  if (typeof sessionId === 'string') {
    if (newConversation === true) throw invalid('newConversation', 'cannot be combined with sessionId');
    // One step checks access and updates the time of use.
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
  if (session === undefined) throw new ApiError(404, NO_SESSION);
  return { session, isNew: false };
}
