import { setImmediate as turn } from 'node:timers/promises';
import type { TextExtractor } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createChatApp, silent } from '../support/chat.ts';
import { createScriptedProvider } from '../support/model.ts';
import { createTestApp } from '../support/test-app.ts';

async function setUp() {
  const ended: string[] = [];
  const dismissed: string[] = [];
  // What ends later takes less time: its order shows what is waited for.
  const end = async (name: string, turns: number): Promise<void> => {
    for (let count = 0; count < turns; count += 1) await turn();
    ended.push(name);
  };
  const provider = { ...createScriptedProvider(silent), close: () => end('provider', 5) };
  const extractor = {
    ...{ reads: () => false, extract: async () => ({ text: '' }) },
    close: () => end('extractor', 5),
  } as Partial<TextExtractor> as TextExtractor;
  const app = await createTestApp({
    models: [provider],
    extractors: [extractor],
    services: (own) => ({
      ...own,
      questEvents: { ...own.questEvents, dismiss: () => dismissed.push('quests') },
      liveTails: { ...own.liveTails, dismiss: () => dismissed.push('events') },
      streams: { ...own.streams, drain: (timeoutMs) => end(`streams after ${timeoutMs} ms`, 80) },
      authenticator: { ...own.authenticator, close: () => end('authenticator', 20) },
      settlementRetries: { ...own.settlementRetries, flush: () => end('settlements', 40) },
    }),
  });
  return { app, ended, dismissed };
}

describe('shutdown of an API', () => {
  it('ends streams first, then settlements, credentials and ports, and waits for each', async () => {
    const { app, ended } = await setUp();
    await app.api.close();
    expect(ended.slice(0, 3)).toEqual(['streams after 0 ms', 'settlements', 'authenticator']);
    expect(ended.slice(3).sort()).toEqual(['extractor', 'provider']);
  });

  it('that drains waits 10 seconds for streams by default, and ends no port', async () => {
    const { app, ended } = await setUp();
    await app.api.drain();
    await app.api.drain(7);
    expect(ended).toEqual(['streams after 10000 ms', 'streams after 7 ms']);
  });

  it('lets those go who wait for quests and events', async () => {
    const { app, dismissed } = await setUp();
    await app.api.start();
    await app.api.drain();
    expect(dismissed).toEqual(['quests', 'events']);
  });

  it('that drains waits for running work', async () => {
    const app = await createChatApp({ onCall: silent });
    await app.chat({ message: 'Hi' });
    await app.settle();
    let isDrained = false;
    const drained = app.api.drain(1000).then(() => {
      isDrained = true;
    });
    await app.clock.advance(999);
    await app.settle();
    expect(isDrained).toBe(false);
    for (let step = 0; step < 20; step += 1) await app.clock.advance(100);
    await drained;
    expect(app.calls[0]?.stopped).toBe(true);
  });

  it('ends a worker that began with the first accepted job', async () => {
    const app = await createChatApp({ started: false, worker: true });
    const { body } = await app.chat({ message: 'Hi' });
    await app.settle();
    expect(await app.poll(body.id)).toMatchObject({ status: 'done' });
    await app.api.close();
  });

  it('leaves jobs that are accepted later to another process', async () => {
    const app = await createChatApp({ started: false, worker: true });
    await app.api.close();
    await app.services.queue.enqueue({ kind: 'chat', payload: {}, key: 'late' });
    await app.settle();
    expect(await app.services.queue.counts()).toMatchObject({ ready: 1, leased: 0 });
  });
});

describe('periodic work of an API', () => {
  it('looks for forgotten holds every minute, and for old idempotency keys every 10 minutes', async () => {
    const sweeps = { holds: 0, keys: 0 };
    const app = await createTestApp({
      services: (own) => ({
        ...own,
        ledger: {
          ...own.ledger,
          sweep() {
            sweeps.holds += 1;
            return own.ledger.sweep();
          },
        },
        idempotency: {
          ...own.idempotency,
          sweep() {
            sweeps.keys += 1;
            return own.idempotency.sweep();
          },
        },
      }),
    });
    await app.api.start();
    await app.clock.advance(59_999);
    expect(sweeps).toEqual({ holds: 0, keys: 0 });
    await app.clock.advance(1);
    expect(sweeps).toEqual({ holds: 1, keys: 0 });
    for (let minute = 1; minute < 10; minute += 1) await app.clock.advance(60_000 - Number(minute === 9));
    expect(sweeps).toEqual({ holds: 9, keys: 0 });
    await app.clock.advance(1);
    expect(sweeps).toEqual({ holds: 10, keys: 1 });
    await app.api.close();
  });
});

describe('preflight of a request from any origin', () => {
  it('is allowed for the API description, with its methods and any header', async () => {
    const app = await createTestApp();
    const path = '/api/v1/openapi.json';
    const answer = await app.ask('OPTIONS', path, { credential: null });
    expect([answer.status, Object.fromEntries(answer.headers)]).toMatchObject([
      204,
      {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD, OPTIONS',
        'access-control-allow-headers': '*',
        'access-control-max-age': '86400',
      },
    ]);
    const refused = await app.ask('DELETE', path, { credential: null });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect((await app.ask('OPTIONS', '/api/v1/me')).status).toBe(405);
  });
});
