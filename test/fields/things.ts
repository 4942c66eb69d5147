import { addAgent } from '../support/agents.ts';
import { PICTURE } from '../support/media.ts';
import type { TestApp } from '../support/test-app.ts';

/** An agent whose instructions reach the model. */
export async function createZoe(app: TestApp): Promise<string> {
  const id = app.services.ids.next();
  await addAgent(app, { id, name: 'Zoe', systemPrompt: 'Count zebras.' });
  return id;
}

export async function createPicture({ services, user }: TestApp): Promise<string> {
  const made = { name: 'picture.png', mimeType: 'image/png', content: PICTURE.data };
  return (await services.library.save(user.id, made)).file?.id ?? '';
}

/** Sends a request of the user without an effect on the rates of the key. */
export async function send(
  app: TestApp,
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, string>> {
  const answer = await app.ask(method, path, { credential: await app.token(), body });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  return text === '' ? {} : JSON.parse(text);
}

/** A chat turn in a session, without the answer. */
export async function chatIn(app: TestApp, sessionId: string): Promise<void> {
  const { key } = await app.issue({ scopes: ['ai:chat'] });
  const body = { sessionId, message: 'How do zebras sleep?', enableTools: true };
  const answer = await app.ask('POST', '/api/chat', { credential: key, body });
  if (!answer.ok) throw new Error(await answer.text());
}

/** A settled call of the user. */
export async function charge(app: TestApp, account: string, key: string): Promise<void> {
  const { ledger, clock } = app.services;
  const details = { operation: 'createCompletion', model: 'scripted', userId: app.user.id, keyId: app.keyId };
  const expiresAt = clock.now() + 60_000;
  await ledger.grant({ account, amount: 5_000_000, key: `grant ${key}`, reason: 'start' });
  const held = await ledger.hold({ account, amount: 5_000_000, key, expiresAt, details });
  if (held.outcome !== 'held') throw new Error(held.outcome);
  await ledger.settle(held.hold, 1_500_001, { input: 10, output: 3 });
}
