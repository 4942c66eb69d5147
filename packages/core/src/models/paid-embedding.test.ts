import { describe, expect, it } from 'vitest';
import { openAccount, PAID_REQUEST } from '../../test/paid-calls.ts';
import { type Prices, priceModel } from '../credits/pricing.ts';
import type { EmbedResult, ModelProvider } from '../ports/models.ts';
import { createCircuitBreaker } from './breaker.ts';
import type { CatalogueEntry } from './catalogue.ts';
import { embedPaid, type PaidEmbeddingRequest } from './paid-embedding.ts';

/** A token costs a micro-credit. */
const PRICES = priceModel('embedding', { input: 0.01 });

type Answer = (texts: readonly string[], at: number) => EmbedResult | Promise<EmbedResult>;

const vectors = (texts: readonly string[]) => texts.map(() => [1, 0]);
const sane: Answer = (texts) => ({ embeddings: vectors(texts), tokens: texts.length });

async function setUp(answer: Answer = sane, prices: Prices | undefined | null = PRICES) {
  const account = await openAccount({ credit: 1000 });
  const calls: {
    readonly texts: readonly string[];
    readonly dimensions: unknown;
    readonly signal: unknown;
  }[] = [];
  const embed: ModelProvider['embed'] = async ({ inputs, dimensions }, { signal }) => {
    calls.push({ texts: inputs, dimensions, signal });
    return answer(inputs, calls.length - 1);
  };
  const provider = { id: 'acme', embed } as unknown as ModelProvider;
  const info = { id: 'e', type: 'embedding', contextWindow: 1000 };
  const entry = {
    ...PAID_REQUEST.entry,
    info,
    provider,
    providerModel: 'e',
    prices: prices ?? undefined,
  } as unknown as CatalogueEntry;
  const services = { ...account.services, breaker: createCircuitBreaker(account.clock) };
  const {
    amount: _,
    tokens: __,
    ...request
  } = PAID_REQUEST as typeof PAID_REQUEST & { readonly tokens?: number };
  return {
    ...{ account, calls },
    pay: (
      more: Partial<PaidEmbeddingRequest>,
      use?: (result: EmbedResult) => Promise<void>,
      signal = new AbortController().signal,
    ) => embedPaid(services, { ...request, entry, texts: ['abcd'], callerId: 'ada', ...more }, signal, use),
  };
}

const texts = (count: number) => Array.from({ length: count }, (_, at) => `t${at}`);

describe('paid embedding', () => {
  it('is one request, charged by its reported tokens', async () => {
    const { account, calls, pay } = await setUp();
    const result = await pay({ texts: texts(20), dimensions: 2 });
    expect(result).toEqual({ embeddings: vectors(texts(20)), tokens: 20, chargedTokens: 20 });
    expect(calls).toMatchObject([{ texts: texts(20), dimensions: 2, signal: expect.any(AbortSignal) }]);
    expect(await account.balance()).toMatchObject({ available: 980, held: 0 });
  });

  it('holds its estimate while its result is used', async () => {
    const { account, pay } = await setUp();
    let used: unknown;
    await pay({}, async (result) => {
      used = [result.tokens, (await account.balance()).held];
    });
    expect(used).toEqual([1, expect.any(Number)]);
    expect((used as number[])[1]).toBeGreaterThan(0);
  });

  it('is free if its result cannot be used', async () => {
    const { account, pay } = await setUp();
    const broken = new Error('broken');
    await expect(pay({}, () => Promise.reject(broken))).rejects.toBe(broken);
    expect(await account.balance()).toMatchObject({ available: 1000, held: 0 });
  });

  it('costs nothing for a model without a price', async () => {
    const { account, pay } = await setUp(sane, null);
    expect(await pay({ isMetered: false })).toMatchObject({ chargedTokens: 1 });
    expect(await account.balance()).toMatchObject({ available: 1000, held: 0 });
  });
});

describe('paid embedding in batches', () => {
  it.each([
    [0, []],
    [1, [1]],
    [64, [64]],
    [65, [64, 1]],
  ])('asks for at most 64 texts at once, in order: %i', async (count, sizes) => {
    const { calls, pay } = await setUp();
    const result = await pay({ texts: texts(count), isBatched: true });
    expect(calls.map((call) => call.texts.length)).toEqual(sizes);
    expect(calls.flatMap((call) => call.texts)).toEqual(texts(count));
    expect(result).toMatchObject({ embeddings: vectors(texts(count)), tokens: count });
  });

  it('rejects vectors of different lengths', async () => {
    const { account, pay } = await setUp((asked, at) => ({
      embeddings: asked.map(() => (at === 0 ? [1, 0] : [1])),
      tokens: 1,
    }));
    await expect(pay({ texts: texts(65), isBatched: true })).rejects.toMatchObject({
      kind: 'malformed_answer',
    });
    expect(await account.balance()).toMatchObject({ available: 1000, held: 0 });
  });

  it.each([-1, 0.5, Number.NaN])('charges the estimate if one count of tokens is %d', async (tokens) => {
    const { pay } = await setUp((asked, at) => ({
      embeddings: vectors(asked),
      tokens: at === 1 ? tokens : 64,
    }));
    const { tokens: sum, chargedTokens } = await pay({ texts: texts(130), isBatched: true });
    expect(sum).toBeNaN();
    expect(chargedTokens).toBeGreaterThan(0);
    const zero = await setUp((asked) => ({ embeddings: vectors(asked), tokens: 0 }));
    expect((await zero.pay({ texts: texts(65), isBatched: true })).tokens).toBe(0);
  });
});
