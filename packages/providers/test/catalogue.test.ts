import { createCatalogue, orderByPrice, parseDay, priceModel } from '@questline/core/internal';
import type { ModelInfo } from '@questline/core/ports';
import { createAnthropicProvider } from '@questline/providers/anthropic';
import { createElevenLabsProvider } from '@questline/providers/elevenlabs';
import { createGeminiProvider } from '@questline/providers/gemini';
import { createOpenAIProvider } from '@questline/providers/openai';
import { createXAIProvider } from '@questline/providers/xai';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';

const apiKey = 'sk-none';
const providers = [
  createAnthropicProvider({ apiKey }),
  createOpenAIProvider({ apiKey }),
  createGeminiProvider({ apiKey }),
  createXAIProvider({ apiKey }),
  createElevenLabsProvider({ apiKey }),
];
const all = providers.flatMap((provider) => provider.models());
const NOVEMBER = Date.UTC(2026, 10, 22);

function find(id: string, now = NOVEMBER): ModelInfo | undefined {
  return createCatalogue({ providers, clock: createFakeClock(now) }).find(id)?.info;
}

describe('built-in catalogue', () => {
  it('has a price, a check date and plausible figures for every chat model', () => {
    for (const model of all.filter(({ type }) => type === 'text')) {
      expect([model.id, parseDay(model.checkedOn)]).toEqual([model.id, expect.any(Number)]);
      expect(model.maxOutputTokens).toBeLessThan(model.contextWindow);
      const { input = 0, output = 0, cachedInput = 0 } = model.prices ?? {};
      expect([model.id, input > 0 && output > input && cachedInput < input]).toEqual([model.id, true]);
      expect(model.inputModalities).toContain('text');
      for (const tier of model.priceTiers ?? []) {
        expect(tier.aboveInputTokens).toBeLessThan(model.contextWindow);
        expect(tier.prices.input ?? 0).toBeGreaterThan(input);
      }
    }
  });

  it('has complete prices: every model has the prices that its type needs, now and after every change', () => {
    for (const { id, type, prices, priceTiers, priceChanges = [] } of all) {
      expect([id, priceModel(type, prices, 100, priceTiers)]).toEqual([id, expect.anything()]);
      for (const change of priceChanges) {
        expect([id, parseDay(change.from)]).toEqual([id, expect.any(Number)]);
        expect([id, priceModel(type, change.prices, 100, change.priceTiers)]).toEqual([
          id,
          expect.anything(),
        ]);
      }
    }
  });

  it('names successors that exist and outlive the models they replace', () => {
    for (const { id, replacedBy, deprecationDate } of all) {
      if (replacedBy === undefined) continue;
      const successor = all.find((model) => model.id === replacedBy);
      expect([id, successor?.id]).toEqual([id, replacedBy]);
      expect(parseDay(successor?.deprecationDate) ?? Number.POSITIVE_INFINITY).toBeGreaterThan(
        parseDay(deprecationDate) ?? 0,
      );
    }
  });

  it('lists the cheapest capable model of each vendor first', () => {
    const entries = createCatalogue({ providers, clock: createFakeClock(NOVEMBER) }).list();
    const getFirst = (type: ModelInfo['type']) =>
      Object.fromEntries(
        orderByPrice(entries)
          .filter(({ info }) => info.type === type)
          .reverse()
          .map(({ info }) => [info.provider, info.id]),
      );
    expect(getFirst('text')).toEqual({
      anthropic: 'claude-haiku-5-5',
      openai: 'gpt-6-luna',
      gemini: 'gemini-3.5-flash-lite',
      xai: 'grok-4.3',
    });
    expect(getFirst('image')).toEqual({ openai: 'gpt-image-2.6-flare', gemini: 'gemini-3.1-flash-image' });
    for (const provider of providers) {
      const [first] = provider.models().filter(({ type }) => type === 'text');
      expect(first?.id).toBe(getFirst('text')[provider.id]);
    }
  });

  it('has real context windows, with the prices of long prompts', () => {
    const getTier = (id: string) => {
      const { contextWindow, priceTiers } = find(id) ?? {};
      return [contextWindow, priceTiers?.[0]?.aboveInputTokens, priceTiers?.[0]?.prices.input];
    };
    expect(getTier('gpt-6.2-astra')).toEqual([1_050_000, 272_000, 16]);
    expect(find('gpt-6.2-astra')?.priceTiers?.[0]?.prices.output).toBe(60);
    expect(getTier('claude-haiku-5-5')).toEqual([1_000_000, 100_000, 0.5]);
    expect(find('claude-haiku-5-5')?.maxOutputTokens).toBe(128_000);
    expect(getTier('grok-4.7')).toEqual([500_000, 199_999, 4]);
    expect(find('grok-4.3')?.prices?.cachedInput).toBe(0.2);
  });

  it('charges introductory prices through their last day and the regular ones from the next', () => {
    const getPrice = (id: string, now: number) => find(id, now)?.prices;
    const december = Date.UTC(2026, 11, 1);
    for (const id of ['gemini-4-argon', 'gemini-4-carbon']) {
      expect(getPrice(id, december - 1)).toEqual({ input: 2, output: 10, cachedInput: 0.1 });
      expect(getPrice(id, december)).toEqual({ input: 4, output: 20, cachedInput: 0.2 });
    }
    const january = Date.UTC(2027, 0, 1);
    expect(getPrice('gemini-3.8-flash', january - 1)?.input).toBe(0.75);
    expect(getPrice('gemini-3.8-flash', january)).toEqual({ input: 1.5, output: 7.5, cachedInput: 0.15 });
  });

  it('removes models on the day they retire', () => {
    expect(find('gpt-image-1')).toBeUndefined();
    expect(find('gemini-2.5-flash-image')).toBeUndefined();
    expect(find('gpt-4.1', Date.UTC(2027, 0, 14) - 1)).toMatchObject({ replacedBy: 'gpt-6-luna' });
    expect(find('gpt-4.1', Date.UTC(2027, 0, 14))).toBeUndefined();
    const march = createCatalogue({ providers, clock: createFakeClock(Date.UTC(2027, 2, 1)) });
    expect(march.find('whisper-1')).toBeUndefined();
    expect(march.findRetired('whisper-1')).toMatchObject({ replacedBy: 'gpt-transcribe' });
    expect(march.find('gpt-transcribe')).toBeDefined();
  });
});
