import { QUESTS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';

describe('chat turn', () => {
  it('is acknowledged at once and polled until it ends', async () => {
    const app = await createChatApp({ started: false });
    const { status, body } = await app.chat({ message: 'Hi there' });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      status: 'queued',
      message_received: true,
      timestamp: '2026-11-21T12:00:00.000Z',
      model: 'scripted',
      tracking_info: {
        quest_id: body.id,
        check_status_url: `/api/v1/quests/${body.id}`,
        poll_url: `/api/v1/quests/${body.id}`,
      },
      sessionId: expect.stringMatching(/^[0-9a-f]{24}$/),
    });
    const pending = await app.poll(body.id);
    expect(pending).toEqual({
      id: body.id,
      sessionId: body.sessionId,
      status: 'pending',
      type: 'message',
      reply: null,
      replies: [],
      images: [],
      videos: [],
      files: [],
      toolPayloads: [],
      createdAt: '2026-11-21T12:00:00.000Z',
      updatedAt: '2026-11-21T12:00:00.000Z',
    });
    await app.api.start();
    await app.settle();
    expect(await app.poll(body.id)).toEqual({
      ...pending,
      status: 'done',
      stopReason: 'stop',
      reply: 'Hello.',
      replies: ['Hello.'],
      promptMeta: { model: 'scripted', usage: { inputTokens: 10, outputTokens: 1 }, credits: 0.11 },
    });
    expect(app.incidents).toEqual([]);
    expect(await app.ledger.balance(app.account)).toMatchObject({
      posted: 1000_000_000 - 110_000,
      held: 0,
    });
  });

  it('returns the final message with wait', async () => {
    const app = await createChatApp();
    const { status, body } = await app.chat({ message: 'Hi there', wait: true });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      status: 'done',
      stopReason: 'stop',
      message_received: true,
      timestamp: '2026-11-21T12:00:00.000Z',
      model: 'scripted',
      tracking_info: expect.anything(),
      sessionId: expect.stringMatching(/^[0-9a-f]{24}$/),
      type: 'message',
      response: 'Hello.',
      responses: ['Hello.'],
      toolPayloads: [],
      createdAt: '2026-11-21T12:00:00.000Z',
      performance: { total_ms: 0, phases: { load: 0, prompt: 0, model: 0, tools: 0, store: 0 } },
    });
    expect(app.incidents).toEqual([]);
  });

  it('measures the time of its input and of its prompt', async () => {
    let isRunning = false;
    const app = await createChatApp({
      started: false,
      services: (services) => ({
        ...services,
        async getCatalogue(payer) {
          if (isRunning) await app.clock.advance(70);
          return services.getCatalogue(payer);
        },
        promptSources: [
          async () => {
            await app.clock.advance(30);
            return [];
          },
          ...services.promptSources,
        ],
      }),
    });
    const { body } = await app.chat({ message: 'Hi there' });
    isRunning = true;
    await app.api.start();
    await app.settle();
    const quest = await app.services.store.collection(QUESTS).get(body.id);
    expect(quest).toMatchObject({ status: 'done', phases: { load: 70, prompt: 30 } });
  });
});
