import { type Services, toFetchHandler } from '@questline/core';
import { QUESTS, RESPONSES } from '@questline/core/internal';
import { createMemoryEventLog } from '@questline/core/memory';
import type { EventLog, ModelPart } from '@questline/core/ports';
import { createOpenAIApi } from '@questline/openai';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { type ChatApp, type ChatAppOptions, createChatApp, silent } from '../support/chat.ts';
import { NOW } from '../support/test-app.ts';
import { QUESTION } from './support-responses.ts';

const STREAM = { ...QUESTION, stream: true };
const END: readonly ModelPart[] = [
  { type: 'usage', usage: { input: 10, output: 3 } },
  { type: 'finish', reason: 'stop' },
];

const say = (text: string): ModelPart => ({ type: 'text', text });

/** A stream that is read while it is written. */
interface Reading {
  /** Absent: the answer has no head yet. */
  readonly status: number | undefined;
  readonly text: string;
  readonly isOver: boolean;
}

/** The OpenAI API in this process: a request is answered and left without a connection between. */
async function createReaders(options: ChatAppOptions = {}) {
  /** Of each tail that was opened, how often it was closed. */
  const closings: number[] = [];
  const countClosings = (tails: Services['liveTails']): Services['liveTails'] => ({
    ...tails,
    open(...given) {
      const opened = tails.open(...given);
      const at = closings.push(0) - 1;
      return {
        tail: opened.tail,
        close() {
          closings[at] = (closings[at] ?? 0) + 1;
          opened.close();
        },
      };
    },
  });
  const app = await createChatApp({
    onCall: silent,
    services: (own) => ({ ...own, liveTails: countClosings(own.liveTails) }),
    ...options,
  });
  const handle = toFetchHandler(createOpenAIApi(app.services));

  const send = async (method: string, path: string, more: RequestInit = {}): Promise<Response> => {
    const headers = {
      Authorization: `Bearer ${app.key}`,
      ...(more.body !== undefined && { 'Content-Type': 'application/json' }),
      ...(more.headers as Record<string, string>),
    };
    const request = new Request(`http://questline.test/v1${path}`, { method, ...more, headers });
    const response = await handle(request);
    if (response === undefined) throw new Error('no answer');
    return response;
  };

  const read = (answering: Promise<Response>): Reading => {
    const reading = { status: undefined as number | undefined, text: '', isOver: false };
    const follow = async (): Promise<void> => {
      const { status, body } = await answering;
      reading.status = status;
      const decoder = new TextDecoder();
      for await (const chunk of body ?? []) reading.text += decoder.decode(chunk, { stream: true });
    };
    // A reader that leaves gets an error.
    follow().then(
      () => (reading.isOver = true),
      () => (reading.isOver = true),
    );
    return reading;
  };

  return {
    ...app,
    closings,
    send,
    /** Creates a response, and reads its stream. */
    create: (more: RequestInit = {}, body: object = STREAM) =>
      read(send('POST', '/responses', { body: JSON.stringify(body), ...more })),
    /** Reads the stream of a response. */
    follow: (id: string) => read(send('GET', `/responses/resp_${id}?stream=true`)),
    async findId() {
      const [response] = await app.services.store.collection(RESPONSES).find({});
      return response?.id ?? '';
    },
  };
}

type Readers = Awaited<ReturnType<typeof createReaders>>;

async function settle({ settle: run }: ChatApp): Promise<void> {
  for (let count = 0; count < 5; count += 1) await run();
}

/** Lets readers get what was said. */
async function pass(app: ChatApp, ms = 250): Promise<void> {
  await settle(app);
  for (let left = ms; left > 0; left -= 50) await app.clock.advance(50);
  await settle(app);
}

/** Says parts one by one, each in a batch of its own. */
async function sayOneByOne(app: Readers, parts: readonly ModelPart[]): Promise<void> {
  for (const part of parts) {
    app.calls[0]?.say(part);
    await pass(app);
  }
}

async function end(app: Readers): Promise<void> {
  app.calls[0]?.say(...END);
  app.calls[0]?.end();
  await pass(app, 2000);
}

function getDeltas(text: string): readonly string[] {
  return [...text.matchAll(/^data: (.+)$/gm)].flatMap(([, json = '']) => {
    const event = JSON.parse(json) as { readonly type: string; readonly delta?: string };
    return event.type === 'response.output_text.delta' ? [event.delta ?? ''] : [];
  });
}

describe('the head of a stream', () => {
  it('comes with the first output', async () => {
    const app = await createReaders();
    const reading = app.create();
    await pass(app, 2000);
    expect(reading.status).toBeUndefined();
    await sayOneByOne(app, [say('One')]);
    expect(reading.status).toBe(200);
    await end(app);
    expect(reading.isOver).toBe(true);
    await app.clock.advance(10_000);
    expect(app.closings).toEqual([1, 1]);
  });

  it('comes after 10 seconds without output', async () => {
    const app = await createReaders();
    const reading = app.create();
    await pass(app, 9000);
    expect(reading.status).toBeUndefined();
    await pass(app, 1500);
    expect(reading.status).toBe(200);
    await sayOneByOne(app, [say('One')]);
    await end(app);
    expect(getDeltas(reading.text)).toEqual(['One']);
    expect(app.closings).toEqual([1, 1]);
  });

  it('comes at once if another reader has some output', async () => {
    const app = await createReaders();
    const headers = { 'Idempotency-Key': 'a' };
    const first = app.create({ headers });
    await settle(app);
    await sayOneByOne(app, [say('One')]);
    expect(first.status).toBe(200);
    const second = app.create({ headers });
    await settle(app);
    expect(second.status).toBe(200);
    await end(app);
    expect(second.text).toBe(first.text);
    await app.clock.advance(10_000);
    expect(app.closings).toEqual([1, 1, 1, 1]);
  });
});

describe('a reader that leaves', () => {
  it('before the first output, ends the response at once', async () => {
    const app = await createReaders();
    const leaving = new AbortController();
    app.create({ signal: leaving.signal });
    await pass(app);
    expect(app.calls).toHaveLength(1);
    leaving.abort();
    await settle(app);
    expect(app.calls[0]?.stopped).toBe(true);
    expect(await app.services.store.collection(QUESTS).get(await app.findId())).toMatchObject({
      status: 'stopped',
    });
    await app.clock.advance(15_000);
    await settle(app);
    expect(new Set(app.closings)).toEqual(new Set([1]));
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('while the response is stored, ends it at once', async () => {
    const leaving = new AbortController();
    const app = await createReaders({
      store: (store) => ({
        ...store,
        async transaction(work, options) {
          const result = await store.transaction(work, options);
          if ((await store.collection(RESPONSES).count({})) > 0) leaving.abort();
          return result;
        },
      }),
      started: false,
    });
    app.create({ signal: leaving.signal });
    await settle(app);
    expect(leaving.signal.aborted).toBe(true);
    expect(await app.services.store.collection(QUESTS).get(await app.findId())).toMatchObject({
      status: 'stopped',
    });
    await app.clock.advance(15_000);
    expect(new Set(app.closings)).toEqual(new Set([1]));
  });

  it('does not disturb the other readers', async () => {
    const app = await createReaders();
    const leaving = new AbortController();
    const headers = { 'Idempotency-Key': 'a' };
    const first = app.create({ headers });
    await settle(app);
    const second = app.create({ headers, signal: leaving.signal });
    await sayOneByOne(app, [say('One ')]);
    expect(second.status).toBe(200);
    leaving.abort();
    await settle(app);
    await sayOneByOne(app, [say('two')]);
    expect(getDeltas(first.text)).toEqual(['One ', 'two']);
    await end(app);
    expect(first.isOver).toBe(true);
    expect(app.closings).toEqual([1, 1, 1, 1]);
  });
});

describe('a stream whose events are lost', () => {
  const PIECES = ['One ', 'two ', 'three ', 'four ', 'five'];

  it('has every piece once, for readers from before and from after the loss', async () => {
    const memory = createFakeClock(NOW);
    const app = await createReaders({ eventLog: createMemoryEventLog({ clock: memory }) });
    const before = app.create();
    await settle(app);
    await sayOneByOne(app, PIECES.slice(0, 2).map(say));
    expect(getDeltas(before.text)).toEqual(['One ', 'two ']);
    const id = await app.findId();
    await app.services.eventLog.compact(id, 0);
    await app.services.eventLog.expire();
    await sayOneByOne(app, PIECES.slice(2, 4).map(say));
    const after = app.follow(id);
    await sayOneByOne(app, PIECES.slice(4).map(say));
    await end(app);
    const late = await (await app.send('GET', `/responses/resp_${id}?stream=true`)).text();
    expect(getDeltas(late)).toEqual(PIECES);
    for (const reading of [before, after]) {
      expect(reading.isOver).toBe(true);
      expect(getDeltas(reading.text)).toEqual(PIECES);
    }
    expect(before.text).toBe(late);
    expect(after.text).toBe(late);
  });

  it('has every piece once if all events are lost before its end', async () => {
    const memory = createMemoryEventLog({ clock: createFakeClock(NOW) });
    const eventLog: EventLog = {
      ...memory,
      append: async (_stream, { attempt, after, events }) => ({
        isAppended: true,
        last: after + events.length,
        attempt,
      }),
    };
    const app = await createReaders({ eventLog });
    const reading = app.create();
    await settle(app);
    await sayOneByOne(app, PIECES.map(say));
    await end(app);
    expect(reading.isOver).toBe(true);
    expect(getDeltas(reading.text)).toEqual(PIECES);
  });
});

describe('the stream of a cancelled response', () => {
  /** A response that was cancelled, and whose worker cannot settle its charge until it may. */
  async function createClosing() {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const app = await createReaders({
      ledger: (ledger) => ({
        ...ledger,
        async settle(...given) {
          await opened;
          return ledger.settle(...given);
        },
      }),
    });
    const reading = app.create({}, { ...STREAM, background: true });
    await settle(app);
    await sayOneByOne(app, [say('One ')]);
    app.calls[0]?.say(say('two'));
    await settle(app);
    const id = await app.findId();
    expect((await app.send('POST', `/responses/resp_${id}/cancel`)).status).toBe(200);
    await settle(app);
    return { app, reading, id, open };
  }

  it('waits for the output that its worker still stores', async () => {
    const { app, reading, id, open } = await createClosing();
    const other = app.follow(id);
    await pass(app, 2000);
    expect([reading.isOver, other.isOver]).toEqual([false, false]);
    open();
    await pass(app, 2000);
    for (const one of [reading, other]) {
      expect(one.isOver).toBe(true);
      expect(getDeltas(one.text)).toEqual(['One ', 'two']);
      expect(one.text).toContain('"status":"cancelled"');
    }
    const late = await (await app.send('GET', `/responses/resp_${id}?stream=true`)).text();
    expect(other.text).toBe(late);
  });

  it('shows that it lives while its worker takes long', async () => {
    const { app, id, open } = await createClosing();
    const reading = app.follow(id);
    await settle(app);
    const countComments = () => [...reading.text.matchAll(/^:/gm)].length;
    const before = countComments();
    for (let waited = 0; waited < 25_000; waited += 50) {
      await app.clock.advance(50);
      await app.settle();
    }
    expect(countComments()).toBeGreaterThan(before);
    expect(reading.isOver).toBe(false);
    open();
    for (let waited = 0; waited < 20_000; waited += 50) {
      await app.clock.advance(50);
      await app.settle();
    }
    expect(reading.isOver).toBe(true);
    expect(getDeltas(reading.text)).toEqual(['One ', 'two']);
  });
});
