import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openAccount } from '../../../test/paid-calls.ts';
import type { Call } from '../../contract/call.ts';
import { priceModel } from '../../credits/pricing.ts';
import { createCircuitBreaker } from '../../models/breaker.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import { createAdmissionControl } from '../../operations/admission-control.ts';
import type { ImageRequest, ImageResult } from '../../ports/media.ts';
import { type ModelInfo, type ModelPrices, ProviderError } from '../../ports/models.ts';
import { makeImagesAtOnce } from './at-once.ts';

const CREDIT = 100_000_000;
const IMAGE = { mediaType: 'image/png', data: Uint8Array.of(1) };
const EMPTY = { mediaType: 'image/png', data: Uint8Array.of() };
const SUPPORTS = {
  ...{ transparent_background: false, seed: false, qualities: [], max_images: 4 },
  ...{ max_reference_images: 1, edit: true, requires_input_image: false },
};

interface Setting {
  /** What the provider does. */
  readonly make?: (request: ImageRequest, signal: AbortSignal | undefined) => Promise<ImageResult>;
  readonly prices?: ModelPrices;
  readonly supports?: object;
  readonly count?: number;
  readonly input?: Parameters<typeof makeImagesAtOnce>[1]['input'];
  readonly canMake?: boolean;
}

const give =
  (...images: (typeof IMAGE)[]) =>
  async (): Promise<ImageResult> => ({ images });

/** One image costs one credit. */
async function setUp({
  make = give(IMAGE, IMAGE),
  prices = { image: 0.01 },
  count = 2,
  ...more
}: Setting = {}) {
  const account = await openAccount({ credit: CREDIT });
  const admissionControl = createAdmissionControl();
  const settings = { enforceCredits: true };
  const leaving = new AbortController();
  const requests: ImageRequest[] = [];
  const info = { id: 'painter', name: 'Painter', type: 'image', maxOutputTokens: 0 } as ModelInfo;
  const entry = {
    info: { ...info, image: { sizing: { kind: 'fixed' }, supports: { ...SUPPORTS, ...more.supports } } },
    prices: priceModel('image', prices),
    providerModel: 'at vendor',
    provider: {
      id: 'vendor',
      ...(more.canMake !== false && {
        image(request: ImageRequest, { signal }: { signal?: AbortSignal } = {}) {
          requests.push(request);
          return make(request, signal);
        },
      }),
    },
  } as unknown as CatalogueEntry;
  const call = {
    ...{ id: 'call-1', requestId: 'r', signal: leaving.signal },
    caller: { kind: 'token', userId: 'a', isAdmin: false },
  } as unknown as Call;
  const services = {
    ...account.services,
    adminSettings: { current: async () => settings } as never,
    admissionControl,
    breaker: createCircuitBreaker(account.clock),
  };
  const options = { prompt: 'A panda', count };
  const ask = () =>
    makeImagesAtOnce(services, { operation: 'draw', entry, options, input: more.input ?? {} }, call);
  return { ...account, ask, admissionControl, settings, leaving, requests };
}

describe('images that are made at once', () => {
  it('are held at their maximum and charged by their number', async () => {
    const { ask, holds, charges, balance, requests } = await setUp({ make: give(IMAGE), count: 3 });
    expect(await ask()).toEqual({ images: [IMAGE] });
    expect(requests).toEqual([{ prompt: 'A panda', count: 3, model: 'at vendor' }]);
    expect(holds).toMatchObject([{ key: 'call-1', account: 'user:a', amount: 3_000_000 }]);
    expect(await charges()).toMatchObject([
      {
        operation: 'draw',
        model: 'painter',
        requestId: 'r',
        userId: 'a',
        amount: 1_000_000,
        usage: { images: 1 },
      },
    ]);
    expect(await balance()).toMatchObject({ available: CREDIT - 1_000_000, held: 0 });
  });

  it('are as many as were asked for, and further ones are free', async () => {
    const { ask, charges } = await setUp({ make: give(IMAGE, IMAGE, IMAGE), count: 2 });
    expect((await ask()).images).toHaveLength(2);
    expect(await charges()).toMatchObject([{ amount: 2_000_000 }]);
  });

  it('are free without bytes', async () => {
    const some = await setUp({ make: give(EMPTY, IMAGE) });
    expect((await some.ask()).images).toEqual([IMAGE]);
    expect(await some.charges()).toMatchObject([{ amount: 1_000_000 }]);
    const none = await setUp({ make: give(EMPTY) });
    await expect(none.ask()).rejects.toMatchObject({ status: 502 });
    expect(await none.balance()).toMatchObject({ available: CREDIT, held: 0 });
  });

  it('cost the tokens that the provider reports', async () => {
    const usage = { input: 10, output: 20 };
    const { ask, charges, holds } = await setUp({
      make: async () => ({ images: [IMAGE], usage }),
      prices: { input: 1, output: 10 },
      count: 1,
      input: { references: [IMAGE] },
    });
    expect(await ask()).toEqual({ images: [IMAGE], usage });
    // Four tokens of the prompt, 1,000 of the reference, and 8,192 of the image.
    expect(holds).toMatchObject([{ amount: 1004 * 100 + 8192 * 1000 }]);
    expect(await charges()).toMatchObject([{ usage, amount: 10 * 100 + 20 * 1000 }]);
  });

  it.each<[Setting, string]>([
    [{ count: 5 }, 'at most 4'],
    [{ input: { source: IMAGE }, supports: { edit: false } }, 'does not edit'],
    [{ input: { references: [IMAGE, IMAGE] } }, 'at most 1 reference'],
    [{ supports: { requires_input_image: true } }, 'requires an input image'],
  ])('are refused before a hold for %j', async (setting, message) => {
    const { ask, holds } = await setUp(setting);
    await expect(ask()).rejects.toMatchObject({ status: 422, message: expect.stringContaining(message) });
    expect(holds).toEqual([]);
  });

  it('are refused while the service stops', async () => {
    const { ask, admissionControl, holds } = await setUp();
    admissionControl.close();
    await expect(ask()).rejects.toMatchObject({ status: 503 });
    expect(holds).toEqual([]);
  });

  it('are free where credits are not enforced', async () => {
    const { ask, settings, charges } = await setUp();
    settings.enforceCredits = false;
    await ask();
    expect(await charges()).toMatchObject([{ amount: 0, usage: { images: 2 } }]);
  });

  it.each<[string, Setting, number, boolean]>([
    [
      'its refusal',
      { make: () => Promise.reject(new ProviderError('invalid_request', 'secret')) },
      422,
      true,
    ],
    ['a provider that makes none', { canMake: false }, 502, true],
    ['no price', { prices: {} }, 422, false],
  ])('are free after %s', async (_name, setting, status, isReported) => {
    const { ask, balance, incidents } = await setUp(setting);
    await expect(ask()).rejects.toMatchObject({ status, message: expect.not.stringContaining('secret') });
    expect(await balance()).toMatchObject({ available: CREDIT, held: 0 });
    expect(incidents).toMatchObject(isReported ? [{ operation: 'draw', requestId: 'r' }] : []);
  });

  it('are paid for by a caller who leaves, because the provider cannot be stopped', async () => {
    let begin = (_signal: AbortSignal | undefined): void => undefined;
    const begun = new Promise<AbortSignal | undefined>((resolve) => {
      begin = resolve;
    });
    let finish = (_result: ImageResult): void => undefined;
    const made = new Promise<ImageResult>((resolve) => {
      finish = resolve;
    });
    const { ask, leaving, charges, balance } = await setUp({
      make(_request, signal) {
        begin(signal);
        return made;
      },
    });
    const answer = ask();
    const failed = expect(answer).rejects.toMatchObject({
      ...{ status: 400, message: expect.stringContaining('disconnected') },
    });
    const signal = await begun;
    leaving.abort(new Error('left'));
    expect([signal instanceof AbortSignal, signal?.aborted]).toEqual([true, false]);
    finish({ images: [IMAGE] });
    await failed;
    for (let turns = 0; turns < 20 && (await balance()).held > 0; turns += 1) await turn();
    expect(await charges()).toMatchObject([{ amount: 1_000_000 }]);
  });
});
