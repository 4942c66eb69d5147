import { MESSAGES, QUESTS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { createChatApp, sayAtOnce, silent } from '../support/chat.ts';
import { openFrames } from '../support/live-events.ts';

describe('a turn that is stopped after its charge, before its end is stored', () => {
  it('keeps its messages, and is charged once', async () => {
    let cancel = async (): Promise<void> => undefined;
    const app = await createChatApp({
      started: false,
      onCall: sayAtOnce('Hello.'),
      ledger: (ledger) => ({
        ...ledger,
        async settle(...args) {
          const settlement = await ledger.settle(...args);
          await cancel();
          return settlement;
        },
      }),
    });
    const { body } = await app.chat({ message: 'Hi' });
    cancel = async () => {
      expect((await app.json('POST', `/api/v1/quests/${body.id}/cancel`)).body.status).toBe('stopped');
    };
    await app.api.start();
    await app.settle();
    const { store } = app.services;
    expect(await store.collection(QUESTS).get(body.id)).toMatchObject({ status: 'stopped' });
    const messages = await store.collection(MESSAGES).find({ sessionId: body.sessionId });
    expect(messages.map(({ role }) => role).sort()).toEqual(['assistant', 'user']);
    const settled = await app.ledger.charges({ account: app.account }, 10);
    expect(settled.map(({ status }) => status)).toEqual(['settled']);
    expect((await app.poll(body.id)).promptMeta).toMatchObject({ credits: expect.any(Number) });
  });
});

describe('a turn that is stopped while it answers', () => {
  it('keeps the text that it charges, in its session and for readers of its events', async () => {
    const app = await createChatApp({ onCall: silent });
    const { id } = (await app.chat({ message: 'Hi' })).body;
    await app.settle();
    const [call] = app.calls;
    call?.say({ type: 'text', text: 'Half ' });
    await app.settle();
    await app.clock.advance(100);
    await app.settle();
    const reader = openFrames(await app.ask('GET', `/api/v1/quests/${id}/events`));
    expect((await reader.next())?.data).toMatchObject({ type: 'snapshot', text: 'Half ' });
    call?.say({ type: 'text', text: 'of an answer' });
    await app.settle();
    await app.clock.advance(100);
    expect((await reader.next())?.data).toEqual({ type: 'text', text: 'of an answer' });
    await app.json('POST', `/api/v1/quests/${id}/cancel`);
    await app.clock.advance(60_000);
    await app.settle();
    const rest: string[] = [];
    for (let frame = await reader.next(); frame !== undefined; frame = await reader.next()) {
      rest.push(String(frame.data.type));
    }
    expect(rest).not.toContain('snapshot');
    expect(rest.at(-1)).toBe('end');
    const messages = await app.services.store.collection(MESSAGES).find({});
    expect(messages.map(({ content }) => content)).toContain('Half of an answer');
  });
});
