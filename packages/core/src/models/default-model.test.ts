import { describe, expect, it } from 'vitest';
import type { ModelInfo, ModelPrices, ModelProvider } from '../ports/models.ts';
import { createCatalogue } from './catalogue.ts';
import { findDefaultChatModel, findDefaultImageModel, orderByPrice } from './default-model.ts';

type Offer = readonly [id: string, prices: ModelPrices | undefined, fields?: Partial<ModelInfo>];

const TOOLS = { supportsTools: true };
const IMAGE = { type: 'image', maxOutputTokens: 0 } as const;
const NEEDS_INPUT = { image: { supports: { requires_input_image: true } } } as unknown as Partial<ModelInfo>;

/** Providers in order, with what they offer. */
function createOffers(offers: Readonly<Record<string, readonly Offer[]>>, makesImages = true) {
  const providers = Object.entries(offers).map(([provider, models]): ModelProvider => {
    const infos = models.map(
      ([id, prices, fields]): ModelInfo => ({
        ...{ id, name: id, type: 'text', provider, contextWindow: 1000, maxOutputTokens: 1_000_000 },
        ...(prices !== undefined && { prices }),
        ...fields,
      }),
    );
    const fail = () => Promise.reject(new Error('not called'));
    return { id: provider, models: () => infos, generate: fail, ...(makesImages && { image: fail }) };
  });
  return createCatalogue({ providers });
}

const findChat = (offers: Parameters<typeof createOffers>[0], isMetered = true) =>
  findDefaultChatModel(createOffers(offers), isMetered)?.info.id;
const findImage = (offers: Parameters<typeof createOffers>[0], makesImages = true) =>
  findDefaultImageModel(createOffers(offers, makesImages), true)?.info.id;

describe('default chat model', () => {
  it('is the cheapest with tools of the first provider that has one', () => {
    const offers: Record<string, Offer[]> = {
      one: [['plain', { input: 0.1, output: 0 }]],
      two: [
        ['dear', { input: 3, output: 3 }, TOOLS],
        ['cheap', { input: 2, output: 2 }, TOOLS],
        ['plain-too', { input: 1, output: 0 }],
      ],
      three: [['cheaper', { input: 0.2, output: 0 }, TOOLS]],
    };
    expect(findChat(offers)).toBe('cheap');
  });

  it('is the cheapest chat model where none offers tools, and absent without a chat model', () => {
    const offers: Record<string, Offer[]> = {
      one: [['vectors', { input: 0.1 }, { type: 'embedding' }]],
      two: [
        ['a', { input: 2 }],
        ['b', { input: 1 }],
      ],
    };
    expect(findChat(offers)).toBe('b');
    expect(findChat({ one: offers.one ?? [] })).toBeUndefined();
    expect(findChat({})).toBeUndefined();
  });

  it('has a price while credits are metered, if any model has one', () => {
    const offers: Record<string, Offer[]> = {
      one: [['unknown', undefined, TOOLS]],
      two: [['priced', { input: 1, output: 1 }, TOOLS]],
    };
    expect([findChat(offers, true), findChat(offers, false)]).toEqual(['priced', 'unknown']);
    expect(findChat({ one: [['unknown', undefined, TOOLS]] })).toBe('unknown');
  });

  it.each<readonly [string, ModelPrices, ModelPrices]>([
    ['input three times as much as output', { input: 1, output: 2.5 }, { input: 2 }],
    ['output', { input: 1, output: 1 }, { input: 1, output: 2 }],
    ['nothing for input without a price', { output: 1 }, { input: 0.5 }],
    ['seconds', { input: 1 }, { input: 1, second: 0.1 }],
    ['characters', { input: 1 }, { input: 1, thousandCharacters: 0.1 }],
    ['megabytes', { input: 1 }, { input: 1, megabyte: 0.1 }],
  ])('counts %s', (_title, cheaper, dearer) => {
    expect(
      findChat({
        one: [
          ['dear', dearer],
          ['cheap', cheaper],
        ],
      }),
    ).toBe('cheap');
    expect(
      findChat({
        one: [
          ['cheap', cheaper],
          ['dear', dearer],
        ],
      }),
    ).toBe('cheap');
  });

  it('counts nothing for output without a price, where credits are not metered', () => {
    const dear: Offer = ['dear', { input: 0.5, output: 1.9 }];
    expect(findChat({ one: [dear, ['cheap', { input: 1 }]] }, false)).toBe('cheap');
  });

  it('is the first of models with equal prices', () => {
    expect(
      findChat({
        one: [
          ['a', { input: 1 }],
          ['b', { input: 1 }],
        ],
      }),
    ).toBe('a');
  });
});

describe('default image model', () => {
  it('makes images of a prompt alone', () => {
    const offers: Record<string, Offer[]> = {
      one: [
        ['text', { input: 0.001, output: 0 }],
        ['edits', { image: 0.01 }, { ...IMAGE, ...NEEDS_INPUT }],
        ['draws', { image: 0.05 }, IMAGE],
      ],
    };
    expect(findImage(offers)).toBe('draws');
    expect(findImage(offers, false)).toBeUndefined();
  });

  it('is the first of models with equal prices, of an image and of a million tokens', () => {
    const tokens: Offer = ['tokens', { output: 1 }, { type: 'image', maxOutputTokens: 1_000_000 }];
    expect(findImage({ one: [['draws', { image: 1 }, IMAGE], tokens] })).toBe('draws');
  });

  it.each<readonly [string, Offer, Offer]>([
    ['the price of an image', ['cheap', { image: 0.01 }, IMAGE], ['dear', { image: 0.02 }, IMAGE]],
    [
      '8,192 tokens for a model without a maximum',
      ['cheap', { output: 10 }, IMAGE],
      ['dear', { image: 0.082 }, IMAGE],
    ],
    [
      'the maximum of tokens of a model',
      ['cheap', { output: 10 }, { type: 'image', maxOutputTokens: 4000 }],
      ['dear', { image: 0.041 }, IMAGE],
    ],
    [
      'tokens besides the price of an image',
      ['cheap', { image: 0.02 }, IMAGE],
      ['dear', { image: 0.01, output: 10 }, IMAGE],
    ],
  ])('is compared by %s', (_title, cheap, dear) => {
    expect(findImage({ one: [dear, cheap] })).toBe('cheap');
    expect(findImage({ one: [cheap, dear] })).toBe('cheap');
  });
});

it('lists providers and kinds in their order, capable models first, then by price', () => {
  const catalogue = createOffers({
    one: [
      ['plain', { input: 0.1 }],
      ['picture', { image: 0.5 }, IMAGE],
      ['dear', { input: 2 }, TOOLS],
      ['edits', { image: 0.1 }, { ...IMAGE, ...NEEDS_INPUT }],
      ['cheap', { input: 1 }, TOOLS],
      ['unknown', undefined, TOOLS],
    ],
    two: [
      ['voice-b', { thousandCharacters: 2 }, { type: 'text-to-speech' }],
      ['voice-a', { thousandCharacters: 1 }, { type: 'text-to-speech' }],
    ],
  });
  expect(orderByPrice(catalogue.list()).map(({ info }) => info.id)).toEqual([
    ...['cheap', 'dear', 'unknown', 'plain', 'picture', 'edits'],
    ...['voice-a', 'voice-b'],
  ]);
});
