import { QUESTS, SESSIONS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';

/** 10 input tokens and one output token. */
const CHARGE = 110_000;

describe('a chat of useChat whose session was deleted', () => {
  it('begins anew under the same id, and is charged', async () => {
    const app = await createChatApp({
      settings: { admin: { DefaultAPIModel: 'scripted', enforceCredits: true }, worker: { pollMs: 1000 } },
    });
    const { store } = app.services;
    const send = async (): Promise<number> => {
      const { posted } = await app.ledger.balance(app.account);
      const body = {
        id: 'a-chat',
        trigger: 'submit-message',
        messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'A question' }] }],
      };
      const response = await app.ask('POST', '/api/chat', { body });
      expect(response.status).toBe(200);
      await response.body?.cancel();
      await app.settle();
      return posted - (await app.ledger.balance(app.account)).posted;
    };
    expect(await send()).toBe(CHARGE);
    const [session] = await store.collection(SESSIONS).find({});
    await app.json('DELETE', `/api/sessions/${session?.id}`);
    await app.clock.advance(5000);
    await app.settle();
    expect(await store.collection(QUESTS).count({})).toBe(0);
    expect(await send()).toBe(CHARGE);
    expect(app.incidents).toEqual([]);
    await app.api.close();
  });
});
