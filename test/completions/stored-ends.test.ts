import { STORED_COMPLETIONS, toCompletionId } from '@questline/core/internal';
import { createMemoryEventLog } from '@questline/core/memory';
import type { EventLog, ModelPart, Store } from '@questline/core/ports';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../packages/core/test/delayed.ts';
import { createDeferred } from '../support/deferred.ts';
import { readFrames } from '../support/live-events.ts';
import { createScriptedProvider, type ModelCall } from '../support/model.ts';
import { createTestApp, type TestAppOptions } from '../support/test-app.ts';

const PATH = '/api/ai/v1/completions';
const REQUEST = {
  body: { model: 'scripted', messages: [{ role: 'user', content: 'Write' }], store: true },
  headers: { 'X-Request-ID': 'r-1' },
};
const END: readonly ModelPart[] = [
  { type: 'usage', usage: { input: 5, output: 9 } },
  { type: 'finish', reason: 'stop' },
];

const answerAtOnce = (call: ModelCall): void => {
  call.say({ type: 'text', text: 'Hello' }, ...END);
  call.end();
};

/** Sees, and may delay, the updates and removals of stored completions. */
function watchStore(before: (verb: 'update' | 'take') => Promise<void> | void) {
  return (store: Store): Store => ({
    ...store,
    collection(definition) {
      const records = store.collection(definition);
      if (definition.name !== STORED_COMPLETIONS.name) return records;
      return {
        ...records,
        async update(...given) {
          await before('update');
          return records.update(...given);
        },
        async take(...given) {
          await before('take');
          return records.take(...given);
        },
      };
    },
  });
}

async function setUp(options: TestAppOptions, onCall = answerAtOnce) {
  const app = await createTestApp({ models: [createScriptedProvider(onCall)], ...options });
  const ask = (headers: object = {}) =>
    app.ask('POST', PATH, { ...REQUEST, headers: { ...REQUEST.headers, ...headers } });
  return { app, ask };
}

describe('the end of a stored completion', () => {
  it('is the last write to its record', async () => {
    let updates = 0;
    const store = watchStore(() => {
      updates += 1;
    });
    const { app, ask } = await setUp({ store });
    await (await ask()).text();
    await app.settle();
    expect(updates).toBe(1);
    await app.clock.advance(60_000);
    await app.settle();
    expect(updates).toBe(1);
  });

  it('follows no more heartbeat, also while it is being stored', async () => {
    let updates = 0;
    const stored = createDeferred<void>();
    const store = watchStore(() => {
      updates += 1;
      return stored.promise;
    });
    const { app, ask } = await setUp({ store });
    const reading = (await ask()).text();
    await app.settle();
    await app.clock.advance(15_000);
    expect(updates).toBe(1);
    stored.resolve();
    expect(await reading).toContain('[DONE]');
  });

  it('by the deletion of its record is the end of its heartbeats', async () => {
    let updates = 0;
    const store = watchStore(() => {
      updates += 1;
    });
    const { app, ask } = await setUp({ store }, (call) => call.say({ type: 'text', text: 'Hello' }));
    const reading = (await ask()).text();
    await app.settle();
    await app.services.store.collection(STORED_COMPLETIONS).take(toCompletionId(app.user.id, 'r-1'));
    await app.clock.advance(15_000);
    await reading;
    await app.settle();
    const before = updates;
    await app.clock.advance(60_000);
    expect(updates).toBe(before);
  });

  it('follows no more heartbeat when one is still being stored', async () => {
    let updates = 0;
    const stored = createDeferred<void>();
    const store = watchStore(() => {
      updates += 1;
      return updates === 1 ? stored.promise : undefined;
    });
    const calls: ModelCall[] = [];
    const { app, ask } = await setUp({ store }, (call) => void calls.push(call));
    const asking = ask();
    await app.settle();
    calls[0]?.say({ type: 'text', text: 'Hello' });
    const reading = (await asking).text();
    await app.clock.advance(15_000);
    expect(updates).toBe(1);
    calls[0]?.say(...END);
    calls[0]?.end();
    await reading;
    stored.resolve();
    await app.settle();
    await app.clock.advance(60_000);
    expect(updates).toBe(2);
  });

  it('is awaited by a shutdown until its log is complete', async () => {
    const compacted = createDeferred<void>();
    const log = createMemoryEventLog({ clock: createFakeClock() });
    let isCompacting = false;
    const eventLog: EventLog = {
      ...log,
      async compact(...given) {
        isCompacting = true;
        await compacted.promise;
        return log.compact(...given);
      },
    };
    const calls: ModelCall[] = [];
    const { app, ask } = await setUp({ eventLog }, (call) => {
      calls.push(call);
      call.say({ type: 'text', text: 'Hello' });
    });
    const reading = (await ask()).text();
    await app.settle();
    await app.clock.advance(100);
    calls[0]?.say(...END);
    calls[0]?.end();
    await reading;
    expect(isCompacting).toBe(true);
    let hasStopped = false;
    const stopping = app.api.close().then(() => {
      hasStopped = true;
    });
    await app.settle();
    expect(hasStopped).toBe(false);
    compacted.resolve();
    await stopping;
  });

  it('is stored before its client receives the last frame', async () => {
    const stored = createDeferred<void>();
    const began = createDeferred<void>();
    const store = watchStore((verb) => {
      if (verb !== 'update') return undefined;
      began.resolve();
      return stored.promise;
    });
    const { app, ask } = await setUp({ store });
    let text = '';
    const reading = (async () => {
      const body = (await ask()).body as AsyncIterable<Uint8Array> | null;
      for await (const piece of body ?? []) text += new TextDecoder().decode(piece);
    })();
    await began.promise;
    await app.settle();
    expect(text).toContain('Hello');
    expect(text).not.toContain('[DONE]');
    stored.resolve();
    await reading;
    expect(text).toContain('[DONE]');
  });

  it('comes after all of its text is in the log', async () => {
    const order: string[] = [];
    const log = createMemoryEventLog({ clock: createFakeClock() });
    const late = delayed(log, 20);
    const eventLog: EventLog = {
      ...late,
      async append(...given) {
        const result = await late.append(...given);
        order.push('text');
        return result;
      },
    };
    const store = watchStore((verb) => {
      order.push(verb);
    });
    const { app, ask } = await setUp({ store, eventLog });
    await (await ask()).text();
    await app.settle();
    expect(order.indexOf('update')).toBeGreaterThan(order.indexOf('text'));
    const headers = { 'Last-Event-ID': '0' };
    const frames = await readFrames(await app.ask('GET', `${PATH}/r-1/events`, { headers }));
    expect(frames.map(({ data }) => data.type)).toEqual(['step', 'text', 'end']);
  });

  it('without an answer frees its request id before the client hears of it', async () => {
    const taken = createDeferred<void>();
    const began = createDeferred<void>();
    const store = watchStore((verb) => {
      if (verb !== 'take') return undefined;
      began.resolve();
      return taken.promise;
    });
    const { app, ask } = await setUp({ store }, (call) => call.fail(new Error('broken')));
    let isAnswered = false;
    const answering = ask().finally(() => {
      isAnswered = true;
    });
    await began.promise;
    await app.settle();
    expect(isAnswered).toBe(false);
    taken.resolve();
    expect((await answering).status).toBe(500);
  });
});

describe('the request id of a stored completion', () => {
  it('is taken without an effect on the idempotency key of the refused request', async () => {
    const { ask } = await setUp({});
    await (await ask({ 'Idempotency-Key': 'one' })).text();
    const refused = await ask({ 'Idempotency-Key': 'two' });
    expect(refused.status).toBe(409);
    expect(await refused.json()).toMatchObject({ message: expect.stringContaining('request id exists') });
    const other = await ask({ 'Idempotency-Key': 'two', 'X-Request-ID': 'r-2' });
    expect(other.status).toBe(200);
    expect(await other.text()).toContain('Hello');
  });

  it('may have events of an earlier answer, whose readers get the new text', async () => {
    const { app, ask } = await setUp({});
    const stream = toCompletionId(app.user.id, 'r-1');
    const { eventLog } = app.services;
    const events = [{ type: 'text', text: 'Earlier' }];
    await eventLog.append(stream, { attempt: 1, after: 0, events, keepMs: 60_000 });
    await (await ask()).text();
    await app.settle();
    const headers = { 'Last-Event-ID': '1' };
    const frames = await readFrames(await app.ask('GET', `${PATH}/r-1/events`, { headers }));
    expect(frames.map(({ data }) => data)).toMatchObject([
      { type: 'reset-step', text: 'Hello' },
      { type: 'step' },
      { type: 'end', state: { text: 'Hello' } },
    ]);
  });
});
