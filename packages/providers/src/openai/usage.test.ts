import { describe, expect, it } from 'vitest';
import { splitResponseUsage } from '../responses/usage.ts';
import { type CompletionUsage, splitCompletionUsage } from './usage.ts';

interface Counts {
  readonly input: number;
  readonly output: number;
  readonly cached?: number;
  readonly written?: number;
  readonly reasoning?: number;
  readonly total?: number;
}

const COMPLETION = ({ input, output, cached, written, reasoning, total }: Counts) =>
  splitCompletionUsage({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: total ?? null,
    prompt_tokens_details: { cached_tokens: cached ?? null, cache_write_tokens: written ?? null },
    completion_tokens_details: { reasoning_tokens: reasoning ?? null },
  });

const RESPONSE = ({ input, output, cached, written, reasoning, total }: Counts) =>
  splitResponseUsage({
    input_tokens: input,
    output_tokens: output,
    total_tokens: total ?? null,
    input_tokens_details: { cached_tokens: cached ?? null, cache_write_tokens: written ?? null },
    output_tokens_details: { reasoning_tokens: reasoning ?? null },
  });

describe.each([
  ['chat completions', COMPLETION],
  ['the Responses API', RESPONSE],
])('usage of %s', (_protocol, split) => {
  it.each<[string, Counts, number[]]>([
    [
      'in all classes',
      { input: 100, output: 30, cached: 60, written: 10, reasoning: 12 },
      [30, 60, 10, 18, 12],
    ],
    ['without details', { input: 100, output: 30 }, [100, 0, 0, 30, 0]],
    ['of one token each', { input: 1, output: 1 }, [1, 0, 0, 1, 0]],
    ['with more cached tokens than input', { input: 10, output: 3, cached: 20 }, [0, 20, 0, 3, 0]],
    ['with more reasoning than output', { input: 10, output: 3, reasoning: 5 }, [10, 0, 0, 0, 5]],
    ['with reasoning beside the output', { input: 10, output: 3, reasoning: 5, total: 18 }, [10, 0, 0, 3, 5]],
    ['with reasoning in the output', { input: 10, output: 8, reasoning: 5, total: 18 }, [10, 0, 0, 3, 5]],
    ['with a total and no reasoning', { input: 10, output: 8, reasoning: 0, total: 18 }, [10, 0, 0, 8, 0]],
  ])('is divided into the classes of prices: %s', (_title, counts, expected) => {
    const { input, cachedInput, cacheWrite, output, reasoning } = split(counts);
    expect([input, cachedInput, cacheWrite, output, reasoning]).toEqual(expected);
  });
});

describe('usage of compatible servers', () => {
  it.each<[string, CompletionUsage]>([
    ['DeepSeek', { prompt_tokens: 30, prompt_cache_hit_tokens: 10 }],
    ['Moonshot', { prompt_tokens: 30, cached_tokens: 10 }],
    ['OpenAI', { prompt_tokens: 30, prompt_tokens_details: { cached_tokens: 10 }, cached_tokens: 99 }],
  ])('has the cached tokens in the field of %s', (_vendor, usage) => {
    expect(splitCompletionUsage(usage)).toMatchObject({ input: 20, cachedInput: 10 });
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, '7', null, {}])('counts %j as nothing', (count) => {
    const usage = { prompt_tokens: count, completion_tokens: count } as unknown as CompletionUsage;
    expect(splitCompletionUsage(usage)).toMatchObject({ input: 0, output: 0 });
  });
});
