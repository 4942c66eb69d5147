import { expect, it } from 'vitest';
import type { TokenCaller } from '../contract/call.ts';
import { ApiError } from '../shared/errors.ts';
import {
  countRequests,
  hostWindows,
  requireSlot,
  userWindow,
  writeKeyHeaders,
  writeUserHeaders,
} from './rates.ts';

const NOW = Date.UTC(2026, 5, 1);

function refusal(resetAt: number, message?: string): ApiError {
  const refusedBy = { name: 'minute', limit: 1, remaining: 0, resetAt };
  try {
    requireSlot({ allowed: false, refusedBy, windows: [refusedBy] }, NOW, message);
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error('not refused');
}

it('says how many whole seconds a caller waits, at least one', () => {
  const waits = [-1, 0, 1, 1000, 1001].map((ms) => refusal(NOW + ms).headers?.['Retry-After']);
  expect(waits).toEqual(['1', '1', '1', '1', '2']);
  expect(refusal(NOW)).toMatchObject({
    status: 429,
    message: 'Rate limit exceeded: 1 request per minute allowed',
  });
  expect(refusal(NOW, 'not today')).toMatchObject({ status: 429, message: 'not today' });
});

it('lets an allowed call pass, also one that names a full window', () => {
  const full = { name: 'day', limit: 1, remaining: 0, resetAt: NOW };
  expect(() => requireSlot({ allowed: true, refusedBy: full, windows: [] }, NOW)).not.toThrow();
  expect(() => requireSlot({ allowed: false, windows: [] }, NOW)).not.toThrow();
});

it('rounds the end of a window up to seconds', () => {
  const headers: Record<string, string> = {};
  const window = { name: 'day', limit: 5, remaining: 4, resetAt: 1001 };
  writeKeyHeaders(headers, [window]);
  expect(headers).toEqual({
    ...{ 'X-RateLimit-Limit-Day': '5', 'X-RateLimit-Remaining-Day': '4', 'X-RateLimit-Reset-Day': '2' },
  });
  const own: Record<string, string> = {};
  writeUserHeaders(own, [window]);
  expect(own).toEqual({ 'X-RateLimit-Limit': '5', 'X-RateLimit-Remaining': '4', 'X-RateLimit-Reset': '2' });
  const none: Record<string, string> = {};
  writeUserHeaders(none, []);
  expect(none).toEqual({});
});

it('has the windows that a host sets', () => {
  const user = { kind: 'token', userId: 'ada' } as TokenCaller;
  const minute = { name: 'minute', limit: 3, lengthMs: 60_000 };
  const day = { name: 'day', limit: 9, lengthMs: 86_400_000 };
  expect(hostWindows(user)).toEqual([]);
  expect(hostWindows({ ...user, requestsPerMinute: 3 })).toEqual([minute]);
  expect(hostWindows({ ...user, requestsPerDay: 9 })).toEqual([day]);
  expect(hostWindows({ ...user, requestsPerMinute: 3, requestsPerDay: 9 })).toEqual([minute, day]);
});

it('has a window of a minute or an hour for each class', () => {
  const limits = { reads: { limit: 1, per: 'minute' }, work: { limit: 2, per: 'hour' } } as never;
  expect(userWindow(limits, 'reads')).toEqual({ name: 'minute', limit: 1, lengthMs: 60_000 });
  expect(userWindow(limits, 'work')).toEqual({ name: 'hour', limit: 2, lengthMs: 3_600_000 });
});

it('names numbers of requests', () => {
  expect([countRequests(1), countRequests(2), countRequests(1, 'paid '), countRequests(0, 'paid ')]).toEqual([
    '1 request',
    '2 requests',
    '1 paid request',
    '0 paid requests',
  ]);
});
