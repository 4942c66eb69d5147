import type { RateDecision, RateLimiter } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createRedisLimiter, type RedisClient } from '../src/index.ts';

const MINUTE = { name: 'minute', limit: 5, lengthMs: 60_000 };
const DAY = { name: 'day', limit: 9, lengthMs: 86_400_000 };
const NONE: RateDecision = { allowed: true, windows: [] };

/** A client whose answer is given by hand, and a fallback that notes its calls. */
function setUp(answer: (keys: number) => Promise<unknown>, isCluster = false) {
  const calls: (readonly (string | number)[])[] = [];
  const client: RedisClient = {
    isCluster,
    duplicate: () => client,
    call(_command, _script, ...parts) {
      calls.push(parts);
      return answer(Number(parts[0]));
    },
  };
  const asked: string[] = [];
  const fallback: Required<RateLimiter> = {
    async take(key) {
      asked.push(`take ${key}`);
      return NONE;
    },
    async takeAll(takes) {
      asked.push(`all ${takes.map(({ key }) => key).join(' ')}`);
      return takes.map(() => NONE);
    },
    async peek(key) {
      asked.push(`peek ${key}`);
      return [];
    },
  };
  return { calls, asked, limiter: createRedisLimiter({ client, fallback }) };
}

const two = ['1', '2'].map((key) => ({ key, windows: [MINUTE] }));

describe('a limiter on Redis', () => {
  it('sends the windows of a key, first those to take from', async () => {
    const { calls, limiter } = setUp(async () => [['0', '1', '70000', '4', '80000']]);
    expect(await limiter.take('1', [MINUTE], 0, { report: [DAY] })).toStrictEqual({
      allowed: true,
      windows: [
        { name: 'minute', limit: 5, remaining: 4, resetAt: 70_000 },
        { name: 'day', limit: 9, remaining: 5, resetAt: 80_000 },
      ],
    });
    await limiter.peek('1', [DAY], 0);
    expect(calls).toEqual([
      [1, 'questline:limiter:{1}', 2, 1, 'minute', 5, 60_000, 'day', 9, 86_400_000],
      [1, 'questline:limiter:{1}', 1, 0, 'day', 9, 86_400_000],
    ]);
  });

  it('shows no less than 0 slots, and the window that refuses', async () => {
    const { limiter } = setUp(async () => [[2, 1, 70_000, 11, 80_000]]);
    const first = setUp(async () => [[1, 5, 70_000]]);
    expect(await first.limiter.take('1', [MINUTE], 0)).toMatchObject({
      ...{ allowed: false, refusedBy: { name: 'minute', remaining: 0 } },
    });
    const day = { name: 'day', limit: 9, remaining: 0, resetAt: 80_000 };
    expect(await limiter.take('1', [MINUTE, DAY], 0)).toMatchObject({ allowed: false, refusedBy: day });
    expect((await limiter.peek('1', [MINUTE, DAY], 0))[1]).toEqual(day);
  });

  it('sends several keys at once, but not to a cluster', async () => {
    const answer = async (keys: number) => Array.from({ length: keys }, () => [0, 1, 70_000]);
    const one = setUp(answer);
    const taken = { allowed: true, windows: [{ name: 'minute', remaining: 4 }] };
    expect(await one.limiter.takeAll?.(two, 0)).toMatchObject([taken, taken]);
    const values = [1, 1, 'minute', 5, 60_000];
    expect(one.calls).toEqual([[2, 'questline:limiter:{1}', 'questline:limiter:{2}', ...values, ...values]]);
    expect([await one.limiter.takeAll?.([], 0), one.calls.length]).toEqual([[], 1]);
    const cluster = setUp(answer, true);
    expect(await cluster.limiter.takeAll?.(two, 0)).toHaveLength(2);
    expect(cluster.calls.map(([keys]) => keys)).toEqual([1, 1]);
    expect(await one.limiter.takeAll?.(two.slice(1), 0)).toMatchObject([{ allowed: true }]);
  });
});

describe('the fallback of a limiter on Redis', () => {
  it('decides while Redis is unavailable', async () => {
    const { asked, limiter } = setUp(() => Promise.reject(new Error('away')));
    expect(await limiter.take('1', [MINUTE], 0)).toBe(NONE);
    expect(await limiter.takeAll?.(two, 0)).toEqual([NONE, NONE]);
    expect(await limiter.peek('1', [MINUTE], 0)).toEqual([]);
    expect(asked).toEqual(['take 1', 'all 1 2', 'peek 1']);
  });

  it('does not decide for a call that is aborted', async () => {
    const { asked, limiter } = setUp(() => new Promise(() => undefined));
    const abort = async (call: (signal: AbortSignal) => Promise<unknown> | undefined) => {
      const leaving = new AbortController();
      const reason = new Error('left');
      const called = call(leaving.signal);
      leaving.abort(reason);
      await expect(called).rejects.toBe(reason);
      await expect(call(leaving.signal)).rejects.toBe(reason);
    };
    await abort((signal) => limiter.take('1', [MINUTE], 0, { signal }));
    await abort((signal) => limiter.takeAll?.(two, 0, { signal }));
    await abort((signal) => limiter.peek('1', [MINUTE], 0, { signal }));
    expect(asked).toEqual([]);
  });
});
