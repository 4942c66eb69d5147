import { MESSAGES } from '@questline/core/internal';
import type { TestApp } from '../support/test-app.ts';

/** The quest of the messages. */
export const QUEST = 'e'.repeat(24);

/** A session with a question and an answer. */
export async function createAnsweredSession({ ask, issue, services, user, clock }: TestApp): Promise<string> {
  const { key } = await issue({ scopes: ['notebooks:write'] });
  const made = await ask('POST', '/api/v1/sessions', { body: { name: 'Talk' }, credential: key });
  const { id: sessionId } = (await made.json()) as { id: string };
  const messages = services.store.collection(MESSAGES);
  const common = { sessionId, ownerId: user.id, questId: QUEST, createdAt: clock.now() };
  await messages.insert({ ...common, id: '1'.repeat(24), role: 'user', content: 'Hi' });
  await messages.insert({ ...common, id: '2'.repeat(24), role: 'assistant', content: 'Hello.' });
  return sessionId;
}
