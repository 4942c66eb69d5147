import { expect, test } from 'vitest';
import { describeValue, endAbove, isBelowLimit, resolvePositive, unused } from './example.ts';

test('a process goes on at its limit', () => {
  endAbove(10, 10);
});

test('a value far below the limit is below it', () => {
  expect(isBelowLimit(1)).toBe(true);
});

test('a promise of a positive number resolves', async () => {
  await expect(resolvePositive(1)).resolves.toBeUndefined();
});

test('functions that no test calls are there', () => {
  expect([unused, describeValue].map((one) => typeof one)).toEqual(['function', 'function']);
});
