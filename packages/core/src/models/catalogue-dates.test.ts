import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { ModelInfo, ModelProvider } from '../ports/models.ts';
import { createCatalogue } from './catalogue.ts';

const DAY_MS = 86_400_000;

function model(id: string, fields: Partial<ModelInfo> = {}): ModelInfo {
  return {
    ...{ id, name: id, type: 'text', provider: 'one', contextWindow: 1000, maxOutputTokens: 100 },
    prices: { input: 1, output: 2 },
    ...fields,
  };
}

function offer(id: string, ...models: readonly ModelInfo[]): ModelProvider {
  return { id, models: () => models, generate: () => Promise.reject(new Error('not called')) };
}

/** A clock, and the day that is so many days ahead. */
function createDays() {
  const clock = createFakeClock(Date.UTC(2026, 0, 1));
  const day = (ahead: number) => new Date(clock.now() + ahead * DAY_MS).toISOString().slice(0, 10);
  return { clock, day };
}

describe('date of a model', () => {
  it('takes it off the list, and leaves its listing for the answer about it', async () => {
    const { clock, day } = createDays();
    const old = model('old', { deprecationDate: day(1) });
    const catalogue = createCatalogue({ providers: [offer('one', old, model('new'))], clock });
    const list = () => catalogue.list().map(({ info }) => info.id);
    expect([list(), catalogue.findRetired('old')]).toEqual([['old', 'new'], undefined]);
    await clock.advance(DAY_MS - 1);
    const last = catalogue.list();
    expect(catalogue.list()).toBe(last);
    await clock.advance(1);
    expect(catalogue.findRetired('old')).toEqual(old);
    expect([list(), catalogue.find('old')]).toEqual([['new'], undefined]);
    expect(catalogue.findRetired('new')).toBeUndefined();
    expect(catalogue.findRetired('never')).toBeUndefined();
    const after = catalogue.list();
    await clock.advance(DAY_MS);
    expect(catalogue.list()).toBe(after);
  });

  it('leaves a retired model where a later provider still offers it', () => {
    const { clock, day } = createDays();
    const two = offer('two', model('a', { provider: 'two' }));
    const catalogue = createCatalogue({
      providers: [offer('one', model('a', { deprecationDate: day(0) })), two],
      clock,
    });
    expect(catalogue.findRetired('a')).toBeUndefined();
    expect(catalogue.find('a')?.provider).toBe(two);
  });

  it('brings the earliest of all changes first, each on its day', async () => {
    const { clock, day } = createDays();
    const changing = (id: string, ahead: number) =>
      model(id, { priceChanges: [{ from: day(ahead), prices: { input: 3, output: 3 } }] });
    const catalogue = createCatalogue({
      providers: [offer('one', changing('late', 2), changing('early', 1), model('same'))],
      clock,
      creditsPerUsd: 1,
    });
    const prices = () => catalogue.list().map((entry) => (entry.prices?.input ?? 0) / 1e6);
    expect(prices()).toEqual([1, 1, 1]);
    await clock.advance(DAY_MS);
    expect(prices()).toEqual([1, 3, 1]);
    expect(catalogue.find('early')?.info).toMatchObject({ prices: { input: 3, output: 3 } });
    await clock.advance(DAY_MS);
    expect(prices()).toEqual([3, 3, 1]);
  });

  it('is not undone by an override that names all fields of a model', () => {
    const { clock, day } = createDays();
    const old = model('old', { deprecationDate: day(0) });
    const { id, deprecationDate: _, ...fields } = old;
    const catalogue = createCatalogue({
      providers: [offer('one', old, model('new'))],
      clock,
      overrides: { [id]: fields },
    });
    expect(catalogue.list().map(({ info }) => info.id)).toEqual(['new']);
  });

  it('has no effect without a clock', () => {
    const retired = model('a', {
      deprecationDate: '2000-01-01',
      priceChanges: [{ from: '2000-01-01', prices: { input: 9, output: 9 } }],
    });
    const catalogue = createCatalogue({ providers: [offer('one', retired)], creditsPerUsd: 1 });
    expect(catalogue.find('a')).toMatchObject({ prices: { input: 1e6 }, info: { priceChanges: [{}] } });
    expect(catalogue.findRetired('a')).toBeUndefined();
    expect(catalogue.list()).toBe(catalogue.list());
  });

  it('does not change prices that the host names', () => {
    const { clock, day } = createDays();
    const changed = model('a', {
      priceChanges: [{ from: day(0), prices: { input: 9, output: 9 } }],
      deprecationDate: day(5),
    });
    const open = (override: object) =>
      createCatalogue({
        providers: [offer('one', changed)],
        clock,
        creditsPerUsd: 1,
        overrides: { a: override },
      });
    expect(open({ prices: { input: 4 } }).find('a')).toMatchObject({
      prices: { input: 4e6, output: 2e6 },
      info: { deprecationDate: day(5) },
    });
    expect(open({ name: 'Mine' }).find('a')).toMatchObject({
      prices: { input: 9e6 },
      info: { name: 'Mine' },
    });
  });
});

describe('model of a provider with the own key of the user', () => {
  it('costs nothing and names its key, unlike those of the others', () => {
    const tiers = [{ aboveInputTokens: 10, prices: { input: 5, output: 5 } }];
    const catalogue = createCatalogue({
      providers: [
        offer('mine', model('a', { priceTiers: tiers })),
        offer('host', model('b', { priceTiers: tiers })),
        offer('free', { ...model('c'), prices: {} }),
      ],
      ownKeys: new Map([
        ['mine', 'hash'],
        ['free', ''],
      ]),
      creditsPerUsd: 1,
    });
    const [own, host, unpriced] = ['a', 'b', 'c'].map((id) => catalogue.find(id));
    expect(own).toMatchObject({ ownKey: true, credential: 'hash', prices: { input: 0, output: 0 } });
    expect(own?.prices).not.toHaveProperty('tiers');
    expect(host?.prices).toMatchObject({ input: 1e6, tiers: [{ aboveInputTokens: 10, input: 5e6 }] });
    expect([host?.ownKey, host?.credential]).toEqual([undefined, undefined]);
    expect(unpriced).toMatchObject({ ownKey: true, credential: '', prices: { input: 0 } });
  });

  it.each([
    'text',
    'embedding',
    'image',
    'speech-to-text',
    'text-to-speech',
    'sound-effect',
    'video',
    'music',
  ] as const)('has a price of 0 for each unit of %s', (type) => {
    const catalogue = createCatalogue({
      providers: [offer('one', { ...model('a', { type }), prices: {} })],
      ownKeys: new Map([['one', 'hash']]),
    });
    const zero = { input: 0, output: 0, image: 0, second: 0, thousandCharacters: 0, megabyte: 0 };
    expect(catalogue.find('a')?.prices).toMatchObject(zero);
  });
});

describe('catalogue of the host', () => {
  it.each([Number.POSITIVE_INFINITY, Number.NaN, -1, 0])('has no price of %d credits', (creditsPerUsd) => {
    expect(() => createCatalogue({ providers: [], creditsPerUsd })).toThrow(
      new RangeError('creditsPerUsd must be a number above 0'),
    );
  });

  it('allows each model, and names its credits', () => {
    const catalogue = createCatalogue({ providers: [] });
    expect([catalogue.isAllowed('a'), catalogue.creditsPerUsd, catalogue.list()]).toEqual([true, 100, []]);
    expect(createCatalogue({ providers: [], creditsPerUsd: 7 }).creditsPerUsd).toBe(7);
    const same = [offer('one'), offer('one')];
    expect(() => createCatalogue({ providers: same })).toThrow('Two model providers have the same id');
  });

  it.each(['name', 'type', 'provider', 'contextWindow', 'maxOutputTokens'] as const)(
    'adds no model without its %s',
    (field) => {
      const { id, ...fields } = model('new');
      const catalogue = createCatalogue({
        providers: [offer('one', model('a'))],
        overrides: { [id]: { ...fields, [field]: undefined }, full: fields },
      });
      expect(catalogue.list().map(({ info }) => info.id)).toEqual(['a', 'full']);
    },
  );

  it('adds no disabled model, and keeps the marks of the host off its listing', () => {
    const { id, ...fields } = model('new');
    const catalogue = createCatalogue({
      providers: [offer('one', model('a'))],
      overrides: {
        [id]: { ...fields, disabled: true },
        other: { ...fields, disabled: false },
        a: { disabled: false },
      },
    });
    expect(catalogue.list().map(({ info }) => info)).toEqual([model('a'), { ...model('new'), id: 'other' }]);
  });
});
