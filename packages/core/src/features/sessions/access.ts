import { canRead, canWrite } from '../../access/access.ts';
import type { Filter } from '../../ports/store.ts';
import type { SessionRecord } from './records.ts';

/*
 * Access rules of sessions. Every access to a session, its messages and its quests applies them as guards
 * of the storage access itself.
 */

/** Read the session, its messages and its quests: the owner, and users with a share. */
export function canReadSession(userId: string): Filter<SessionRecord> {
  return canRead(userId);
}

/** Send messages, change settings, cancel turns: the owner, and users with a write share. */
export function canEditSession(userId: string): Filter<SessionRecord> {
  return canWrite(userId);
}

/** Delete: only the owner. */
export function ownsSession(userId: string): Filter<SessionRecord> {
  return { ownerId: userId };
}
