import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import { createMemoryLimiter } from '../../memory/limiter.ts';
import type { RateLimiter } from '../../ports/limiter.ts';
import { hashSecret } from '../../shared/secrets.ts';
import { DEFAULT_SIGN_IN_LIMITS, type SignInLimit, type SignInUse, takeSlots } from './limits.ts';

function setUp(limit: SignInLimit = { limit: 2, seconds: 90 }) {
  const clock = createFakeClock();
  const memory = createMemoryLimiter();
  const keys: string[] = [];
  const limiter: RateLimiter = {
    ...memory,
    takeAll: undefined as never,
    take(key, windows, now) {
      keys.push(key);
      return memory.take(key, windows, now);
    },
  };
  const signInLimits = { ...DEFAULT_SIGN_IN_LIMITS, verifyFrom: limit, refresh: { limit: 1, seconds: 1 } };
  const take = (...uses: SignInUse[]) => takeSlots({ limiter, clock, signInLimits }, ...uses);
  return { clock, take, keys };
}

it('counts uses of each subject and kind until the window ends', async () => {
  const { clock, take } = setUp();
  await take(['verifyFrom', 'a']);
  await take(['verifyFrom', 'a']);
  const refusal = { status: 429, headers: { 'Retry-After': '90' } };
  await expect(take(['verifyFrom', 'a'])).rejects.toMatchObject(refusal);
  await take(['verifyFrom', 'b']);
  await take(['sendFrom', 'a']);
  await clock.advance(89_999);
  await expect(take(['verifyFrom', 'a'])).rejects.toMatchObject({ headers: { 'Retry-After': '1' } });
  await clock.advance(1);
  await take(['verifyFrom', 'a']);
});

it('stops at the first limit that is exceeded', async () => {
  const { take, keys } = setUp();
  await take(['refresh', 'a']);
  await expect(take(['verifyFrom', 'a'], ['refresh', 'a'], ['sendFrom', 'a'])).rejects.toMatchObject({
    status: 429,
  });
  expect(keys).toEqual([
    `sign-in:refresh:${hashSecret('a')}`,
    `sign-in:verifyFrom:${hashSecret('a')}`,
    `sign-in:refresh:${hashSecret('a')}`,
  ]);
});

it('counts clients without an address together', async () => {
  const { take } = setUp({ limit: 1, seconds: 60 });
  await take(['verifyFrom', undefined]);
  await expect(take(['verifyFrom', undefined])).rejects.toMatchObject({ status: 429 });
  await take(['verifyFrom', '']);
});

it.each([
  [1, 'second'],
  [59, '59 seconds'],
  [60, 'minute'],
  [90, '90 seconds'],
  [900, '15 minutes'],
])('names a window of %i seconds', async (seconds, words) => {
  const { take } = setUp({ limit: 1, seconds });
  await take(['verifyFrom', 'a']);
  await expect(take(['verifyFrom', 'a'])).rejects.toThrow(
    `Rate limit exceeded: 1 request per ${words} allowed`,
  );
});

it('has limits for every use without others', () => {
  expect(DEFAULT_SIGN_IN_LIMITS).toEqual({
    sendFrom: { limit: 5, seconds: 900 },
    sendTo: { limit: 1, seconds: 30 },
    sendToUnknown: { limit: 20, seconds: 3600 },
    verifyFrom: { limit: 10, seconds: 900 },
    refresh: { limit: 60, seconds: 60 },
    deviceFrom: { limit: 20, seconds: 900 },
    deviceCodeFrom: { limit: 60, seconds: 900 },
    deviceCodeBy: { limit: 20, seconds: 900 },
  });
});
