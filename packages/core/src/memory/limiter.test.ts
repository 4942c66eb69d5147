import { createRandom } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryLimiter } from './limiter.ts';

describe('memory limiter', () => {
  it('deletes idle keys when others arrive', async () => {
    const limiter = createMemoryLimiter();
    const windows = [{ name: 'minute', limit: 60, lengthMs: 60_000 }];
    let now = 0;
    for (let key = 0; key < 50_000; key += 1) {
      await limiter.take(`key:${key}`, windows, now);
      now += 60;
    }
    // A thousand keys have an open window at any time.
    expect(limiter.size).toBeLessThan(5000);
    expect(limiter.size).toBeGreaterThanOrEqual(1000);
  });

  it('deletes a key in the millisecond in which its last window ends', async () => {
    const limiter = createMemoryLimiter();
    const windows = [{ name: 'second', limit: 1, lengthMs: 1000 }];
    await limiter.take('a', windows, 0);
    await limiter.take('b', windows, 999);
    expect(limiter.size).toBe(2);
    await limiter.take('c', windows, 1000);
    await limiter.take('d', windows, 1000);
    expect((await limiter.peek('a', windows, 0))[0]?.remaining).toBe(1);
    expect(limiter.size).toBe(3);
  });

  it('shows reported windows without taking from them', async () => {
    const limiter = createMemoryLimiter();
    const minute = { name: 'minute', limit: 1, lengthMs: 60_000 };
    const day = { name: 'day', limit: 3, lengthMs: 86_400_000 };
    await limiter.take('a', [day], 5);
    const first = await limiter.take('a', [minute], 10, { report: [day] });
    const state = { name: 'day', limit: 3, remaining: 2, resetAt: 86_400_005 };
    expect(first).toEqual({
      allowed: true,
      windows: [{ name: 'minute', limit: 1, remaining: 0, resetAt: 60_010 }, state],
    });
    const second = await limiter.take('a', [minute], 10, { report: [day] });
    expect(second).toMatchObject({ allowed: false, windows: [{ name: 'minute' }, state] });
  });

  it('takes nothing when the call is aborted', async () => {
    const limiter = createMemoryLimiter();
    const windows = [{ name: 'minute', limit: 1, lengthMs: 60_000 }];
    const signal = AbortSignal.abort(new Error('left'));
    await expect(limiter.take('a', windows, 0, { signal })).rejects.toThrow('left');
    await expect(limiter.takeAll?.([{ key: 'a', windows }], 0, { signal })).rejects.toThrow('left');
    await expect(limiter.peek('a', windows, 0, { signal })).rejects.toThrow('left');
    expect(limiter.size).toBe(0);
  });

  it('never deletes a key whose long window is open', async () => {
    const limiter = createMemoryLimiter();
    const windows = [
      { name: 'minute', limit: 60, lengthMs: 60_000 },
      { name: 'day', limit: 1, lengthMs: 86_400_000 },
    ];
    for (let key = 0; key < 1000; key += 1) await limiter.take(`key:${key}`, windows, key * 60_000);
    for (let key = 0; key < 1000; key += 1) {
      expect((await limiter.take(`key:${key}`, windows, 1000 * 60_000)).allowed).toBe(false);
    }
  });

  it('counts like a list of timestamps', async () => {
    const random = createRandom(7);
    const limiter = createMemoryLimiter();
    const windows = [
      { name: 'minute', limit: 5, lengthMs: 60 },
      { name: 'day', limit: 40, lengthMs: 1000 },
    ];
    const opened = new Map<string, { at: number; used: number }>();
    let now = 0;
    for (let step = 0; step < 5000; step += 1) {
      now += random.below(12);
      const key = `key:${random.below(3)}`;
      const slots = windows.map((window) => {
        const slot = opened.get(key + window.name);
        return slot !== undefined && now < slot.at + window.lengthMs ? slot : { at: now, used: 0 };
      });
      const isFree = windows.every((window, at) => (slots[at]?.used ?? 0) < window.limit);
      for (const [at, slot] of isFree ? slots.entries() : []) {
        slot.used += 1;
        opened.set(key + windows[at]?.name, slot);
      }
      const decision = await limiter.take(key, windows, now);
      expect(decision.allowed).toBe(isFree);
      expect(decision.windows.map(({ remaining, resetAt }) => ({ remaining, resetAt }))).toEqual(
        windows.map(({ limit, lengthMs }, at) => ({
          remaining: limit - (slots[at]?.used ?? 0),
          resetAt: (slots[at]?.at ?? 0) + lengthMs,
        })),
      );
    }
  });
});
