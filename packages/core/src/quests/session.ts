import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
import { canEditSession } from '../sessions/access.ts';
import { MESSAGES, type MessageRecord, SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { QuestAbandoned } from './handler.ts';
import type { QuestRecord } from './records.ts';

/**
 * The session a quest works in.
 * @throws QuestAbandoned when whoever asked may work there no more.
 */
export async function sessionOf(store: Store, quest: QuestRecord): Promise<SessionRecord> {
  const session = await store.collection(SESSIONS).get(quest.sessionId, canEditSession(quest.ownerId));
  if (session === undefined) throw new QuestAbandoned('The session of this turn no longer exists.');
  return session;
}

/**
 * What was said becomes part of the session: with the quest's end, in its transaction.
 * @param answer nothing is written for undefined and ''.
 */
export async function writeMessages(
  services: { readonly clock: Clock; readonly ids: Ids },
  store: Store,
  quest: QuestRecord,
  question: string,
  answer: string | undefined,
): Promise<void> {
  const session = await store.collection(SESSIONS).get(quest.sessionId);
  if (session === undefined) return;
  const common = {
    sessionId: session.id,
    ownerId: session.ownerId,
    questId: quest.id,
    createdAt: services.clock.now(),
  };
  const said: MessageRecord[] = [{ id: services.ids.next(), role: 'user', content: question, ...common }];
  if (answer !== undefined && answer !== '') {
    said.push({ id: services.ids.next(), role: 'assistant', content: answer, ...common });
  }
  const messages = store.collection(MESSAGES);
  for (const record of said) await messages.insert(record);
}
