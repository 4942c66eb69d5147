import { createApi } from '@questline/core';
import { QUESTS } from '@questline/core/internal';
import { type Json, StorageUnavailable } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { silent } from '../support/chat.ts';
import { createOpenAIApp, type OpenAIApp, readError, untilCalled } from './support.ts';
import { createFailingStore } from './support-failing-store.ts';
import { QUESTION, readEvents } from './support-responses.ts';
import { ANSWER, callSearch, createWebSearch, sayInRounds } from './support-server-tools.ts';

const BACKGROUND = { ...QUESTION, background: true };
const INTERRUPTED = 'The response was interrupted, and its rest is lost. Please try again.';
const LEASE_MS = 1000;

const toQuestId = (id: string): string => id.slice('resp_'.length);

/** Runs the worker, and its later tries, until the response has ended. */
async function untilEnded(app: OpenAIApp, id: string) {
  for (let count = 0; count < 100; count += 1) {
    const response = await app.client.responses.retrieve(id);
    if (response.status !== 'queued' && response.status !== 'in_progress') return response;
    await app.settle();
    await app.clock.advance(1000);
  }
  throw new Error('the response has not ended');
}

/** Takes the job of a response, writes these events as its worker does, and stops there. */
async function crash({ services, clock }: OpenAIApp, id: string, events: readonly Json[]): Promise<void> {
  const [job] = await services.queue.lease({ kinds: ['response'], limit: 1, leaseMs: LEASE_MS });
  if (job === undefined) throw new Error('there is no job');
  for (let after = 0; after < events.length; after += 1000) {
    const batch = { attempt: job.fence, after, events: events.slice(after, after + 1000), keepMs: 60_000 };
    await services.eventLog.append(id, batch);
  }
  await clock.advance(LEASE_MS + 1);
}

/** The pieces of text in the order in which a reader gets them. */
async function readDeltas(app: OpenAIApp, id: string): Promise<readonly unknown[]> {
  const events = await readEvents(await app.send('GET', `/responses/${id}?stream=true`));
  return events.flatMap((event) => ('delta' in event ? [event.delta] : []));
}

const say = (text: string, at = 0): Json => ({ type: 'part', at, part: { type: 'text', text } });

describe('a response whose worker has crashed', () => {
  it.each([
    ['one part', 1, false],
    ['one part, and a stored text', 1, true],
    ['more parts than one read of the events gives', 1001, false],
  ])('fails with what its readers have seen: %s', async (_title, count, hasText) => {
    const app = await createOpenAIApp({ started: false });
    const { id } = await app.client.responses.create(BACKGROUND);
    const texts = Array.from({ length: count }, (_, at) => `${at} `);
    await crash(app, toQuestId(id), [...texts.map(say), { type: 'usage', model: 'scripted', usage: {} }]);
    if (hasText) await app.services.store.collection(QUESTS).update(toQuestId(id), { text: '0 ' });
    await app.api.start();
    expect(await untilEnded(app, id)).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: INTERRUPTED },
    });
    expect(app.calls).toHaveLength(0);
    expect(app.incidents).toEqual([]);
    expect(await readDeltas(app, id)).toEqual(texts);
  });

  it('is made again if they have seen nothing', async () => {
    const app = await createOpenAIApp({ started: false });
    const { id } = await app.client.responses.create(BACKGROUND);
    await crash(app, toQuestId(id), []);
    await app.api.start();
    expect(await untilEnded(app, id)).toMatchObject({ status: 'completed', output_text: 'Hello.' });
    expect(app.calls).toHaveLength(1);
  });

  it('is answered with the status 503', async () => {
    const app = await createOpenAIApp({ started: false });
    const answering = app.send('POST', '/responses', QUESTION, { 'Idempotency-Key': 'a' });
    const quests = app.services.store.collection(QUESTS);
    for (let count = 0; count < 50 && (await quests.count({})) === 0; count += 1) await app.settle();
    const [quest] = await quests.find({});
    await crash(app, quest?.id ?? '', [say('One')]);
    await app.api.start();
    for (let count = 0; count < 20; count += 1) {
      await app.settle();
      await app.clock.advance(500);
    }
    const answers = [
      await answering,
      await app.send('POST', '/responses', QUESTION, { 'Idempotency-Key': 'a' }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(503);
      expect(await readError(answer)).toMatchObject({ message: INTERRUPTED });
    }
    expect(await quests.get(quest?.id ?? '')).toMatchObject({ type: 'error', explanation: INTERRUPTED });
  });
});

describe('a response that failed without a reason in its output', () => {
  it.each([
    ['Lost.', 'Lost.'],
    [undefined, INTERRUPTED],
  ])('is answered with the status 503 (explanation: %s)', async (explanation, message) => {
    const app = await createOpenAIApp();
    const key = { 'Idempotency-Key': 'a' };
    const { id } = (await (await app.send('POST', '/responses', QUESTION, key)).json()) as { id: string };
    const failed = { type: 'error', output: undefined, explanation } as const;
    const promptMeta = { model: 'scripted', usage: {} };
    await app.services.store.collection(QUESTS).update(toQuestId(id), { ...failed, promptMeta });
    expect(await app.client.responses.retrieve(id)).toMatchObject({
      status: 'failed',
      error: { message },
      usage: { input_tokens: 0, output_tokens: 0 },
    });
    const repeated = await app.send('POST', '/responses', QUESTION, key);
    expect([repeated.status, (await readError(repeated)).message]).toEqual([503, message]);
  });
});

describe('the shutdown of a worker', () => {
  it('fails a response that has said something', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const { id } = await app.client.responses.create(BACKGROUND);
    await untilCalled(app);
    app.calls[0]?.say({ type: 'text', text: 'One two' });
    await app.settle();
    await app.api.close();
    expect(await app.client.responses.retrieve(id)).toMatchObject({
      status: 'failed',
      error: { message: INTERRUPTED },
    });
    expect(await readDeltas(app, id)).toEqual(['One two']);
    expect(await app.services.store.collection(QUESTS).get(toQuestId(id))).toMatchObject({
      type: 'error',
      explanation: INTERRUPTED,
    });
    expect(app.incidents).toEqual([]);
  });

  it('leaves a response that has said nothing to another worker', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const { id } = await app.client.responses.create(BACKGROUND);
    await untilCalled(app);
    await app.api.close();
    expect(app.incidents).toEqual([]);
    const other = createApi(app.services, { worker: false });
    await other.start();
    await untilCalled(app, 2);
    app.calls[1]?.say(ANSWER, { type: 'finish', reason: 'stop' });
    app.calls[1]?.end();
    expect(await untilEnded(app, id)).toMatchObject({ status: 'completed' });
    await other.close();
  });
});

describe('a store that is away', () => {
  it('delays a response that has said nothing', async () => {
    let isAway = true;
    const app = await createOpenAIApp({
      ledger: (ledger) => ({
        ...ledger,
        async hold(...given) {
          if (isAway) {
            isAway = false;
            throw new StorageUnavailable('away');
          }
          return ledger.hold(...given);
        },
      }),
    });
    const { id } = await app.client.responses.create(BACKGROUND);
    expect(await untilEnded(app, id)).toMatchObject({ status: 'completed', output_text: 'Hello.' });
    expect(app.calls).toHaveLength(1);
  });

  it('fails a response that has said something, and keeps what it has said', async () => {
    const failing = createFailingStore();
    const { web, queries } = createWebSearch();
    const inRounds = sayInRounds([{ type: 'text', text: 'Wait.' }, callSearch('c1', 'x')], [ANSWER]);
    const app = await createOpenAIApp({
      web,
      store: failing.wrap,
      onCall(call) {
        failing.failOnce(QUESTS, 'update', new StorageUnavailable('away'));
        inRounds(call);
      },
    });
    const { id } = await app.client.responses.create({ ...BACKGROUND, tools: [{ type: 'web_search' }] });
    const failed = await untilEnded(app, id);
    expect(failing.hasFailed).toBe(true);
    expect(failed).toMatchObject({ status: 'failed' });
    expect(await readDeltas(app, id)).toEqual(['Wait.']);
    expect(queries).toEqual([]);
    expect(app.calls).toHaveLength(1);
    expect(app.incidents).toMatchObject([
      { operation: 'createResponse', error: expect.any(StorageUnavailable) },
    ]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });
});

describe('a response that is cancelled', () => {
  it('before it has said anything, has no output and is no incident', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const { id } = await app.client.responses.create(BACKGROUND);
    await untilCalled(app);
    await app.client.responses.cancel(id);
    await app.calls[0]?.whenStopped;
    for (let count = 0; count < 5; count += 1) await app.settle();
    const quest = await app.services.store.collection(QUESTS).get(toQuestId(id));
    expect(quest).toMatchObject({ status: 'stopped' });
    expect(quest).not.toHaveProperty('output');
    expect(app.incidents).toEqual([]);
  });

  it('is not reported as cancelled if the store is away', async () => {
    const failing = createFailingStore();
    const app = await createOpenAIApp({ onCall: silent, store: failing.wrap });
    const { id } = await app.client.responses.create(BACKGROUND);
    await untilCalled(app);
    const isStop = ([, patch = {}]: readonly unknown[]) =>
      (patch as { readonly status?: string }).status === 'stopped';
    failing.failOnce(QUESTS, 'update', new StorageUnavailable('away'), isStop);
    expect((await app.send('POST', `/responses/${id}/cancel`)).status).toBe(503);
    expect(await app.client.responses.cancel(id)).toMatchObject({ status: 'cancelled' });
  });

  it('keeps its text while it runs', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const { id } = await app.client.responses.create(BACKGROUND);
    await untilCalled(app);
    app.calls[0]?.say({ type: 'text', text: 'One two' });
    await app.settle();
    await app.clock.advance(5000);
    await app.settle();
    const quest = await app.services.store.collection(QUESTS).get(toQuestId(id));
    expect(quest).toMatchObject({ status: 'running', text: 'One two' });
    await app.client.responses.cancel(id);
  });
});
