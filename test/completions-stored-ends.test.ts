import { STORED_COMPLETIONS } from '@questline/core/internal';
import { createMemoryEventLog } from '@questline/core/memory';
import type { EventLog, ModelPart, Store } from '@questline/core/ports';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { delayed } from '../packages/core/test/delayed.ts';
import { createDeferred } from './support/deferred.ts';
import { readFrames } from './support/live-events.ts';
import { createScriptedProvider, type ModelCall } from './support/model.ts';
import { createTestApp, type TestAppOptions } from './support/test-app.ts';

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
  return { app, ask: () => app.ask('POST', PATH, REQUEST) };
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
