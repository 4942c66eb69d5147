import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import { createMemoryLimiter } from '../memory/limiter.ts';
import { type AdminSettings, DEFAULT_ADMIN_SETTINGS } from './admin-settings.ts';
import { createPaidCalls, DEFAULT_PAID_CALLS_PER_DAY } from './paid-calls.ts';

const DAY_MS = 24 * 3_600_000;

function setUp(perDay?: number | null, { isCached = true, enforceCredits = false } = {}) {
  const clock = createFakeClock();
  const settings: AdminSettings = { ...DEFAULT_ADMIN_SETTINGS, enforceCredits };
  const limiter = createMemoryLimiter();
  const current = () => (isCached ? settings : Promise.resolve(settings));
  const adminSettings = { current, set: () => Promise.resolve() };
  const calls = createPaidCalls({ limiter, clock, adminSettings, perDay });
  const take = async (times: number, userId = 'ada') => {
    for (let time = 0; time < times; time += 1) await calls.take(userId);
  };
  return { clock, limiter, take };
}

it.each([true, false])('limits the paid calls of a user per day (settings at hand: %s)', async (isCached) => {
  const { clock, limiter, take } = setUp(2, { isCached });
  await take(2);
  const day = { name: 'day', limit: 2, lengthMs: DAY_MS };
  expect(await limiter.peek('paid:ada', [day], clock.now())).toMatchObject([{ remaining: 0 }]);
  await expect(take(1)).rejects.toMatchObject({
    ...{ status: 429, message: 'Daily limit exceeded: 2 paid requests per day allowed' },
    headers: { 'Retry-After': '86400' },
  });
  await take(2, 'bob');
  await clock.advance(DAY_MS - 1);
  await expect(take(1)).rejects.toMatchObject({ headers: { 'Retry-After': '1' } });
  await clock.advance(1);
  await take(2);
});

it.each([true, false])('counts none while credits are enforced (settings at hand: %s)', async (isCached) => {
  const { limiter, take } = setUp(1, { isCached, enforceCredits: true });
  await take(3);
  expect(limiter.size).toBe(0);
});

it.each([null, 0])('has no limit with %s', async (perDay) => {
  const { limiter, take } = setUp(perDay);
  await take(3);
  expect(limiter.size).toBe(0);
});

it('has a limit without a setting', async () => {
  const { take } = setUp();
  await take(DEFAULT_PAID_CALLS_PER_DAY);
  await expect(take(1)).rejects.toMatchObject({ status: 429 });
});
