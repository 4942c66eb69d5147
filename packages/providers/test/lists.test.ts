import { createCatalogue } from '@questline/core/internal';
import { readLiteLLM, readModelsDev } from '@questline/providers';
import { readStoredModels } from '@questline/providers/lists';
import { createOpenAIProvider } from '@questline/providers/openai';
import { describe, expect, it } from 'vitest';

const modelsDev = {
  openai: {
    id: 'openai',
    models: {
      'gpt-6-luna': {
        id: 'gpt-6-luna',
        name: 'GPT-6 Luna\u001b[2J',
        reasoning: true,
        tool_call: true,
        modalities: { input: ['text', 'image', 'pdf', 'smell'], output: ['text'] },
        reasoning_options: [{ type: 'effort', values: ['none', 'low', 'max'] }],
        limit: { context: 1_050_000, input: 922_000, output: 128_000 },
        cost: {
          input: 0.2,
          output: 1,
          cache_read: 0.02,
          tiers: [{ input: 0.4, tier: { type: 'context', size: 272_000 } }],
        },
      },
      'text-embedding-4': {
        name: 'Embedding 4',
        modalities: { input: ['text'], output: ['text'] },
        limit: { context: 8192, output: 1536 },
        cost: { input: 0.01, output: 0 },
      },
      'gpt-image-9': {
        name: 'Images',
        modalities: { input: ['text'], output: ['image'] },
        limit: { context: 1, output: 0 },
      },
    },
  },
  google: {
    models: {
      'gemini-9': {
        name: 'Gemini 9',
        modalities: { input: ['text'], output: ['text'] },
        limit: { context: 1000, output: 100 },
        cost: { input: 1, output: 2, context_over_200k: { input: 3, output: 4 } },
      },
    },
  },
  unknown: { models: { other: {} } },
};

const liteLLM = {
  sample_spec: { litellm_provider: 'one of https://docs.litellm.ai/docs/providers' },
  'gpt-6-luna': {
    litellm_provider: 'openai',
    mode: 'responses',
    max_input_tokens: 922_000,
    max_output_tokens: 128_000,
    input_cost_per_token: 1e-7,
    output_cost_per_token: 5e-7,
    cache_read_input_token_cost: 1e-8,
    cache_creation_input_token_cost: 1.25e-7,
    cache_creation_input_token_cost_above_1hr: 9e-7,
    input_cost_per_token_above_272k_tokens: 2e-7,
    output_cost_per_token_above_272k_tokens: 7.5e-7,
    supports_function_calling: true,
    supports_reasoning: true,
    supports_vision: true,
  },
  'gemini/gemini-9': {
    litellm_provider: 'gemini',
    mode: 'chat',
    max_input_tokens: 1000,
    max_output_tokens: 100,
    input_cost_per_token: 0.000003,
    output_cost_per_token: 0.000011,
    deprecation_date: '2027-05-01',
  },
  'whisper-1': {
    litellm_provider: 'openai',
    mode: 'audio_transcription',
    input_cost_per_second: 0.0001,
    deprecation_date: '2027-02-26',
  },
  'dall-e-9': { litellm_provider: 'openai', mode: 'image_generation' },
};

describe('readModelsDev', () => {
  it('reads chat models and embeddings of the four vendors, with tiers, efforts and modalities', () => {
    const { models, skipped } = readModelsDev(JSON.stringify(modelsDev));
    expect(skipped).toEqual([]);
    expect(Object.keys(models)).toEqual(['gpt-6-luna', 'text-embedding-4', 'gemini-9']);
    expect(models['gpt-6-luna']).toEqual({
      name: 'GPT-6 Luna[2J',
      type: 'text',
      provider: 'openai',
      contextWindow: 1_050_000,
      maxOutputTokens: 128_000,
      supportsStreaming: true,
      supportsThinking: true,
      supportsTools: true,
      supportsVision: true,
      inputModalities: ['text', 'image', 'document'],
      outputModalities: ['text'],
      reasoningEfforts: ['none', 'low'],
      prices: { input: 0.2, output: 1, cachedInput: 0.02 },
      priceTiers: [{ aboveInputTokens: 272_000, prices: { input: 0.4, output: 1, cachedInput: 0.02 } }],
    });
    expect(models['text-embedding-4']).toMatchObject({ type: 'embedding', prices: { input: 0.01 } });
    expect(models['gemini-9']).toMatchObject({
      provider: 'gemini',
      ...{ supportsThinking: false, supportsTools: false, supportsVision: false },
      priceTiers: [{ aboveInputTokens: 200_000, prices: { input: 3, output: 4 } }],
    });
  });

  it('makes overrides for the models setting: known models change, new ones are added', () => {
    const { models: overrides } = readModelsDev(modelsDev, { providers: { openai: 'openai' } });
    const catalogue = createCatalogue({
      providers: [createOpenAIProvider({ apiKey: 'sk-none' })],
      overrides,
    });
    expect(catalogue.find('gpt-6-luna')?.info.prices).toMatchObject({ input: 0.2, cacheWrite: 0.125 });
    expect(catalogue.find('text-embedding-4')?.prices?.input).toBe(1_000_000);
  });
});

describe('readLiteLLM', () => {
  it('reads prices per token, tiers by their names, and dates of every kind of model', () => {
    const { models, skipped } = readLiteLLM(liteLLM);
    expect(skipped).toEqual([]);
    expect(models['gpt-6-luna']).toMatchObject({
      type: 'text',
      provider: 'openai',
      contextWindow: 922_000,
      prices: { input: 0.1, output: 0.5, cachedInput: 0.01, cacheWrite: 0.125 },
      priceTiers: [
        {
          aboveInputTokens: 272_000,
          prices: { input: 0.2, output: 0.75, cachedInput: 0.01, cacheWrite: 0.125 },
        },
      ],
    });
    expect(models['gemini-9']).toMatchObject({
      prices: { input: 3, output: 11 },
      deprecationDate: '2027-05-01',
    });
    expect(models['whisper-1']).toEqual({ deprecationDate: '2027-02-26' });
    expect(models).not.toHaveProperty('dall-e-9');
  });
});

describe('hostile list', () => {
  const model = modelsDev.openai.models['gpt-6-luna'];
  const listed = (entries: string) => readModelsDev(`{"openai":{"models":{${entries}}}}`);

  it('changes no prototype and invents no model', () => {
    const text = JSON.stringify(model);
    const { models, skipped } = listed(`"__proto__":${text},"constructor":${text},"a b":${text}`);
    expect(Object.keys(models)).toEqual(['constructor']);
    expect(Object.getPrototypeOf(models)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).contextWindow).toBeUndefined();
    expect(skipped.map(({ id }) => id)).toEqual(['a b']);
    const lite = readLiteLLM(
      `{"__proto__":{"litellm_provider":"openai","mode":"chat"},"x":{"litellm_provider":"__proto__"}}`,
    );
    expect(Object.keys(lite.models)).toEqual([]);
  });

  it('omits entries with implausible prices and windows, and reports why', () => {
    const odd = [
      { cost: { input: -1, output: 1 } },
      { cost: { input: '1', output: 1 } },
      { cost: { input: 1e9, output: 1 } },
      { limit: { context: 0, output: 1 } },
      { limit: { context: 1.5, output: 1 } },
      { limit: { context: 1e12, output: 1 } },
      { modalities: { input: 'text', output: ['text'] } },
      { name: '' },
    ];
    const entries = odd.map((fault, index) => `"m${index}":${JSON.stringify({ ...model, ...fault })}`);
    const { models, skipped } = listed([...entries, `"m8":null`, `"m9":${JSON.stringify(model)}`].join());
    expect(Object.keys(models)).toEqual(['m9']);
    expect(skipped).toHaveLength(9);
    for (const { reason } of skipped) expect(reason.length).toBeLessThanOrEqual(200);
  });

  it('is refused when it is not a price list', () => {
    for (const read of [readModelsDev, readLiteLLM]) {
      for (const json of ['', '[]', 'null', '{', '{}', 7, null, '{"openai":7}', '<html>']) {
        expect(() => read(json)).toThrow(/models\.dev|LiteLLM/);
      }
    }
  });
});

describe('stored models', () => {
  it('are read back as they were made', () => {
    for (const { models } of [readModelsDev(modelsDev), readLiteLLM(liteLLM)]) {
      expect(readStoredModels(JSON.stringify({ importedAt: 'x', models }))).toEqual(models);
    }
  });

  it('are refused when a field is unknown or of another type', () => {
    for (const override of [{ disabled: true }, { prices: { input: '1' } }, { deprecationDate: 'soon' }, 7]) {
      expect(() => readStoredModels({ models: { one: override } })).toThrow();
    }
  });
});
