import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSqlQueue } from '../src/index.ts';
import { SQLITE_MEMORY } from './engines.ts';
import { NONE, setUpNotices, WHOLE } from './notices.ts';

describe('notices of a queue', () => {
  it('reach the workers of other processes up to 25 ms later, and its own only directly', async () => {
    const { clock, published, calls, listen, enqueue } = await setUpNotices(WHOLE);
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
    const { clock, calls, listen, enqueue } = await setUpNotices(NONE);
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
    const { clock, published, enqueue } = await setUpNotices(NONE);
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

  it('wake once for all that come during the delay', async () => {
    const { clock, start, calls, listen, enqueue } = await setUpNotices(WHOLE);
    listen('there');
    await clock.advance(0);
    await enqueue();
    await start().enqueue({ kind: 'work', key: 'of a third', payload: {} });
    await clock.advance(1000);
    expect(calls.there).toBe(1);
  });

  it('are sent for jobs that are due only: new ones, and those that return', async () => {
    const { clock, here, published, enqueue } = await setUpNotices(NONE);
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
    const { clock, enqueue } = await setUpNotices(NONE, (own) => ({
      ...own,
      publish: () => Promise.reject(new Error('away')),
    }));
    expect(await enqueue()).toMatchObject({ added: true });
    await clock.advance(0);
  });
});

it('needs PostgreSQL or a publisher to reach other processes', async () => {
  const { database, close } = await SQLITE_MEMORY.open();
  const options = { clock: createFakeClock(), ids: createFakeIds() };
  expect(() => createSqlQueue(database, { ...options, listen: true })).toThrow(TypeError);
  await close();
});
