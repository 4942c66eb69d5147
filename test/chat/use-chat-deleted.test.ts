import { MESSAGES, QUESTS, SESSIONS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { type ChatApp, createChatApp } from '../support/chat.ts';

/** 10 input tokens and one output token. */
const CHARGE = 110_000;

const createApp = (): Promise<ChatApp> =>
  createChatApp({
    settings: { admin: { DefaultAPIModel: 'scripted', enforceCredits: true }, worker: { pollMs: 1000 } },
  });

async function send({ ask }: ChatApp, text: string): Promise<number> {
  const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text }] }];
  const response = await ask('POST', '/api/chat', {
    body: { id: 'a-chat', trigger: 'submit-message', messages },
  });
  await response.body?.cancel();
  return response.status;
}

async function deleteSession({ services, json }: ChatApp): Promise<void> {
  const [session] = await services.store.collection(SESSIONS).find({});
  await json('DELETE', `/api/sessions/${session?.id}`);
}

describe('a chat of useChat whose session was deleted', () => {
  it('begins anew under the same id, and is charged', async () => {
    const app = await createApp();
    const { store } = app.services;
    const getCharge = async (): Promise<number> => {
      const { posted } = await app.ledger.balance(app.account);
      expect(await send(app, 'A question')).toBe(200);
      await app.settle();
      return posted - (await app.ledger.balance(app.account)).posted;
    };
    expect(await getCharge()).toBe(CHARGE);
    await deleteSession(app);
    await app.clock.advance(5000);
    await app.settle();
    expect(await store.collection(QUESTS).count({})).toBe(0);
    expect(await getCharge()).toBe(CHARGE);
    expect(app.incidents).toEqual([]);
    await app.api.close();
  });

  it('keeps what is written before the old data is deleted', async () => {
    const app = await createApp();
    const { store } = app.services;
    await send(app, 'The old question');
    await app.settle();
    await deleteSession(app);
    const sending = send(app, 'The new question');
    await app.clock.advance(3000);
    expect(await sending).toBe(200);
    await app.settle();
    await app.clock.advance(5000);
    await app.settle();
    const messages = await store.collection(MESSAGES).find({});
    const questions = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    expect(questions).toEqual(['The new question']);
    expect(await store.collection(QUESTS).count({})).toBe(1);
    expect(app.incidents).toEqual([]);
    await app.api.close();
  });
});
