import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openAccount } from '../../../test/paid-calls.ts';
import type { Call } from '../../contract/call.ts';
import { priceModel } from '../../credits/pricing.ts';
import { createCircuitBreaker } from '../../models/breaker.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import { ProviderError } from '../../ports/models.ts';
import { transcribe } from './transcribe.ts';

const CREDIT = 100_000_000;
const AUDIO = { mediaType: 'audio/mpeg', data: new Uint8Array(16_000) };
const TEXT = { text: 'Hello.', usage: { seconds: 2 } };

type Listen = (request: object, options: { signal: AbortSignal }) => Promise<typeof TEXT>;

/** One second costs one credit. */
const toEntry = (id: string, listen: Listen | undefined, more: object = {}) =>
  ({
    ...{ info: { id, name: id, type: 'speech-to-text' }, providerModel: `${id} at vendor` },
    prices: priceModel('speech-to-text', { second: 0.01, megabyte: 10 }),
    provider: { id, ...(listen !== undefined && { transcribe: listen }) },
    ...more,
  }) as unknown as CatalogueEntry;

async function setUp(entries: readonly CatalogueEntry[], isMetered = true) {
  const account = await openAccount({ credit: CREDIT });
  const leaving = new AbortController();
  const settled = async () => (await account.charges()).filter(({ status }) => status === 'settled');
  const call = {
    ...{ id: 'call-1', requestId: 'r', signal: leaving.signal },
    caller: { kind: 'token', userId: 'a', isAdmin: false },
  } as unknown as Call;
  const services = {
    ...account.services,
    adminSettings: { current: async () => ({ enforceCredits: isMetered }) } as never,
    breaker: createCircuitBreaker(account.clock),
    getCatalogue: async () => ({ list: () => entries }) as never,
    requestTimeoutMs: 1000,
  };
  const ask = (model?: string) =>
    transcribe(
      services,
      AUDIO,
      { operation: 'listen', family: 'public', ...(model !== undefined && { model }) },
      call,
    );
  return { ...account, ask, leaving, settled };
}

const failing = (kind: ConstructorParameters<typeof ProviderError>[0]) => async () => {
  await turn();
  throw new ProviderError(kind, 'secret');
};

describe('transcription of a recording', () => {
  it('is paid by the seconds that its provider reports', async () => {
    const requests: object[] = [];
    const { ask, charges, balance, holds, clock } = await setUp([
      toEntry('ear', async (request) => {
        requests.push(request);
        return TEXT;
      }),
    ]);
    expect(await ask()).toEqual({ text: 'Hello.' });
    expect(requests).toEqual([{ model: 'ear at vendor', audio: AUDIO }]);
    expect(holds).toMatchObject([{ key: 'call-1', account: 'user:a' }]);
    expect(holds[0]?.amount).toBeGreaterThan(0);
    expect(await charges()).toMatchObject([
      {
        operation: 'listen',
        model: 'ear',
        requestId: 'r',
        userId: 'a',
        amount: 2_000_000,
        usage: { seconds: 2 },
      },
    ]);
    expect(await balance()).toMatchObject({ available: CREDIT - 2_000_000, held: 0 });
    expect(clock.pending).toBe(0);
  });

  it('is free where credits are not enforced, and needs no price there', async () => {
    const { ask, balance } = await setUp([toEntry('ear', async () => TEXT, { prices: undefined })], false);
    expect(await ask()).toEqual({ text: 'Hello.' });
    expect(await balance()).toMatchObject({ available: CREDIT });
  });

  it('goes on with the next model after a failure that the request did not cause', async () => {
    const { ask, settled, incidents, holds } = await setUp([
      ...[toEntry('one', failing('overloaded')), toEntry('two', async () => TEXT)],
    ]);
    expect(await ask()).toEqual({ text: 'Hello.' });
    expect(holds.map(({ key }) => key)).toEqual(['call-1', 'call-1:1']);
    expect(await settled()).toMatchObject([{ model: 'two' }]);
    expect(incidents).toMatchObject([{ operation: 'listen', requestId: 'r' }]);
  });

  it('uses the named model only', async () => {
    const { ask, settled } = await setUp([
      ...[toEntry('one', async () => TEXT), toEntry('two', async () => TEXT)],
    ]);
    await ask('two');
    expect(await settled()).toMatchObject([{ model: 'two' }]);
    await expect(ask('three')).rejects.toMatchObject({ status: 503 });
  });

  it.each<[string, CatalogueEntry]>([
    ['another type', toEntry('x', async () => TEXT, { info: { id: 'x', type: 'text' } })],
    ['no price', toEntry('x', async () => TEXT, { prices: undefined })],
    ['no ear', toEntry('x', undefined)],
  ])('is refused with 503 where the only model has %s', async (_, entry) => {
    const { ask, holds } = await setUp([entry]);
    await expect(ask()).rejects.toMatchObject({ status: 503, code: 'provider_not_configured' });
    expect(holds).toEqual([]);
  });

  it('is free when it fails, without words of the provider', async () => {
    const { ask, balance } = await setUp([toEntry('ear', failing('invalid_request'))]);
    await expect(ask()).rejects.toMatchObject({
      status: 422,
      message: expect.not.stringContaining('secret'),
    });
    expect(await balance()).toMatchObject({ available: CREDIT, held: 0 });
  });

  it('is free, with 504, when it exceeds the request timeout', async () => {
    let seen: AbortSignal | undefined;
    const listen: Listen = (_, { signal }) =>
      new Promise((_resolve, reject) => {
        seen = signal;
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    const { ask, balance, clock } = await setUp([toEntry('ear', listen)]);
    const failed = expect(ask()).rejects.toMatchObject({
      ...{ status: 504, code: 'request_timeout', cause: expect.any(Error) },
    });
    await expect.poll(() => seen).toBeDefined();
    await clock.advance(999);
    expect(seen?.aborted).toBe(false);
    await clock.advance(1);
    await failed;
    await expect.poll(balance).toMatchObject({ available: CREDIT, held: 0 });
  });

  it('is paid for by a caller who leaves', async () => {
    let finish: (answer: typeof TEXT) => void = () => undefined;
    let seen: AbortSignal | undefined;
    const listen: Listen = (_, { signal }) => {
      seen = signal;
      return new Promise((resolve) => {
        finish = resolve;
      });
    };
    const { ask, leaving, charges } = await setUp([toEntry('ear', listen)]);
    const failed = expect(ask()).rejects.toMatchObject({
      ...{ status: 400, message: 'The client disconnected before the answer', cause: expect.any(Error) },
    });
    await expect.poll(() => seen).toBeDefined();
    leaving.abort(new Error('left'));
    expect(seen?.aborted).toBe(false);
    finish(TEXT);
    await failed;
    await expect.poll(charges).toMatchObject([{ amount: 2_000_000 }]);
  });
});
