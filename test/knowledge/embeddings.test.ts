import { fromCredits, type ModelProvider, ProviderError, toCredits } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { createWorld, type World, type WorldOptions } from '../support/world.ts';

/** One credit for a token. */
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

const told = (tokens: number, vector: readonly number[] = [1, 2]) =>
  provider(async ({ inputs }) => ({ embeddings: inputs.map(() => vector), tokens }));

async function embed(options: WorldOptions, body: object = {}): Promise<{ world: World; status: number }> {
  const world = await createWorld({ key: { scopes: ['ai:generate'] }, ...options });
  const answer = await world.ask('POST', '/api/v1/embeddings', {
    body: { model: 'vectors', input: 'x'.repeat(25), ...body },
  });
  await answer.text();
  return { world, status: answer.status };
}

const left = async ({ ledger, account }: World) => {
  const { posted, held } = await ledger.balance(account);
  return { posted: toCredits(posted), held: toCredits(held) };
};

describe('the money of an embedding call', () => {
  it('is what the provider counted', async () => {
    const { world, status } = await embed({ models: [told(7)] });
    expect(status).toBe(200);
    expect(await left(world)).toEqual({ posted: 993, held: 0 });
    const [charge] = await world.ledger.charges({ account: world.account }, 10);
    expect(charge).toMatchObject({
      operation: 'createEmbeddings',
      model: 'vectors',
      status: 'settled',
      amount: fromCredits(7),
      usage: { input: 7 },
      keyId: world.keyId,
    });
  });

  it.each([
    ['missing', 0],
    ['negative', -1],
    ['a fraction', 1.5],
    ['not a number', Number.NaN],
    ['more than the model reads', 111],
  ])('is the estimate when the count is %s', async (_, tokens) => {
    const { world } = await embed({ models: [told(tokens)] });
    expect(await left(world)).toEqual({ posted: 990, held: 0 });
  });

  it.each<[string, ModelProvider]>([
    ['fails', provider(() => Promise.reject(new ProviderError('failed', 'no')))],
    ['answers too few vectors', provider(async () => ({ embeddings: [], tokens: 1 }))],
    ['answers empty vectors', told(1, [])],
    ['answers what is no number', told(1, [1, Number.NaN])],
    [
      'does not embed',
      { id: 'vectors', models: () => [INFO], generate: () => Promise.reject(new Error('no')) },
    ],
  ])('is nothing when the provider %s', async (_, broken) => {
    const { world, status } = await embed({ models: [broken] });
    expect(status).toBeGreaterThanOrEqual(502);
    expect(await left(world)).toEqual({ posted: 1000, held: 0 });
    expect(world.incidents).toHaveLength(1);
  });

  it('is nothing for vectors of another length than was asked for', async () => {
    const { world, status } = await embed({ models: [told(1)] }, { dimensions: 3 });
    expect(status).toBe(502);
    expect(await left(world)).toEqual({ posted: 1000, held: 0 });
  });

  it('is written down without a charge while metering is off', async () => {
    const { world } = await embed({ models: [told(7)], settings: { admin: { enforceCredits: false } } });
    expect(await left(world)).toEqual({ posted: 1000, held: 0 });
    const [charge] = await world.ledger.charges({ account: world.account }, 10);
    expect(charge).toMatchObject({ amount: 0, usage: { input: 7 } });
  });

  it('is nothing when the client leaves first, and the provider is told', async () => {
    let isTold = false;
    const leaving = new AbortController();
    const world = await createWorld({
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
    const asking = world.ask('POST', '/api/v1/embeddings', {
      body: { model: 'vectors', input: 'a' },
      signal: leaving.signal,
    });
    await asking.catch(() => undefined);
    await world.settle();
    expect(isTold).toBe(true);
    expect(await left(world)).toEqual({ posted: 1000, held: 0 });
  });

  it('cannot be held for a model without a price', async () => {
    const { prices: _, ...unpriced } = INFO;
    const free = { ...told(1), models: () => [unpriced] };
    const { status } = await embed({ models: [free] });
    expect(status).toBe(422);
  });
});
