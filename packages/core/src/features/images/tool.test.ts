import { describe, expect, it } from 'vitest';
import { openAccount } from '../../../test/paid-calls.ts';
import { priceModel } from '../../credits/pricing.ts';
import { createCircuitBreaker } from '../../models/breaker.ts';
import type { CatalogueEntry, ModelCatalogue } from '../../models/catalogue.ts';
import type { ImageRequest, ImageResult } from '../../ports/media.ts';
import { type ModelPrices, ProviderError } from '../../ports/models.ts';
import type { ToolContext } from '../../tools/registry.ts';
import type { FileLibrary, GeneratedFile, SavedFile } from '../files/library.ts';
import { madeFileId } from '../media-jobs/result-id.ts';
import { createImageHook } from './tool.ts';

const CREDIT = 100_000_000;
const IMAGE = { mediaType: 'image/png', data: Uint8Array.of(1) };
const CALL_KEY = '5a1b0-quest:call/12';
/** The last eight letters and digits of the key. */
const NAME = 'image-stcall12';

interface Setting {
  readonly make?: (signal: AbortSignal | undefined) => Promise<ImageResult>;
  readonly save?: (made: GeneratedFile) => SavedFile;
  /** Default: an image costs one credit. Null: it has no price. */
  readonly prices?: ModelPrices | null;
  readonly supports?: object;
  readonly defaultModel?: string | null;
  readonly isMetered?: boolean;
  /** Micro-credits. */
  readonly credit?: number;
}

/** A workspace with one image model of its own, and one that it does not allow. */
async function setUp({
  defaultModel = 'painter',
  isMetered = true,
  prices = { image: 0.01 },
  ...more
}: Setting = {}) {
  const account = await openAccount({ credit: more.credit ?? CREDIT });
  const requests: ImageRequest[] = [];
  const payers: unknown[] = [];
  const saved: [string, GeneratedFile][] = [];
  const leaving = new AbortController();
  const make = more.make ?? (async () => ({ images: [IMAGE] }));
  const toEntry = (id: string) =>
    ({
      info: { id, name: id, type: 'image', maxOutputTokens: 0, image: { supports: more.supports ?? {} } },
      prices: prices === null ? undefined : priceModel('image', prices),
      providerModel: `${id} at vendor`,
      provider: {
        id: 'vendor',
        image(request: ImageRequest, { signal }: { signal?: AbortSignal } = {}) {
          requests.push(request);
          return make(signal);
        },
      },
    }) as unknown as CatalogueEntry;
  const painter = toEntry('painter');
  const catalogue = {
    find: (id) => (id === 'painter' ? painter : toEntry(id)),
    list: () => [painter],
    isAllowed: (id) => id === 'painter',
  } as Partial<ModelCatalogue> as ModelCatalogue;
  const hook = createImageHook({
    ...account.services,
    catalogue,
    async getCatalogue(payer) {
      payers.push(payer);
      return catalogue;
    },
    adminSettings: {
      current: async () => ({ DefaultImageModel: defaultModel, enforceCredits: isMetered }),
    } as never,
    breaker: createCircuitBreaker(account.clock),
    library: {
      async save(userId, made) {
        saved.push([userId, made]);
        return more.save?.(made) ?? { file: { id: made.id, name: made.name } };
      },
    } as Partial<FileLibrary> as FileLibrary,
  });
  const context = {
    ...{ userId: 'ada', callKey: CALL_KEY, requestId: 'r-1', signal: leaving.signal },
    payer: { account: 'user:a', userId: 'a', projectId: 'p' },
  } as Partial<ToolContext> as ToolContext;
  const generate = () => hook.generate({ prompt: 'A panda', shape: 'portrait' }, context);
  return { ...account, hook, generate, requests, payers, saved, leaving };
}

describe('image of a turn', () => {
  it('is asked for once, at the expense of the payer, and stored as a file with an id known in advance', async () => {
    const { generate, requests, payers, saved, charges } = await setUp();
    const id = madeFileId(CALL_KEY, 0);
    expect(await generate()).toEqual({
      content: `The image is shown to the user. Its file id is ${id}.`,
      isError: false,
      payload: { type: 'image', payload: { fileId: id, name: `${NAME}.png`, prompt: 'A panda' } },
    });
    expect(requests).toEqual([
      { prompt: 'A panda', count: 1, aspectRatio: '2:3', model: 'painter at vendor' },
    ]);
    expect(payers).toEqual([{ account: 'user:a', userId: 'ada', projectId: 'p' }]);
    expect(saved).toEqual([['ada', { id, name: `${NAME}.png`, mimeType: 'image/png', content: IMAGE.data }]]);
    expect(await charges()).toMatchObject([{ operation: 'generate_image', amount: 1_000_000 }]);
  });

  it.each([
    ['image/webp', 'webp'],
    ['image/svg+xml/x', 'svg+xml'],
    ['picture', 'png'],
  ])('of type %s is named .%s', async (mediaType, ending) => {
    const { generate, saved } = await setUp({ make: async () => ({ images: [{ ...IMAGE, mediaType }] }) });
    await generate();
    expect(saved[0]?.[1].name).toBe(`${NAME}.${ending}`);
  });

  it('is made by the cheapest allowed model where the default one is not allowed, or none is set', async () => {
    for (const defaultModel of ['forbidden', null]) {
      const { hook, generate, requests } = await setUp({ defaultModel });
      expect([await hook.isReady(), (await generate()).isError]).toEqual([true, false]);
      expect(requests).toMatchObject([{ model: 'painter at vendor' }]);
    }
  });

  it('is not offered by a model that requires an image', async () => {
    const { hook, generate, requests } = await setUp({ supports: { requires_input_image: true } });
    expect(await hook.isReady()).toBe(false);
    expect(await generate()).toMatchObject({
      ...{ isError: true, content: 'Image generation is not configured on this server.' },
    });
    expect(requests).toEqual([]);
  });

  it('has a price where credits are enforced', async () => {
    const metered = await setUp({ prices: null });
    expect(await metered.generate()).toMatchObject({
      ...{ isError: true, content: 'The image model has no price, so it cannot be used here.' },
    });
    expect(metered.requests).toEqual([]);
    const free = await setUp({ prices: null, isMetered: false });
    expect(await free.generate()).toMatchObject({ isError: false });
  });

  it.each([
    ['no image', { make: async () => ({ images: [] }) }],
    ['no room', { save: (): SavedFile => ({ skipped: 'storage_limit' }) }],
  ])('is free with %s', async (_name, setting) => {
    const { generate, balance, incidents } = await setUp(setting);
    expect(await generate()).toMatchObject({
      ...{ isError: true, content: 'The image could not be stored: the storage quota may be used up.' },
    });
    expect(await balance()).toMatchObject({ available: CREDIT, held: 0 });
    expect(incidents).toEqual([]);
  });
});

describe('failed image of a turn', () => {
  it('is free and reported to the operator, with the error of the provider', async () => {
    const error = new ProviderError('overloaded', 'secret');
    const { generate, balance, incidents } = await setUp({ make: () => Promise.reject(error) });
    expect(await generate()).toEqual({
      isError: true,
      content: 'No image was generated: The model provider is overloaded. Try again shortly.',
    });
    expect(incidents).toEqual([{ operation: 'tool:generate_image', requestId: 'r-1', error }]);
    expect(await balance()).toMatchObject({ available: CREDIT, held: 0 });
  });

  it('is not reported to the operator for lack of credit', async () => {
    const { generate, incidents } = await setUp({ credit: 1 });
    expect(await generate()).toMatchObject({ isError: true, content: expect.stringContaining('credit') });
    expect(incidents).toEqual([]);
  });

  it('is charged as reported and not stored once the user left: its provider is not stopped', async () => {
    const calls: [AbortSignal | undefined, (result: ImageResult) => void][] = [];
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const { services, generate, leaving, saved, charges, incidents } = await setUp({
      prices: { input: 1, output: 10 },
      make: (signal) =>
        new Promise((resolve) => {
          calls.push([signal, resolve]);
          begin();
        }),
    });
    const settled = new Promise<void>((resolve) => {
      const { settle } = services.ledger;
      services.ledger.settle = async (...settlement) => {
        const charge = await settle(...settlement);
        resolve();
        return charge;
      };
    });
    const failed = expect(generate()).rejects.toThrow('left');
    await begun;
    leaving.abort(new Error('left'));
    await failed;
    const [[signal, answer] = []] = calls;
    expect([signal instanceof AbortSignal, signal?.aborted]).toEqual([true, false]);
    answer?.({ images: [IMAGE], usage: { input: 10, output: 20 } });
    await settled;
    expect([saved, incidents]).toEqual([[], []]);
    expect(await charges()).toMatchObject([{ status: 'settled', amount: 10 * 100 + 20 * 1000 }]);
  });
});
