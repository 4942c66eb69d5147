import type { Publisher } from '@questline/core/ports';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSqlQueue, migrate } from '../src/index.ts';
import { SQLITE_MEMORY } from './engines.ts';

/** The delay of a notice, as a share of 25 ms. */
const [NONE, WHOLE] = [0, 255];

/** Two processes on one database, with a publisher that both share. */
async function setUp(delay: number, change: (publisher: Publisher) => Publisher = (own) => own) {
  const { database, close } = await SQLITE_MEMORY.open();
  onTestFinished(close);
  await migrate(database, { collections: [] });
  const clock = createFakeClock();
  const published: string[] = [];
  const open = { count: 0, began: 0 };
  const listeners = new Set<(message: string) => void>();
  const publisher = change({
    async publish(topic, message) {
      published.push(topic);
      for (const listener of listeners) listener(message);
    },
    async subscribe(_topic, listener) {
      listeners.add(listener);
      open.count += 1;
      open.began += 1;
      return async () => {
        listeners.delete(listener);
        open.count -= 1;
      };
    },
  });
  const ids = { ...createFakeIds(), bytes: () => Uint8Array.of(delay) };
  const [here, there] = [0, 1].map(() => createSqlQueue(database, { clock, ids, publisher }));
  if (here === undefined || there === undefined) throw new Error('no queues');
  const calls = { here: 0, there: 0 };
  const listen = (name: 'here' | 'there') =>
    (name === 'here' ? here : there).onReady(() => {
      calls[name] += 1;
    });
  let last = 0;
  const enqueue = (more: object = {}) => {
    last += 1;
    return here.enqueue({ kind: 'work', key: `k${last}`, payload: {}, ...more });
  };
  return { database, clock, here, there, published, open, calls, listen, enqueue };
}

describe('notices of a queue', () => {
  it('reach the workers of other processes up to 25 ms later, and its own only directly', async () => {
    const { clock, published, calls, listen, enqueue } = await setUp(WHOLE);
    listen('here');
    listen('there');
    await clock.advance(0);
    await enqueue();
    await clock.advance(0);
    expect([calls, published.length]).toEqual([{ here: 1, there: 0 }, 1]);
    expect(published[0]).toMatch(/jobs\.ready$/);
    await clock.advance(24);
    expect(calls.there).toBe(0);
    await clock.advance(1);
    expect(calls).toEqual({ here: 1, there: 1 });
    await clock.advance(1000);
    expect(calls).toEqual({ here: 1, there: 1 });
  });

  it('wake at once without a random delay', async () => {
    const { clock, calls, listen, enqueue } = await setUp(NONE);
    listen('there');
    await clock.advance(0);
    await enqueue();
    await clock.advance(0);
    expect(calls.there).toBe(1);
    await clock.advance(100);
    await enqueue();
    await clock.advance(0);
    expect(calls.there).toBe(2);
  });

  it('are sent at most every 25 ms, and not without need', async () => {
    const { clock, published, enqueue } = await setUp(NONE);
    for (let at = 0; at < 10; at += 1) await enqueue();
    expect(published).toHaveLength(1);
    await clock.advance(24);
    expect(published).toHaveLength(1);
    await clock.advance(1);
    expect(published).toHaveLength(2);
    await clock.advance(1000);
    expect(published).toHaveLength(2);
    await enqueue();
    expect(published).toHaveLength(3);
  });

  it('are sent for jobs that are due only: new ones, and those that return', async () => {
    const { clock, here, published, enqueue } = await setUp(NONE);
    await enqueue({ runAt: clock.now() + 1000 });
    await clock.advance(100);
    expect(published).toEqual([]);
    await enqueue();
    await clock.advance(100);
    const [job] = await here.lease({ kinds: ['work'], limit: 1, leaseMs: 1000 });
    if (job === undefined) throw new Error('no job');
    expect(await here.retry(job, { runAt: clock.now() + 1, countAttempt: false })).toBe(true);
    expect(published).toHaveLength(1);
    await clock.advance(1);
    const [again] = await here.lease({ kinds: ['work'], limit: 1, leaseMs: 1000 });
    if (again === undefined) throw new Error('no job');
    expect(await here.retry(again, { runAt: clock.now(), countAttempt: false })).toBe(true);
    expect(published).toHaveLength(2);
  });

  it('that cannot be sent fail no job', async () => {
    const { clock, enqueue } = await setUp(NONE, (own) => ({
      ...own,
      publish: () => Promise.reject(new Error('away')),
    }));
    expect(await enqueue()).toMatchObject({ added: true });
    await clock.advance(0);
  });
});

describe('listeners of a queue', () => {
  it('share one subscription, which ends with the last of them', async () => {
    const { clock, open, calls, listen, enqueue } = await setUp(WHOLE);
    const first = listen('there');
    const second = listen('there');
    await clock.advance(0);
    expect(open).toEqual({ count: 1, began: 1 });
    first();
    first();
    await clock.advance(0);
    expect(open.count).toBe(1);
    await enqueue();
    await clock.advance(0);
    second();
    await clock.advance(1000);
    // The notice that waited is dropped with the listener.
    expect([open.count, calls.there, clock.pending]).toEqual([0, 0, 0]);
    const third = listen('there');
    await clock.advance(0);
    expect(open).toEqual({ count: 1, began: 2 });
    third();
  });

  it('subscribe again each minute while they cannot, and no more after they have stopped', async () => {
    let failures = 1;
    const { clock, open, listen } = await setUp(NONE, (own) => ({
      ...own,
      subscribe(...args) {
        failures -= 1;
        return failures >= 0 ? Promise.reject(new Error('away')) : own.subscribe(...args);
      },
    }));
    const first = listen('there');
    await clock.advance(0);
    await clock.advance(59_999);
    expect(open.began).toBe(0);
    await clock.advance(1);
    expect(open.count).toBe(1);
    first();
    await clock.advance(0);
    failures = 1;
    const second = listen('there');
    second();
    await clock.advance(120_000);
    expect([open.count, open.began]).toEqual([0, 1]);
  });

  it('that stop while they subscribe leave no subscription', async () => {
    const { clock, open, listen } = await setUp(NONE);
    listen('there')();
    await clock.advance(0);
    expect(open).toEqual({ count: 0, began: 1 });
  });
});

it('needs PostgreSQL or a publisher to reach other processes', async () => {
  const { database, close } = await SQLITE_MEMORY.open();
  const options = { clock: createFakeClock(), ids: createFakeIds() };
  expect(() => createSqlQueue(database, { ...options, listen: true })).toThrow(TypeError);
  await close();
});
