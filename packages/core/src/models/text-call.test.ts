import { describe, expect, it } from 'vitest';
import { type Prices, priceModel } from '../credits/pricing.ts';
import type { GenerateRequest } from '../ports/models.ts';
import { isApiError } from '../shared/errors.ts';
import type { CatalogueEntry } from './catalogue.ts';
import { getMaxTokens, getReservation, getTextCallBasis } from './text-call.ts';

const prices = priceModel('text', { input: 100, output: 100 }) as Prices;

const entry = (info: object = {}, own: Prices | undefined = prices): CatalogueEntry =>
  ({
    info: { id: 'm', contextWindow: 1000, maxOutputTokens: 500, ...info },
    prices: own,
  }) as unknown as CatalogueEntry;

/** A request with an input of so many estimated tokens. */
const request = (tokens = 10, more: object = {}): GenerateRequest => ({
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(tokens * 2.5) }] }],
  maxTokens: 50,
  promptCache: {} as never,
  ...more,
});

function getRefusal(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    if (isApiError(error)) return [error.status, error.code, error.message];
  }
  return undefined;
}

describe('basis of the charge of a call', () => {
  it('is its prices, its input and its limits', () => {
    const basis = getTextCallBasis(entry(), request(), true);
    expect(basis).toEqual({
      prices,
      prompt: { characters: 25, images: 0 },
      contextWindow: 1000,
      maxTokens: 50,
    });
    expect(getMaxTokens(basis)).toBe(60);
    // One token costs 0.01 credits.
    expect(getReservation(basis)).toBe(600_000);
  });

  it('needs a price only where credits are enforced', () => {
    const free = { ...entry(), prices: undefined };
    const basis = getTextCallBasis(free, request(), false);
    expect(basis).not.toHaveProperty('prices');
    expect(getReservation(basis)).toBe(0);
    expect(getRefusal(() => getTextCallBasis(free, request(), true))).toEqual([
      422,
      'model_unavailable',
      "model: 'm' has no price, so it cannot be used while credits are metered",
    ]);
  });
});

describe('input of a call', () => {
  const tooLong = (input: number, limit: number) => [
    422,
    'context_length_exceeded',
    `The conversation is longer than the model can read: about ${input} tokens, 'm' takes at most ${limit}.`,
  ];

  it.each([
    ['fits a full window', {}, prices, 1000, true, undefined],
    ['is longer than the window', {}, prices, 1002, true, tooLong(1002, 1000)],
    ['is longer than a window where credits are not enforced', {}, prices, 1002, false, tooLong(1002, 1000)],
    ['is longer than the smallest window', { contextWindow: 1 }, prices, 2, true, tooLong(2, 1)],
    ['has no limit in an unknown window', { contextWindow: 0 }, prices, 5000, true, undefined],
    ['is within the range of known prices', {}, { ...prices, inputLimit: 20 }, 20, true, undefined],
    ['exceeds the range of known prices', {}, { ...prices, inputLimit: 20 }, 22, true, tooLong(22, 20)],
    ['needs no known price without credits', {}, { ...prices, inputLimit: 20 }, 22, false, undefined],
  ] as const)('%s', (_, info, own, tokens, isMetered, expected) => {
    expect(getRefusal(() => getTextCallBasis(entry(info, own), request(tokens), isMetered))).toEqual(
      expected,
    );
  });
});

describe('hidden reasoning of a call', () => {
  it.each([
    ['is possible for a model that reasons', { supportsThinking: true }, undefined, 200],
    ['is possible for a model with efforts', { reasoningEfforts: ['none', 'low'] }, undefined, 200],
    ['has the speed of its model', { supportsThinking: true, outputTokensPerSecond: 30 }, 'low', 30],
    [
      'is off at effort none',
      { supportsThinking: true, reasoningEfforts: ['none', 'low'] },
      'none',
      undefined,
    ],
    ['goes on at another effort', { reasoningEfforts: ['none', 'low'] }, 'low', 200],
    ['goes on where effort none is not listed', { reasoningEfforts: ['low'] }, 'none', 200],
    ['goes on where no effort is listed', { supportsThinking: true }, 'none', 200],
    ['is not possible for a model without efforts', { supportsThinking: false }, 'low', undefined],
    ['is not possible for a model of no effort', { reasoningEfforts: ['none'] }, undefined, undefined],
  ] as const)('%s', (_, info, reasoningEffort, expected) => {
    const { unseenPerSecond } = getTextCallBasis(entry(info), request(10, { reasoningEffort }), true);
    expect(unseenPerSecond).toBe(expected);
  });
});
