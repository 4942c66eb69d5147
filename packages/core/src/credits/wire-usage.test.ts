import { expect, it } from 'vitest';
import { wireUsage } from './wire-usage.ts';

it('counts reasoning as output', () => {
  expect(wireUsage({ input: 3, output: 5, reasoning: 7 })).toEqual({ inputTokens: 3, outputTokens: 12 });
  expect(wireUsage({ reasoning: 7 })).toEqual({ inputTokens: 0, outputTokens: 7 });
});

it('shows each count of the cache that the provider reported, 0 too', () => {
  const tokens = { inputTokens: 3, outputTokens: 5 };
  const usage = { input: 3, output: 5 };
  expect(wireUsage({ ...usage, cachedInput: 2 })).toEqual({ ...tokens, cacheReadInputTokens: 2 });
  expect(wireUsage({ ...usage, cacheWrite: 0 })).toEqual({ ...tokens, cacheCreationInputTokens: 0 });
});
