import { expect, it } from 'vitest';
import { readRateWindow } from './rate-window.ts';

const MINUTE = {
  ...{ 'X-RateLimit-Limit-Minute': '60', 'X-RateLimit-Remaining-Minute': '59' },
  'X-RateLimit-Reset-Minute': '1700000000',
};
const USER = { 'X-RateLimit-Limit': '5', 'X-RateLimit-Remaining': '4', 'X-RateLimit-Reset': '1700000001' };
const read = (headers: Readonly<Record<string, string>>) =>
  readRateWindow({ status: 200, headers, body: '' });

it('reads the minute of a key, else the window of a user', () => {
  const minute = { limit: '60', remaining: '59', reset: 1_700_000_000 };
  expect(read({ ...USER, ...MINUTE })).toEqual(minute);
  expect(read(USER)).toEqual({ limit: '5', remaining: '4', reset: 1_700_000_001 });
  expect(read({ 'X-RateLimit-Limit': '5' })).toEqual({ limit: '5', remaining: '0', reset: 0 });
  expect(read({})).toBeUndefined();
});
