import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openAccount } from '../../../test/paid-calls.ts';
import type { Call } from '../../contract/call.ts';
import { priceModel } from '../../credits/pricing.ts';
import { createCircuitBreaker } from '../../models/breaker.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import type { AudioResult } from '../../ports/media.ts';
import { ProviderError } from '../../ports/models.ts';
import { ApiError } from '../../shared/errors.ts';
import { type AudioWork, makeAudio } from './synthesize.ts';

const CREDIT = 100_000_000;
const SOUND = { mediaType: 'audio/mpeg', data: Uint8Array.of(1) } as AudioResult;

/** One second costs one credit. */
const toEntry = (id: string) =>
  ({
    ...{ info: { id, name: id, type: 'text-to-speech' }, provider: { id } },
    prices: priceModel('text-to-speech', { second: 0.01 }),
  }) as unknown as CatalogueEntry;

async function setUp(ask: AudioWork['ask'], more: Partial<AudioWork> = {}) {
  const account = await openAccount({ credit: CREDIT });
  const leaving = new AbortController();
  const settled = async () => (await account.charges()).filter(({ status }) => status === 'settled');
  const call = {
    ...{ id: 'call-1', requestId: 'r', signal: leaving.signal },
    caller: { kind: 'token', userId: 'a', isAdmin: false },
  } as unknown as Call;
  const work: AudioWork = {
    ...{ operation: 'speak', candidates: [toEntry('one'), toEntry('two')], metered: true },
    ...{ most: { seconds: 3 }, mayFallBack: true, notConfigured: 503, ask },
    ...more,
  };
  const services = { ...account.services, breaker: createCircuitBreaker(account.clock) };
  return { ...account, leaving, settled, make: () => makeAudio(services, work, call) };
}

const failing =
  (kind: ConstructorParameters<typeof ProviderError>[0]): AudioWork['ask'] =>
  async (entry) => {
    await turn();
    if (entry.info.id === 'two') return SOUND;
    throw new ProviderError(kind, 'secret');
  };

describe('paid audio', () => {
  it('is held and charged at its maximum where the provider reports no usage', async () => {
    const { make, holds, charges, balance } = await setUp(async () => SOUND);
    expect(await make()).toMatchObject({ result: SOUND, entry: { info: { id: 'one' } } });
    expect(holds).toMatchObject([{ key: 'call-1', account: 'user:a', amount: 3_000_000 }]);
    expect(await charges()).toMatchObject([
      { operation: 'speak', model: 'one', requestId: 'r', userId: 'a', amount: 3_000_000 },
    ]);
    expect(await balance()).toMatchObject({ available: CREDIT - 3_000_000, held: 0 });
  });

  it('costs what the provider reports, and nothing where it is not metered', async () => {
    const ask = async () => ({ ...SOUND, usage: { seconds: 1 } });
    const { make, charges } = await setUp(ask);
    await make();
    expect(await charges()).toMatchObject([{ amount: 1_000_000 }]);
    const free = await setUp(ask, { metered: false });
    await free.make();
    expect(await free.balance()).toMatchObject({ available: CREDIT });
  });

  it('is made by the next provider after trouble, if that may be called', async () => {
    const { make, holds, settled, incidents } = await setUp(failing('overloaded'));
    expect(await make()).toMatchObject({ entry: { info: { id: 'two' } }, fallbackFrom: 'one' });
    expect(holds.map(({ key }) => key)).toEqual(['call-1', 'call-1:1']);
    expect(await settled()).toMatchObject([{ model: 'two' }]);
    expect(incidents).toMatchObject([{ operation: 'speak', requestId: 'r' }]);
    const alone = await setUp(failing('overloaded'), { mayFallBack: false });
    await expect(alone.make()).rejects.toMatchObject({ status: 503 });
    expect(await alone.balance()).toMatchObject({ available: CREDIT, held: 0 });
  });

  it('without bytes is a failure, and free', async () => {
    const ask = async () => ({ ...SOUND, data: new Uint8Array() });
    const { make, balance } = await setUp(ask, { mayFallBack: false });
    await expect(make()).rejects.toMatchObject({ status: 502 });
    expect(await balance()).toMatchObject({ available: CREDIT, held: 0 });
  });

  it.each([
    [
      401,
      {
        ...{ status: 401, code: 'provider_not_configured', cause: expect.any(Error) },
        message: 'No key is configured for this provider.',
      },
    ],
    [503, { status: 503, code: 'provider_not_configured' }],
  ] as const)(
    'answers %i for a provider without a key where the route states it',
    async (notConfigured, error) => {
      const { make } = await setUp(failing('not_configured'), { mayFallBack: false, notConfigured });
      await expect(make()).rejects.toMatchObject(error);
    },
  );

  it('answers another failure as usual where the route states 401', async () => {
    const { make } = await setUp(failing('overloaded'), { mayFallBack: false, notConfigured: 401 });
    await expect(make()).rejects.toMatchObject({
      status: 503,
      message: expect.not.stringContaining('secret'),
    });
  });

  it('passes errors for callers on', async () => {
    const error = new ApiError(422, 'Too long.');
    const { make } = await setUp(async () => {
      throw error;
    });
    await expect(make()).rejects.toBe(error);
  });

  it('is paid for by a caller who leaves', async () => {
    let finish: (made: AudioResult) => void = () => undefined;
    let seen: AbortSignal | undefined;
    const { make, leaving, charges } = await setUp((_, signal) => {
      seen = signal;
      return new Promise((resolve) => {
        finish = resolve;
      });
    });
    const failed = expect(make()).rejects.toMatchObject({
      ...{
        status: 400,
        message: 'The client disconnected before the answer began',
        cause: expect.any(Error),
      },
    });
    await expect.poll(() => seen).toBeDefined();
    leaving.abort(new Error('left'));
    expect(seen?.aborted).toBe(false);
    finish(SOUND);
    await failed;
    await expect.poll(charges).toMatchObject([{ amount: 3_000_000 }]);
  });
});
