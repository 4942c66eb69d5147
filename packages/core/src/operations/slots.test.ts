import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { Caller, KeyCaller, TokenCaller } from '../contract/call.ts';
import type { Operation } from '../contract/operation.ts';
import { createMemoryLimiter } from '../memory/limiter.ts';
import type { RateLimiter } from '../ports/limiter.ts';
import { DEFAULT_RATE_LIMITS } from './rates.ts';
import { takeSlots } from './slots.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const KEY = { kind: 'key', keyId: 'k', userId: 'ada', requestsPerMinute: 2, requestsPerDay: 3 } as KeyCaller;
const USER = { kind: 'token', userId: 'ada', isAdmin: false } as TokenCaller;
const HOST_USER = { ...USER, isFromHost: true, requestsPerMinute: 1, requestsPerDay: 2 } as const;

function setUp(limiter: RateLimiter = createMemoryLimiter()) {
  // The start of a second, so that reset times need no rounding.
  const clock = createFakeClock();
  const limits = {
    ...DEFAULT_RATE_LIMITS,
    reads: { limit: 2, per: 'minute' },
    work: { limit: 1, per: 'minute' },
    completions: { limit: 1, per: 'hour' },
  } as const;
  /** @returns the states and the headers of the call, or the refusal. */
  const take = async (caller: Caller, rate: Operation['rate'], method = 'GET') => {
    const headers: Record<string, string> = {};
    const operation = { method, rate } as Operation;
    try {
      const states = await takeSlots(operation, { clock, limiter, limits }, caller, headers);
      return { states, headers, refusal: undefined };
    } catch (error) {
      return { states: undefined, headers, refusal: error as { status: number; headers: object } };
    }
  };
  const seconds = (ms: number): string => String((clock.now() + ms) / 1000);
  return { clock, limiter, take, seconds };
}

describe('a call with an API key', () => {
  const rate = { key: 'standard', user: 'standard' } as const;

  it('takes a slot of the minute and of the day', async () => {
    const { clock, take, seconds } = setUp();
    const headers = {
      ...{ 'X-RateLimit-Limit-Minute': '2', 'X-RateLimit-Remaining-Minute': '1' },
      ...{ 'X-RateLimit-Limit-Day': '3', 'X-RateLimit-Remaining-Day': '2' },
      ...{ 'X-RateLimit-Reset-Minute': seconds(MINUTE_MS), 'X-RateLimit-Reset-Day': seconds(DAY_MS) },
    };
    const states = [
      { name: 'minute', limit: 2, remaining: 1, resetAt: clock.now() + MINUTE_MS },
      { name: 'day', limit: 3, remaining: 2, resetAt: clock.now() + DAY_MS },
    ];
    expect(await take(KEY, rate)).toEqual({ states, headers, refusal: undefined });
    await take(KEY, rate);
    const third = await take(KEY, rate);
    expect(third.refusal).toMatchObject({ status: 429, headers: { 'Retry-After': '60' } });
    expect(third.headers).toMatchObject({
      'X-RateLimit-Remaining-Minute': '0',
      'X-RateLimit-Remaining-Day': '1',
    });
    await clock.advance(MINUTE_MS);
    expect((await take(KEY, rate)).states).toMatchObject([{ remaining: 1 }, { remaining: 0 }]);
    expect((await take(KEY, rate)).refusal).toMatchObject({
      ...{ status: 429, message: 'Rate limit exceeded: 3 requests per day allowed' },
      headers: { 'Retry-After': String((DAY_MS - MINUTE_MS) / 1000) },
    });
  });

  it('has the slots of its own key', async () => {
    const { take } = setUp();
    await take(KEY, rate);
    await take(KEY, rate);
    expect((await take({ ...KEY, keyId: 'other' }, rate)).refusal).toBeUndefined();
    expect((await take(USER, rate)).states).toMatchObject([{ remaining: 1 }]);
    expect((await take({ ...KEY, userId: 'bob' }, rate)).refusal).toMatchObject({ status: 429 });
  });

  /** A limiter that ignores `report`. */
  const createSilentLimiter = (): RateLimiter => {
    const limiter = createMemoryLimiter();
    return { ...limiter, take: (key, windows, now) => limiter.take(key, windows, now) };
  };

  it.each([
    ['reports', createMemoryLimiter],
    ['does not report', createSilentLimiter],
  ] as const)(
    'takes no slot of the day where that is exempt, if the limiter %s other windows',
    async (_name, open) => {
      const { take, seconds } = setUp(open());
      const exempt = { key: 'day-exempt', user: 'standard' } as const;
      const day = { name: 'day', limit: 3, remaining: 3 };
      const first = await take(KEY, exempt);
      expect(first.states).toMatchObject([{ name: 'minute', limit: 2, remaining: 1 }, day]);
      expect(first.headers).toMatchObject({
        ...{ 'X-RateLimit-Remaining-Minute': '1', 'X-RateLimit-Reset-Minute': seconds(MINUTE_MS) },
        ...{ 'X-RateLimit-Limit-Day': '3', 'X-RateLimit-Remaining-Day': '3' },
      });
      expect((await take(KEY, exempt)).states).toMatchObject([{ remaining: 0 }, day]);
      const third = await take(KEY, exempt);
      expect(third.refusal).toMatchObject({ status: 429, headers: { 'Retry-After': '60' } });
      expect(third.headers).toMatchObject({
        'X-RateLimit-Remaining-Minute': '0',
        'X-RateLimit-Remaining-Day': '3',
      });
    },
  );

  it('asks a limiter that reports no second time', async () => {
    const limiter = createMemoryLimiter();
    const refuse = () => Promise.reject(new Error('asked again'));
    const { take } = setUp({ take: (...given) => limiter.take(...given), peek: refuse });
    expect((await take(KEY, { key: 'day-exempt', user: 'standard' })).refusal).toBeUndefined();
  });

  it('is not counted without a limit', async () => {
    const { take, limiter } = setUp();
    const unlimited = { key: 'unlimited', user: 'standard' } as const;
    expect(await take(KEY, unlimited)).toEqual({ states: undefined, headers: {}, refusal: undefined });
    expect(limiter).toMatchObject({ size: 0 });
  });
});

describe('a call of a user', () => {
  const rate = { key: 'standard', user: 'standard' } as const;

  it('takes a slot of its class', async () => {
    const { clock, take, seconds } = setUp();
    const first = await take(USER, rate);
    expect(first.states).toEqual([
      { name: 'minute', limit: 2, remaining: 1, resetAt: clock.now() + MINUTE_MS },
    ]);
    expect(first.headers).toEqual({
      ...{ 'X-RateLimit-Limit': '2', 'X-RateLimit-Remaining': '1', 'X-RateLimit-Reset': seconds(MINUTE_MS) },
    });
    await take(USER, rate);
    const third = await take(USER, rate);
    expect(third.refusal).toMatchObject({
      status: 429,
      message: expect.stringContaining('2 requests per minute'),
    });
    expect(third.headers).toMatchObject({ 'X-RateLimit-Remaining': '0' });
    expect((await take(USER, rate, 'POST')).states).toMatchObject([{ limit: 1, remaining: 0 }]);
    expect((await take({ ...USER, userId: 'bob' }, rate)).refusal).toBeUndefined();
    await clock.advance(MINUTE_MS);
    expect((await take(USER, rate)).refusal).toBeUndefined();
  });

  it('takes a slot of the hour where the class has one', async () => {
    const { clock, take } = setUp();
    const hourly = { key: 'standard', user: 'completions' } as const;
    expect((await take(USER, hourly)).states).toMatchObject([
      { name: 'hour', resetAt: clock.now() + HOUR_MS },
    ]);
    expect((await take(USER, hourly)).refusal).toMatchObject({
      ...{ message: 'Rate limit exceeded: 1 request per hour allowed', headers: { 'Retry-After': '3600' } },
    });
  });

  it('is not counted without a limit', async () => {
    const { take, limiter } = setUp();
    const unlimited = { key: 'standard', user: 'unlimited' } as const;
    expect(await take(USER, unlimited)).toEqual({ states: undefined, headers: {}, refusal: undefined });
    expect(limiter).toMatchObject({ size: 0 });
  });

  it('also takes slots of the limits that the host sets', async () => {
    const { clock, take } = setUp();
    const unlimited = { key: 'standard', user: 'unlimited' } as const;
    expect((await take(HOST_USER, unlimited)).refusal).toBeUndefined();
    expect((await take(HOST_USER, unlimited)).refusal).toMatchObject({
      ...{ status: 429, message: 'Rate limit exceeded: 1 request per minute allowed' },
      headers: { 'Retry-After': '60' },
    });
    expect((await take({ ...HOST_USER, userId: 'bob' }, unlimited)).refusal).toBeUndefined();
    await clock.advance(MINUTE_MS);
    expect((await take(HOST_USER, rate)).states).toMatchObject([{ limit: 2, remaining: 1 }]);
    await clock.advance(MINUTE_MS);
    expect((await take(HOST_USER, rate)).refusal).toMatchObject({
      message: 'Rate limit exceeded: 2 requests per day allowed',
    });
  });

  it('takes a slot of the only limit that the host sets', async () => {
    const { take } = setUp();
    const unlimited = { key: 'standard', user: 'unlimited' } as const;
    for (const limit of [{ requestsPerMinute: 1 }, { requestsPerDay: 1 }]) {
      const caller = { ...USER, ...limit, isFromHost: true, userId: Object.keys(limit).join() } as const;
      expect((await take(caller, unlimited)).refusal).toBeUndefined();
      expect((await take(caller, unlimited)).refusal).toMatchObject({ status: 429 });
    }
  });

  it('takes none of them without an identity of the host, and asks for none without limits', async () => {
    const { take, limiter } = setUp();
    const unlimited = { key: 'standard', user: 'unlimited' } as const;
    const { isFromHost: _, ...own } = HOST_USER;
    await take(own, unlimited);
    expect((await take(own, unlimited)).refusal).toBeUndefined();
    await take({ ...USER, isFromHost: true }, unlimited);
    expect(limiter).toMatchObject({ size: 0 });
  });
});
