import { describe, expect, test } from 'vitest';
import type { ModelInfo, ModelProvider } from '../ports/models.ts';
import { createCatalogue } from './catalogue.ts';

function model(id: string, fields: Partial<ModelInfo> = {}): ModelInfo {
  return {
    id,
    name: id.toUpperCase(),
    type: 'text',
    provider: 'one',
    contextWindow: 1000,
    maxOutputTokens: 100,
    prices: { input: 1, output: 2, cachedInput: 0.5 },
    ...fields,
  };
}

/** A provider with a replaceable model list that counts reads of its items. */
function offering(id: string, models: readonly ModelInfo[]) {
  const state = { models, reads: 0 };
  const provider: ModelProvider = {
    id,
    models: () => state.models,
    generate: () => Promise.reject(new Error('not called')),
  };
  return { state, provider };
}

const ids = (list: readonly { info: ModelInfo }[]) => list.map((entry) => entry.info.id);

describe('catalogue', () => {
  test('resolves a model to its provider, its provider-side name and prices in micro-credits', () => {
    const { provider } = offering('one', [model('a'), model('b', { providerModel: 'b-2026-01-01' })]);
    const catalogue = createCatalogue({ providers: [provider] });
    expect(catalogue.find('a')).toMatchObject({
      info: { id: 'a' },
      provider,
      providerModel: 'a',
      prices: { input: 100_000_000, output: 200_000_000, cachedInput: 50_000_000 },
    });
    expect(catalogue.find('b')?.providerModel).toBe('b-2026-01-01');
    expect(catalogue.find('c')).toBeUndefined();
    expect(catalogue.find('__proto__')).toBeUndefined();
  });

  test('uses the credits per USD of the host', () => {
    const { provider } = offering('one', [model('a')]);
    expect(createCatalogue({ providers: [provider], creditsPerUsd: 1 }).find('a')?.prices?.input).toBe(
      1_000_000,
    );
    expect(() => createCatalogue({ providers: [provider], creditsPerUsd: 0 })).toThrow(RangeError);
    expect(() => createCatalogue({ providers: [provider, provider] })).toThrow(RangeError);
  });

  test('serves a model that several providers offer from the first one', () => {
    const one = offering('one', [model('a', { name: 'first' })]);
    const two = offering('two', [
      model('a', { name: 'second', provider: 'two' }),
      model('b', { provider: 'two' }),
    ]);
    const catalogue = createCatalogue({ providers: [one.provider, two.provider] });
    expect(ids(catalogue.list())).toEqual(['a', 'b']);
    expect(catalogue.find('a')?.info.name).toBe('first');
    one.state.models = [];
    expect(catalogue.find('a')?.provider).toBe(two.provider);
  });

  test('detects that a provider gains or loses its key, and keeps its other entries', () => {
    const { state, provider } = offering('one', []);
    const catalogue = createCatalogue({ providers: [provider] });
    expect(catalogue.list()).toEqual([]);
    state.models = [model('a')];
    expect(ids(catalogue.list())).toEqual(['a']);
    expect(catalogue.list()).toBe(catalogue.list());
    expect(catalogue.find('a')).toBe(catalogue.find('a'));
    const before = catalogue.list();
    state.models = [model('a')];
    expect(catalogue.list()).not.toBe(before);
    state.models = [];
    expect(catalogue.find('a')).toBeUndefined();
    expect(catalogue.list()).toEqual([]);
  });

  test('hides models by rule; a hidden model does not shadow another', () => {
    const runtime = offering('one', [model('a', { managedRuntime: true }), model('b')]);
    const direct = offering('two', [model('a', { provider: 'two' })]);
    const catalogue = createCatalogue({
      providers: [runtime.provider, direct.provider],
      hidden: (info) => info.managedRuntime === true,
    });
    expect(ids(catalogue.list())).toEqual(['b', 'a']);
    expect(catalogue.find('a')?.provider).toBe(direct.provider);
  });

  test('lists a model without prices', () => {
    const { prices: _, ...unpriced } = model('a');
    const catalogue = createCatalogue({ providers: [offering('one', [unpriced]).provider] });
    expect(catalogue.find('a')?.prices).toBeUndefined();
  });
});

describe('model settings of the host', () => {
  const { state, provider } = offering('one', [model('a'), model('b')]);

  test('has one price for a second of video if the host sets one', () => {
    const video = model('a', { type: 'video', prices: { second: 0.1, secondByResolution: { '4k': 0.4 } } });
    const videos = offering('one', [video]).provider;
    const getPrice = (prices: NonNullable<ModelInfo['prices']>) =>
      createCatalogue({ providers: [videos], overrides: { a: { prices } } }).find('a')?.prices;
    expect(getPrice({ megabyte: 1 })).toMatchObject({
      ...{ second: 1e7, secondByResolution: { '4k': 4e7 } },
      megabyte: 1e8,
    });
    expect(getPrice({ second: 0.2 })).toMatchObject({ second: 2e7 });
    expect(getPrice({ second: 0.2 })).not.toHaveProperty('secondByResolution');
  });

  test('override fields, and prices one by one', () => {
    const catalogue = createCatalogue({
      providers: [provider],
      overrides: { a: { name: 'Mine', maxOutputTokens: 7, prices: { input: 10 }, provider: 'other' } },
    });
    const entry = catalogue.find('a');
    expect(entry?.info).toMatchObject({ id: 'a', name: 'Mine', maxOutputTokens: 7, provider: 'one' });
    expect(entry?.prices).toMatchObject({ input: 1e9, output: 2e8, cachedInput: 5e7 });
    expect(entry?.provider).toBe(provider);
  });

  test('disable a model, which can be detected', () => {
    const catalogue = createCatalogue({ providers: [provider], overrides: { a: { disabled: true } } });
    expect(catalogue.find('a')).toBeUndefined();
    expect(ids(catalogue.list())).toEqual(['b']);
    expect(catalogue.isDisabled('a')).toBe(true);
    expect(catalogue.isDisabled('b')).toBe(false);
    expect(catalogue.isDisabled('never')).toBe(false);
  });

  test('add a model that is available while its provider offers any', () => {
    const { id, ...fields } = model('new', { providerModel: 'new-preview' });
    const catalogue = createCatalogue({
      providers: [provider],
      overrides: { [id]: fields, lost: { ...fields, provider: 'unknown' }, half: { name: 'Half' } },
    });
    expect(ids(catalogue.list())).toEqual(['a', 'b', 'new']);
    expect(catalogue.find('new')).toMatchObject({ provider, providerModel: 'new-preview' });
    const offer = state.models;
    state.models = [];
    expect(catalogue.find('new')).toBeUndefined();
    state.models = offer;
  });

  test('can override a model that is not offered now', () => {
    const catalogue = createCatalogue({
      providers: [provider],
      overrides: { gone: { prices: { input: 1 } } },
    });
    expect(catalogue.find('gone')).toBeUndefined();
  });
});
