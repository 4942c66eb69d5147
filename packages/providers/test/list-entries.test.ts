import { readLiteLLM, readModelsDev } from '@questline/providers';
import { describe, expect, it } from 'vitest';

const CHAT = {
  ...{ litellm_provider: 'openai', mode: 'chat', max_input_tokens: 1000, max_output_tokens: 100 },
  ...{ input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 },
};
const PAGE = {
  ...{
    name: 'One',
    modalities: { input: ['text'], output: ['text'] },
    limit: { context: 1000, output: 100 },
  },
  cost: { input: 1, output: 2 },
};
const lite = (entry: object, options?: Parameters<typeof readLiteLLM>[1]) =>
  readLiteLLM({ one: { ...CHAT, ...entry } }, options).models.one;
const dev = (entry: object, id = 'one') =>
  readModelsDev({ openai: { models: { [id]: { ...PAGE, ...entry } } } }).models[id];

describe('model of the list of LiteLLM', () => {
  const KNOWN = { name: 'one', provider: 'openai', contextWindow: 1000, prices: { input: 1, output: 2 } };
  const TEXT = {
    ...{ ...KNOWN, type: 'text', maxOutputTokens: 100, supportsStreaming: true },
    ...{ supportsThinking: false, supportsTools: false, supportsVision: false },
  };

  it('has what the list states, and no field beside it', () => {
    expect(lite({})).toEqual(TEXT);
    expect(Object.keys(lite({}) ?? {}).sort()).toEqual(Object.keys(TEXT).sort());
    const rich = {
      ...{ supports_reasoning: true, supports_function_calling: true, supports_vision: true },
      ...{ prompt_cache_min_tokens: 512, output_cost_per_reasoning_token: 3e-6 },
    };
    expect(lite(rich)).toEqual({
      ...{ ...TEXT, supportsThinking: true, supportsTools: true, supportsVision: true, minCacheTokens: 512 },
      prices: { input: 1, output: 2, reasoning: 3 },
    });
  });

  it('lacks what the list does not state', () => {
    const bare = { litellm_provider: 'openai', mode: 'responses' };
    expect(Object.keys(readLiteLLM({ one: bare }).models.one ?? {}).sort()).toEqual(
      [
        'name',
        'provider',
        'type',
        'supportsStreaming',
        'supportsThinking',
        'supportsTools',
        'supportsVision',
      ].sort(),
    );
  });

  it('is an embedding without output and its price', () => {
    const embedding = { mode: 'embedding', supports_vision: true, output_cost_per_token: 0 };
    expect(lite(embedding)).toEqual({
      ...{ ...KNOWN, type: 'embedding', maxOutputTokens: 0, prices: { input: 1 } },
    });
  });

  it('has the id of its provider here', () => {
    expect(lite({}, { providers: { openai: 'mine' } })?.provider).toBe('mine');
  });

  it('has tiers in the order of their bounds, with the prices that they state', () => {
    const tiers = {
      ...{ input_cost_per_token_above_200k_tokens: 4e-6, output_cost_per_token_above_128k_tokens: 5e-6 },
      ...{ input_cost_per_token_above_128k_tokens: 3e-6, cache_read_input_token_cost_above_64k_tokens: 'x' },
      ...{ constructor_above_32k_tokens: 1e-6 },
    };
    expect(lite(tiers)?.priceTiers).toEqual([
      { aboveInputTokens: 128_000, prices: { input: 3, output: 5 } },
      { aboveInputTokens: 200_000, prices: { input: 4, output: 2 } },
    ]);
  });

  it('has prices without noise, to twelve digits', () => {
    expect(lite({ input_cost_per_token: 0.000_000_07 })?.prices?.input).toBe(0.07);
    expect(lite({ input_cost_per_token: 1.234_567_890_123_4e-6 })?.prices?.input).toBe(1.234_567_890_12);
  });

  it('is named with the reason when it cannot be read', () => {
    const list = { 'a b\u0007': CHAT, bad: { ...CHAT, input_cost_per_token: -1 }, one: CHAT };
    const { models, skipped } = readLiteLLM(list);
    expect(Object.keys(models)).toEqual(['one']);
    expect(skipped).toEqual([
      { id: 'a b', reason: 'the id has other characters' },
      { id: 'bad', reason: expect.stringMatching(/^input_cost_per_token: /) },
    ]);
    const long = readLiteLLM({ [`!${'x'.repeat(300)}`]: CHAT });
    expect(long.skipped[0]?.id).toHaveLength(200);
  });
});

describe('model of the list of models.dev', () => {
  it('has no efforts, tiers and prices that the list does not state', () => {
    const keys = Object.keys(dev({ cost: undefined }) ?? {});
    for (const field of ['reasoningEfforts', 'priceTiers', 'prices']) expect(keys).not.toContain(field);
    expect(Object.keys(dev({}) ?? {})).not.toContain('priceTiers');
  });

  it('has all kinds of prices; an embedding none of output', () => {
    const cost = { input: 1, output: 2, reasoning: 3, cache_read: 0.1, cache_write: 1.25 };
    expect(dev({ cost })?.prices).toEqual({
      ...{ input: 1, output: 2, reasoning: 3, cachedInput: 0.1, cacheWrite: 1.25 },
    });
    expect(dev({ cost: { input: 1, output: 2 } }, 'text-embed')).toEqual({
      ...{ name: 'One', provider: 'openai', contextWindow: 1000, type: 'embedding', maxOutputTokens: 0 },
      prices: { input: 1 },
    });
    expect(Object.keys(dev({ cost: { input: 1 } })?.prices ?? {})).toEqual(['input']);
  });

  it('has tiers in the order of their bounds; the older field counts only without them', () => {
    const tier = (size: number, input: number) => ({ input, tier: { type: 'context', size } });
    const cost = { ...PAGE.cost, context_over_200k: { output: 9 } };
    expect(dev({ cost })?.priceTiers).toEqual([
      { aboveInputTokens: 200_000, prices: { input: 1, output: 9 } },
    ]);
    expect(dev({ cost: { ...cost, tiers: [tier(300, 4), tier(100, 3)] } })?.priceTiers).toEqual([
      { aboveInputTokens: 100, prices: { input: 3, output: 2 } },
      { aboveInputTokens: 300, prices: { input: 4, output: 2 } },
    ]);
  });

  it('is left out unless text is all of its output', () => {
    const output = (...names: string[]) => dev({ modalities: { input: ['text'], output: names } });
    expect([output('image'), output('text', 'audio'), output()]).toEqual(Array(3).fill(undefined));
    expect(output('text')).toBeDefined();
  });

  it('has the known modalities only', () => {
    const input = ['text', 'constructor', 'pdf', 'smell', 'audio', 'video'];
    expect(dev({ modalities: { input, output: ['text'] } })?.inputModalities).toEqual([
      ...['text', 'document', 'audio', 'video'],
    ]);
  });

  it('has a name of at most 200 characters', () => {
    expect(dev({ name: 'x'.repeat(201) })?.name).toBe('x'.repeat(200));
  });

  it('names the place of a fault shortly', () => {
    const odd = { ...PAGE, limit: { context: 1000, output: 'x'.repeat(500) } };
    const { skipped } = readModelsDev({ openai: { models: { one: odd, two: PAGE } } });
    expect(skipped).toEqual([{ id: 'one', reason: expect.stringMatching(/^limit\.output: /) }]);
  });
});

describe('text of a list', () => {
  it('is refused above 64 MiB, and accepted up to it', () => {
    const most = 64 * 2 ** 20;
    expect(() => readModelsDev(' '.repeat(most + 1))).toThrow('models.dev: the list has more than 64 MiB');
    expect(() => readModelsDev(' '.repeat(most))).toThrow('models.dev: the list is no JSON');
  });

  it('is refused with the reason', () => {
    expect(() => readLiteLLM('{')).toThrow('LiteLLM: the list is no JSON');
    for (const json of ['[]', 'null', '7', '"x"', []]) {
      expect(() => readLiteLLM(json)).toThrow('LiteLLM: expected a JSON object');
    }
    expect(() => readModelsDev({})).toThrow(
      'models.dev: none of openai, anthropic, google, xai is in the list',
    );
    expect(() =>
      readModelsDev({ constructor: { models: {} } }, { providers: { constructor: 'x' } }),
    ).not.toThrow();
  });

  it('is not searched beyond its own entries', () => {
    expect(() => readModelsDev({}, { providers: { constructor: 'x' } })).toThrow('none of constructor');
  });
});
