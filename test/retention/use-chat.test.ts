import { applyRetention, MESSAGES, QUESTS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { type ChatApp, createChatApp } from '../support/chat.ts';
import { NOW } from '../support/test-app.ts';

const DAY_MS = 86_400_000;

/** Sends a message of `useChat`. @returns the id of its turn. */
async function send(app: ChatApp, text: string): Promise<string> {
  const body = {
    id: 'a-chat',
    trigger: 'submit-message',
    messages: [{ id: text, role: 'user', parts: [{ type: 'text', text }] }],
  };
  const response = await app.ask('POST', '/api/chat', { body });
  expect(response.status).toBe(200);
  await response.body?.cancel();
  const [quest] = await app.services.store.collection(QUESTS).find({ status: 'pending' });
  return quest?.id ?? '';
}

describe('turns of useChat, whose ids follow from the last message and name their holds', () => {
  it('keeps a stopped turn until a message follows it, so that its id is not used again', async () => {
    const app = await createChatApp({ started: false, settings: { retention: { quests: 1, messages: 1 } } });
    const { store } = app.services;
    const quests = store.collection(QUESTS);
    const old = { createdAt: NOW - 3 * DAY_MS, updatedAt: NOW - 2 * DAY_MS };
    const run = () => applyRetention(app.services, { isDryRun: false });

    const first = await send(app, 'A question');
    await app.json('POST', `/api/v1/quests/${first}/cancel`);
    // Its worker has closed it.
    await quests.update(first, { ...old, liveSince: undefined });
    await run();
    const second = await send(app, 'Another question');
    expect(second).not.toBe(first);

    await quests.update(second, { status: 'done', liveSince: undefined, ...old });
    const { sessionId = '', ownerId = '' } = (await quests.get(second)) ?? {};
    const said = { sessionId, ownerId, role: 'assistant', content: 'text', questId: second } as const;
    await store.collection(MESSAGES).insert({ id: 'm', ...said, createdAt: old.updatedAt });
    await run();
    expect(await quests.count({})).toBe(0);
    const third = await send(app, 'A third question');
    expect([first, second]).not.toContain(third);
    await app.api.close();
  });
});
