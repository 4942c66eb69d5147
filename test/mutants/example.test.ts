import { expect, test } from 'vitest';
import { isBelowLimit, resolvePositive, unused } from './example.ts';

test('a value far below the limit is below it', () => {
  expect(isBelowLimit(1)).toBe(true);
});

test('a promise of a positive number resolves', async () => {
  await expect(resolvePositive(1)).resolves.toBeUndefined();
});

test('a function that no test calls is there', () => {
  expect(unused).toBeTypeOf('function');
});
