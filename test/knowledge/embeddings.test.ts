import { fromCredits, toCredits } from '@questline/core';
import { type ModelProvider, ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/test-app.ts';

/** One credit per token. */
const INFO = {
  id: 'vectors',
  name: 'Vectors',
  type: 'embedding',
  provider: 'vectors',
  contextWindow: 100,
  maxOutputTokens: 0,
  prices: { input: 10_000 },
} as const;

function provider(embed: NonNullable<ModelProvider['embed']>): ModelProvider {
  return { id: 'vectors', models: () => [INFO], generate: () => Promise.reject(new Error('no')), embed };
}

const reported = (tokens: number, vector: readonly number[] = [1, 2]) =>
  provider(async ({ inputs }) => ({ embeddings: inputs.map(() => vector), tokens }));

async function embed(options: TestAppOptions, body: object = {}): Promise<{ app: TestApp; status: number }> {
  const app = await createTestApp({ key: { scopes: ['ai:generate'] }, ...options });
  const answer = await app.ask('POST', '/api/v1/embeddings', {
    body: { model: 'vectors', input: 'x'.repeat(25), ...body },
  });
  await answer.text();
  return { app, status: answer.status };
}

const left = async ({ ledger, account }: TestApp) => {
  const { posted, held } = await ledger.balance(account);
  return { posted: toCredits(posted), held: toCredits(held) };
};

describe('charge of an embedding call', () => {
  it('is the usage that the provider reports', async () => {
    const { app, status } = await embed({ models: [reported(7)] });
    expect(status).toBe(200);
    expect(await left(app)).toEqual({ posted: 993, held: 0 });
    const [charge] = await app.ledger.charges({ account: app.account }, 10);
    expect(charge).toMatchObject({
      operation: 'createEmbeddings',
      model: 'vectors',
      status: 'settled',
      amount: fromCredits(7),
      usage: { input: 7 },
      keyId: app.keyId,
    });
  });

  it.each([
    ['missing', 0],
    ['negative', -1],
    ['a fraction', 1.5],
    ['not a number', Number.NaN],
    ['above the limit of the model', 111],
  ])('is the estimate when the usage is %s', async (_, tokens) => {
    const { app } = await embed({ models: [reported(tokens)] });
    expect(await left(app)).toEqual({ posted: 990, held: 0 });
  });

  it.each<[string, ModelProvider]>([
    ['fails', provider(() => Promise.reject(new ProviderError('failed', 'no')))],
    ['returns too few vectors', provider(async () => ({ embeddings: [], tokens: 1 }))],
    ['returns empty vectors', reported(1, [])],
    ['returns a value that is not a number', reported(1, [1, Number.NaN])],
    [
      'has no embeddings',
      { id: 'vectors', models: () => [INFO], generate: () => Promise.reject(new Error('no')) },
    ],
  ])('is zero when the provider %s', async (_, broken) => {
    const { app, status } = await embed({ models: [broken] });
    expect(status).toBeGreaterThanOrEqual(502);
    expect(await left(app)).toEqual({ posted: 1000, held: 0 });
    expect(app.incidents).toHaveLength(1);
  });

  it('is zero for vectors of another length than requested', async () => {
    const { app, status } = await embed({ models: [reported(1)] }, { dimensions: 3 });
    expect(status).toBe(502);
    expect(await left(app)).toEqual({ posted: 1000, held: 0 });
  });

  it('is recorded as free while metering is off', async () => {
    const { app } = await embed({ models: [reported(7)], settings: { admin: { enforceCredits: false } } });
    expect(await left(app)).toEqual({ posted: 1000, held: 0 });
    const [charge] = await app.ledger.charges({ account: app.account }, 10);
    expect(charge).toMatchObject({ amount: 0, usage: { input: 7 } });
  });

  it('is zero when the client disconnects first, and the provider call is aborted', async () => {
    let isTold = false;
    const leaving = new AbortController();
    const app = await createTestApp({
      key: { scopes: ['ai:generate'] },
      models: [
        provider((_, { signal }) => {
          leaving.abort();
          return new Promise((_resolve, reject) => {
            const stop = () => {
              isTold = true;
              reject(signal?.reason);
            };
            if (signal?.aborted) stop();
            else signal?.addEventListener('abort', stop);
          });
        }),
      ],
    });
    const asking = app.ask('POST', '/api/v1/embeddings', {
      body: { model: 'vectors', input: 'a' },
      signal: leaving.signal,
    });
    await asking.catch(() => undefined);
    await app.settle();
    expect(isTold).toBe(true);
    expect(await left(app)).toEqual({ posted: 1000, held: 0 });
  });

  it('cannot be held for a model without a price', async () => {
    const { prices: _, ...unpriced } = INFO;
    const free = { ...reported(1), models: () => [unpriced] };
    const { status } = await embed({ models: [free] });
    expect(status).toBe(422);
  });
});
