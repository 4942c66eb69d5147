import { describe, expect, it } from 'vitest';
import type { GenerateRequest } from '../ports/models.ts';
import { ApiError } from '../shared/errors.ts';
import {
  capWithBudget,
  defaultOutputCap,
  getInputLimit,
  payWithin,
  taskEffort,
  taskOutputCap,
  withinModel,
} from './output-cap.ts';

const plain = { contextWindow: 1_000_000, maxOutputTokens: 64_000 };
const thinker = { ...plain, supportsThinking: true };
const quiet = { ...thinker, reasoningEfforts: ['none', 'low'] } as const;

describe('default output limit', () => {
  it.each([
    ['an answer', plain, undefined, 4096],
    ['reasoning', thinker, undefined, 32_768],
    ['reasoning at an effort', quiet, 'low', 32_768],
    ['reasoning at no named effort', quiet, undefined, 32_768],
    ['an answer at an effort without reasoning', quiet, 'none', 4096],
    ['reasoning of a model that always reasons', thinker, 'none', 32_768],
    ['reasoning of a model without that effort', { ...thinker, reasoningEfforts: ['low'] }, 'none', 32_768],
    ['its own limit', { ...thinker, defaultMaxTokens: 70 }, undefined, 70],
    ['its own limit within its maximum', { ...plain, defaultMaxTokens: 70_000 }, undefined, 64_000],
    ['its maximum', { ...thinker, maxOutputTokens: 900 }, undefined, 900],
    ['a quarter of its window', { ...thinker, contextWindow: 50_001 }, undefined, 12_500],
    ['an answer in a small window', { ...thinker, contextWindow: 8000 }, undefined, 4096],
    ['reasoning in an unknown window', { ...thinker, contextWindow: 0 }, undefined, 32_768],
    ['an answer in the smallest window', { ...thinker, contextWindow: 1 }, undefined, 4096],
  ] as const)('has room for %s', (_, info, effort, expected) => {
    expect(defaultOutputCap(info, effort)).toBe(expected);
  });

  it('has room for a budget of reasoning and an answer', () => {
    expect(capWithBudget(plain, 0)).toBe(4096);
    expect(capWithBudget(plain, 1000)).toBe(5096);
    expect(capWithBudget(plain, 63_000)).toBe(64_000);
    expect(capWithBudget(thinker, 1000)).toBe(32_768);
    expect(capWithBudget(quiet, 1000, 'none')).toBe(5096);
  });

  it('has room for a small task and its reasoning', () => {
    expect(taskOutputCap(plain, 50)).toBe(50);
    expect(taskOutputCap(thinker, 50)).toBe(8242);
    expect(taskOutputCap({ ...thinker, maxOutputTokens: 900 }, 50)).toBe(900);
  });
});

describe('requested output limit', () => {
  it.each([
    [0, 100, 1],
    [1.9, 100, 1],
    [7.9, 100, 7],
    [100, 100, 100],
    [101, 100, 100],
    [5, 1, 1],
    [101, 0, 101],
  ])('of %d is within a maximum of %d: %d', (tokens, maxOutputTokens, expected) => {
    expect(withinModel({ maxOutputTokens }, tokens)).toBe(expected);
  });
});

describe('input limit', () => {
  it.each([
    [1000, 300, 700],
    [1000, 900, 250],
    [1002, 1002, 250],
    [1, 0, 1],
    [0, 300, Number.POSITIVE_INFINITY],
  ])('of a window of %d with an output of %d: %d', (contextWindow, maxTokens, expected) => {
    expect(getInputLimit({ contextWindow }, maxTokens)).toBe(expected);
  });
});

describe('effort of a small task', () => {
  it('is low where the model supports that', () => {
    expect(taskEffort({ reasoningEfforts: ['low', 'high'] })).toEqual({ reasoningEffort: 'low' });
    expect(taskEffort({ reasoningEfforts: ['high'] })).toEqual({});
    expect(taskEffort({})).toEqual({});
  });
});

describe('limit that the credit does not cover', () => {
  const request = (more: object = {}) =>
    ({ model: 'm', messages: [], maxTokens: 20_001, ...more }) as unknown as GenerateRequest;
  const refusal = new ApiError(422, 'Insufficient credits.', { code: 'insufficient_credits' });

  /** Pays for at most so many tokens. Returns the tried limits and the outcome. */
  async function pay(most: number, asked: GenerateRequest, isCapNamed = false, error: Error = refusal) {
    const tried: number[] = [];
    const outcome = await payWithin(asked, isCapNamed, async ({ maxTokens }) => {
      tried.push(maxTokens);
      if (maxTokens > most) throw error;
      return 'paid';
    }).catch((thrown: unknown) => thrown);
    return { tried, outcome };
  }

  it('is halved until it is covered', async () => {
    const asked = request();
    expect(await pay(20_001, asked)).toEqual({ tried: [20_001], outcome: { money: 'paid', request: asked } });
    expect(await pay(6000, asked)).toEqual({
      tried: [20_001, 10_000, 5000],
      outcome: { money: 'paid', request: { ...asked, maxTokens: 5000 } },
    });
  });

  it('is at least that of an ordinary answer', async () => {
    const { tried, outcome } = await pay(0, request());
    expect([tried, outcome]).toEqual([[20_001, 10_000, 5000, 4096], refusal]);
  });

  it.each([
    ['that the request names', request(), true, refusal],
    ['of a request with a budget of reasoning', request({ thinking: { budgetTokens: 10 } }), false, refusal],
    ['after another refusal', request(), false, new ApiError(422, 'No.', { code: 'model_unavailable' })],
    ['after another failure', request(), false, new Error('away')],
    [
      'after a failure with the code of a refusal',
      request(),
      false,
      Object.assign(new Error('away'), { code: 'insufficient_credits' }),
    ],
  ])('remains %s', async (_, asked, isCapNamed, error) => {
    expect(await pay(0, asked, isCapNamed, error)).toEqual({ tried: [20_001], outcome: error });
  });
});
