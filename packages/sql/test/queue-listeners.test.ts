import { describe, expect, it } from 'vitest';
import { NONE, setUpNotices, WHOLE } from './notices.ts';

describe('listeners of a queue', () => {
  it('share one subscription, which ends with the last of them', async () => {
    const { clock, open, calls, listen, enqueue } = await setUpNotices(WHOLE);
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
    const timers = clock.pending;
    second();
    // The notice that waited is dropped with the listener.
    expect(clock.pending).toBe(timers - 1);
    await clock.advance(1000);
    expect([open.count, calls.there, clock.pending]).toEqual([0, 0, 0]);
    const third = listen('there');
    await clock.advance(0);
    expect(open).toEqual({ count: 1, began: 2 });
    third();
  });

  it('subscribe again each minute while they cannot, and no more after they have stopped', async () => {
    let failures = 1;
    const { clock, open, listen } = await setUpNotices(NONE, (own) => ({
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

  it('that stop before they subscribe again leave no timer', async () => {
    const { clock, open, listen } = await setUpNotices(NONE, (own) => ({
      ...own,
      subscribe: () => Promise.reject(new Error('away')),
    }));
    const stop = listen('there');
    await clock.advance(0);
    stop();
    expect([clock.pending, open.began]).toEqual([0, 0]);
  });

  it.each(['while they subscribe', 'later'])(
    'that stop %s ignore that the subscription cannot end',
    async (when) => {
      let ends = 0;
      const { clock, listen } = await setUpNotices(NONE, (own) => ({
        ...own,
        subscribe: async () => () => {
          ends += 1;
          return Promise.reject(new Error('away'));
        },
      }));
      const stop = listen('there');
      if (when === 'later') await clock.advance(0);
      stop();
      await clock.advance(120_000);
      expect(ends).toBe(1);
    },
  );

  it('that stop while they subscribe leave no subscription', async () => {
    const { clock, open, listen } = await setUpNotices(NONE);
    listen('there')();
    await clock.advance(0);
    expect(open).toEqual({ count: 0, began: 1 });
  });
});
