import type { Filter } from '../ports/store.ts';
import { canRead, canWrite } from '../sharing/access.ts';
import type { SessionRecord } from './records.ts';

/*
 * Who may do what with a session. Every access to a session, its messages and its quests goes through these, as guards
 * of the storage access itself.
 */

/** May see the session, its messages and its quests: the owner, and whom it is shared with. */
export function canReadSession(userId: string): Filter<SessionRecord> {
  return canRead(userId);
}

/** May say something in it, change its settings and cancel its turns: the owner, and whom it is shared with to write. */
export function canEditSession(userId: string): Filter<SessionRecord> {
  return canWrite(userId);
}

/** May delete it: nobody but the owner, ever. */
export function ownsSession(userId: string): Filter<SessionRecord> {
  return { ownerId: userId };
}
