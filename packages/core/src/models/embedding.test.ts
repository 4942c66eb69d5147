import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { type EmbedResult, type ModelInfo, type ModelProvider, ProviderError } from '../ports/models.ts';
import { createCircuitBreaker } from './breaker.ts';
import { createCatalogue, type ModelCatalogue } from './catalogue.ts';
import {
  embeddingModel,
  embeddingSize,
  embedTexts,
  estimateEmbeddingTokens,
  meterEmbedding,
} from './embedding.ts';

function toModel(id: string, fields: Partial<ModelInfo> = {}): ModelInfo {
  return {
    ...{ id, name: id, type: 'embedding', provider: 'one', contextWindow: 100, maxOutputTokens: 0 },
    prices: { input: 1 },
    ...fields,
  };
}

function open(models: readonly ModelInfo[], embed?: ModelProvider['embed']): ModelCatalogue {
  const provider: ModelProvider = {
    id: 'one',
    models: () => models,
    generate: () => Promise.reject(new Error('not called')),
    ...(embed !== undefined && { embed }),
  };
  return createCatalogue({ providers: [provider], overrides: { off: { disabled: true } } });
}

const refused = (message: string, code = 'model_unavailable') =>
  expect.objectContaining({ status: 422, code, message });

describe('embedding model', () => {
  it('is found by its id', () => {
    expect(embeddingModel(open([toModel('e')]), 'e', true).info.id).toBe('e');
  });

  it('is refused by the name of the ones that exist', () => {
    const ask = (count: number) => () => {
      const models = Array.from({ length: count }, (_, at) => toModel(`e${at}`));
      embeddingModel(open([toModel('t', { type: 'text' }), ...models]), 't', true);
    };
    const start = "model: there is no embedding model 't'; ";
    expect(ask(0)).toThrow(refused(`${start}no provider with a key offers one`));
    expect(ask(2)).toThrow(refused(`${start}possible: e0, e1`));
    const ten = Array.from({ length: 10 }, (_, at) => `e${at}`).join(', ');
    expect(ask(10)).toThrow(refused(`${start}possible: ${ten}`));
    expect(ask(11)).toThrow(refused(`${start}possible: ${ten} and 1 more`));
    expect(ask(12)).toThrow(refused(`${start}possible: ${ten} and 2 more`));
  });

  it('is refused with its successor if it is retired', () => {
    const old = toModel('old', { deprecationDate: '2026-01-01', replacedBy: 'e' });
    const catalogue: ModelCatalogue = {
      ...open([toModel('e')]),
      findRetired: (id) => (id === 'old' ? old : undefined),
    };
    expect(() => embeddingModel(catalogue, 'old', true)).toThrow(
      refused("model 'old' was retired on 2026-01-01; use 'e'"),
    );
  });

  it('is refused if the host has disabled it', () => {
    expect(() => embeddingModel(open([toModel('off'), toModel('e')]), 'off', true)).toThrow(
      refused("model: 'off' is disabled", 'model_disabled'),
    );
  });

  it('needs a price while credits are metered', () => {
    const { prices: _, ...model } = toModel('e');
    const message = "model: 'e' has no price, so it cannot be used while credits are metered";
    expect(() => embeddingModel(open([model]), 'e', true)).toThrow(refused(message));
    expect(embeddingModel(open([model]), 'e', false).info.id).toBe('e');
  });
});

describe('vectors of texts', () => {
  const breaker = createCircuitBreaker(createFakeClock());
  const embed = async (answer: EmbedResult['embeddings'], dimensions?: number, signal?: AbortSignal) => {
    const calls: unknown[] = [];
    const catalogue = open([toModel('e', { providerModel: 'e-1' })], async (...given) => {
      calls.push(given);
      return { embeddings: answer, tokens: 5 };
    });
    const options = { breaker, callerId: 'user', ...(signal && { signal }) };
    const entry = embeddingModel(catalogue, 'e', true);
    return { calls, result: await embedTexts(entry, ['a', 'b'], dimensions, options) };
  };
  const broken = (message: string) => new ProviderError('malformed_answer', message);
  const missing = broken('e answered without a vector for each text');
  const others = broken('e answered vectors of other lengths, or not of numbers');

  it('are asked for by the name of the provider, with the length and the signal of the caller', async () => {
    const { signal } = new AbortController();
    const { calls, result } = await embed([[1], [2]], 1, signal);
    expect(calls).toEqual([[{ model: 'e-1', inputs: ['a', 'b'], dimensions: 1 }, { signal }]]);
    expect(result).toEqual({ embeddings: [[1], [2]], tokens: 5 });
    const plain = await embed([[1], [2]]);
    expect(plain.calls).toEqual([[{ model: 'e-1', inputs: ['a', 'b'] }, {}]]);
  });

  it.each<readonly [string, EmbedResult['embeddings'], number | undefined, ProviderError]>([
    ['too few', [[1]], undefined, missing],
    ['too many', [[1], [2], [3]], undefined, missing],
    ['empty', [[], []], undefined, missing],
    ['absent', [], undefined, missing],
    ['unequal', [[1, 2], [3]], undefined, others],
    ['shorter than asked', [[1], [2]], 2, others],
    ['no numbers', [[1], [Number.NaN]], undefined, others],
    [
      'numbers in part',
      [
        [1, 2],
        [3, Number.NaN],
      ],
      undefined,
      others,
    ],
    ['infinite', [[Number.POSITIVE_INFINITY], [1]], undefined, others],
  ])('are rejected if they are %s', async (_title, answer, dimensions, failure) => {
    await expect(embed(answer, dimensions)).rejects.toEqual(failure);
  });

  it('need a provider that makes them', async () => {
    const entry = embeddingModel(open([toModel('e')]), 'e', true);
    await expect(embedTexts(entry, ['a'], undefined, { breaker, callerId: 'user' })).rejects.toEqual(
      new ProviderError('not_configured', 'provider one has no embeddings'),
    );
  });
});

describe('size and charge of an embedding', () => {
  it('counts the characters of all texts', () => {
    expect(embeddingSize(['ab', 'c😀', ''])).toEqual({ characters: 4, images: 0 });
    expect(embeddingSize([])).toEqual({ characters: 0, images: 0 });
    expect(estimateEmbeddingTokens(['x'.repeat(60), 'x'.repeat(60)])).toBe(
      estimateEmbeddingTokens(['x'.repeat(120)]),
    );
    expect(estimateEmbeddingTokens(['x'.repeat(120)])).toBeGreaterThan(estimateEmbeddingTokens(['x']));
  });

  it('charges the reported tokens, of up to one context window for each text', () => {
    const entry = embeddingModel(open([toModel('e')]), 'e', true);
    const size = { characters: 1000, images: 0 };
    const charge = (tokens: number) => meterEmbedding(entry, 1e9, size, { embeddings: [], tokens }, 2);
    // One USD for a million tokens, 100 credits for a USD.
    expect(charge(150)).toMatchObject({ amount: 15_000, usage: { input: 150 } });
    expect(charge(200)).toMatchObject({ amount: 20_000 });
    // A provider may add a tenth.
    expect(charge(220)).toMatchObject({ amount: 22_000, reported: true });
    expect(charge(221)).toMatchObject({ reported: false, rejected: { input: 221 } });
    expect(charge(100_000).amount).toBeLessThan(10_000_000);
  });

  it('charges nothing for a model without a price', () => {
    const { prices: _, ...model } = toModel('e');
    const entry = embeddingModel(open([model]), 'e', false);
    const metered = meterEmbedding(entry, 0, { characters: 10, images: 0 }, { embeddings: [], tokens: 5 }, 1);
    expect(metered.amount).toBe(0);
  });
});
