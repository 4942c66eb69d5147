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
