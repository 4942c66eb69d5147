import type { GenerateRequest, ModelProvider } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createAnthropicProvider } from './anthropic/index.ts';
import { createOpenAICompatibleProvider, type OpenAICompatibleOptions } from './compatible/index.ts';
import { readModelList, toModelInfo } from './compatible/models.ts';
import { createElevenLabsProvider } from './elevenlabs/index.ts';
import { createGeminiProvider } from './gemini/index.ts';
import { getEffortLevels, isReasoningModel } from './openai/families.ts';
import { createOpenAIProvider } from './openai/index.ts';
import { getKey, headersByKey, knownModels } from './options.ts';
import { readXAIError } from './xai/errors.ts';
import { createXAIProvider } from './xai/index.ts';

const VENDORS = {
  anthropic: createAnthropicProvider,
  elevenlabs: createElevenLabsProvider,
  gemini: createGeminiProvider,
  openai: createOpenAIProvider,
  xai: createXAIProvider,
};

describe.each(Object.entries(VENDORS))('provider %s', (id, create) => {
  it('offers its models with a key only, and to users with their own key always', () => {
    expect(create().id).toBe(id);
    expect(create().models()).toEqual([]);
    expect(create({ apiKey: '' }).models()).toEqual([]);
    const offered = create({ apiKey: 'k' }).models();
    expect(offered).not.toEqual([]);
    expect(create().modelsForOwnKey?.()).toEqual(offered);
  });

  it('has the connections of its options, and closes them', async () => {
    expect(() => create({ firstByteTimeoutMs: -1 })).toThrow('firstByteTimeoutMs');
    expect(() => create({ idleTimeoutMs: 0.5 })).toThrow('idleTimeoutMs');
    expect(() => create({ baseUrl: 'no url' })).toThrow(TypeError);
    const provider = create({ apiKey: 'k', baseUrl: 'http://127.0.0.1:9/v1' });
    await provider.close?.();
    await provider.close?.();
    const asked = { model: 'm', maxTokens: 1, messages: [] };
    const spoken = { model: 'm', text: 'Hi', format: 'mp3' } as const;
    const call = id === 'elevenlabs' ? provider.speech?.(spoken, {}) : provider.generate(asked, {});
    await expect(call).rejects.toThrow('The client is destroyed');
  });
});

const REASONS = { id: 'x', providerModel: 'r', supportsThinking: true };
const ABLE = { name: 'X', type: 'text', provider: 'x', contextWindow: 9, maxOutputTokens: 9 } as const;
const OWN = { models: [REASONS, { id: 'own', supportsThinking: true }].map((own) => ({ ...ABLE, ...own })) };
const compatible = (options: Partial<OpenAICompatibleOptions> = {}) =>
  createOpenAICompatibleProvider({
    id: 'local',
    baseUrl: 'http://127.0.0.1:9/v1',
    models: ['m'],
    ...options,
  });

describe('fields that a vendor ignores', () => {
  const FIELDS: Partial<GenerateRequest> = {
    temperature: 0.5,
    topP: 0.5,
    topK: 5,
    seed: 1,
    stop: ['a'],
    tools: [{ name: 'f', description: 'F', parameters: { type: 'object' } }],
    toolChoice: 'auto',
    parallelToolCalls: false,
    reasoningEffort: 'low',
  };
  const find = (provider: ModelProvider, model: string) =>
    provider.ignores?.({
      model,
      maxTokens: 100,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      ...FIELDS,
    });

  it.each<[string, () => ModelProvider, string, string[]]>([
    ['OpenAI', () => createOpenAIProvider(), 'gpt-4.1', ['topK', 'seed', 'stop', 'reasoningEffort']],
    [
      'OpenAI, for a model that reasons',
      () => createOpenAIProvider(),
      'gpt-5',
      ['temperature', 'topP', 'topK', 'seed', 'stop'],
    ],
    [
      'OpenAI, by chat completions',
      () => createOpenAIProvider({ protocol: 'chat' }),
      'gpt-4.1',
      ['topK', 'reasoningEffort'],
    ],
    ...['r', 'own'].flatMap((model): [string, () => ModelProvider, string, string[]][] => [
      ['OpenAI, for a model of the host', () => createOpenAIProvider(OWN), model, ['topK', 'seed', 'stop']],
      ['xAI, for a model of the host', () => createXAIProvider(OWN), model, ['stop']],
    ]),
    ['xAI, for an unknown model', () => createXAIProvider(), 'other', ['stop', 'reasoningEffort']],
    ['xAI', () => createXAIProvider(), 'grok-4', ['stop']],
    [
      'xAI, for a model that takes no effort',
      () => createXAIProvider(),
      'grok-4.20-reasoning',
      ['stop', 'reasoningEffort'],
    ],
    [
      'Anthropic',
      () => createAnthropicProvider(),
      'claude-opus-5-5',
      ['temperature', 'topP', 'topK', 'seed'],
    ],
    ['Gemini', () => createGeminiProvider(), 'gemini-3.8-flash', ['parallelToolCalls']],
    ['a compatible server', () => compatible(), 'm', ['reasoningEffort']],
    ['a compatible server with effort', () => compatible({ reasoningEffort: true }), 'm', []],
    ['a compatible server with a model that reasons', () => compatible({ models: [REASONS] }), 'r', []],
  ])('are named: %s', (_title, create, model, ignored) => {
    expect(find(create(), model)?.toSorted()).toEqual(ignored.toSorted());
  });
});

describe('provider without text models', () => {
  it('writes none', async () => {
    const request = { model: 'm', maxTokens: 1, messages: [] };
    await expect(createElevenLabsProvider({ apiKey: 'k' }).generate(request, {})).rejects.toMatchObject({
      kind: 'invalid_request',
    });
  });
});

describe('model of OpenAI by its name', () => {
  it.each([
    ['gpt-6-astra', true, ['low', 'medium', 'high', 'xhigh']],
    ['gpt-6.1-astra', true, ['low', 'medium', 'high', 'xhigh']],
    ['gpt-6.2-sol', true, ['low', 'medium', 'high', 'xhigh']],
    ['gpt-6-luna', true, ['none', 'low', 'medium', 'high', 'xhigh']],
    ['gpt-5.2', true, ['none', 'low', 'medium', 'high', 'xhigh']],
    ['gpt-5.1', true, ['none', 'low', 'medium', 'high']],
    ['gpt-5', true, ['minimal', 'low', 'medium', 'high']],
    ['o3', true, ['low', 'medium', 'high']],
    ['gpt-4.1', false, undefined],
  ])('%s reasons (%s) with its levels', (model, reasons, levels) => {
    expect([isReasoningModel(model), getEffortLevels(model)]).toEqual([reasons, levels]);
  });

  it('does not reason as a chat model', () => {
    expect(['gpt-5-chat-latest', 'gpt-6.1-chat'].map(isReasoningModel)).toEqual([false, false]);
  });
});

describe('error of xAI', () => {
  it.each([
    ['Incorrect API key provided', 'rejected_key'],
    ['invalid api key', 'rejected_key'],
    ['Content violates usage guidelines', 'content_blocked'],
    ['SAFETY_CHECK_TYPE_BIO', 'content_blocked'],
    ['maximum prompt length is 8', 'context_length'],
    ['Something else', undefined],
  ])('has a kind by its words: %s', (error, kind) => {
    expect(readXAIError({ code: 'invalid_argument', error }, 400)).toMatchObject({
      kind,
      message: error,
      code: 'invalid_argument',
    });
  });

  it('has no words in an empty body', () => {
    expect(readXAIError({}, 400)).toMatchObject({ kind: undefined, message: undefined });
  });
});

describe('options of a provider', () => {
  const model = (id: string, name = id) =>
    ({ id, name, type: 'text', provider: 'x', contextWindow: 1, maxOutputTokens: 1 }) as const;

  it('replace listed models by id, add others, or choose among them', () => {
    const listed = [model('a'), model('b')];
    const names = (models?: Parameters<typeof knownModels>[2]['models']) =>
      knownModels('mine', listed, models === undefined ? {} : { models }).map(({ name, provider }) => [
        name,
        provider,
      ]);
    expect(names()).toEqual([
      ['a', 'mine'],
      ['b', 'mine'],
    ]);
    expect(names([model('a', 'A'), model('c')])).toEqual([
      ['b', 'mine'],
      ['A', 'mine'],
      ['c', 'mine'],
    ]);
    expect(names((all) => all.slice(1))).toEqual([['b', 'mine']]);
  });

  it('have a key, unless the call has one', () => {
    expect(getKey('v', 'ours', {})).toBe('ours');
    expect(getKey('v', 'ours', { apiKey: 'theirs' })).toBe('theirs');
    for (const key of [undefined, '']) {
      expect(() => getKey('v', key, {})).toThrow(expect.objectContaining({ kind: 'not_configured' }));
    }
    expect(() => getKey('v', 'ours', { apiKey: '' })).toThrow('v: there is no key');
  });

  it('have headers, which stand behind those of the vendor', () => {
    const own = (key: string) => ({ authorization: key });
    const headers = headersByKey({ apiKey: 'k', headers: { 'x-a': 'b', authorization: 'mine' } }, own);
    expect(headers('k')).toEqual(['content-type', 'application/json', 'authorization', 'mine', 'x-a', 'b']);
    expect(headersByKey({}, own)('other')).toEqual([
      'content-type',
      'application/json',
      'authorization',
      'other',
    ]);
  });
});

describe('listed model of a compatible server', () => {
  const read = (entry: object) => readModelList({ data: [entry] })?.[0];

  it.each([
    [{ id: 'm', max_model_len: 100 }, { contextWindow: 100 }],
    [{ id: 'm', context_length: 100 }, { contextWindow: 100 }],
    [{ id: 'm', max_context_length: 100 }, { contextWindow: 100 }],
    [{ id: 'm', context_window: 100 }, { contextWindow: 100 }],
    [{ id: 'm', meta: { n_ctx: 100, n_ctx_train: 200 } }, { contextWindow: 100 }],
    [{ id: 'm', meta: { n_ctx_train: 200 } }, { contextWindow: 200 }],
    [{ id: 'm', max_model_len: 0, context_length: '5', context_window: 100 }, { contextWindow: 100 }],
    [{ id: 'm', max_model_len: 1 }, { contextWindow: 1 }],
    [{ id: 'm', max_completion_tokens: 50 }, { maxOutputTokens: 50 }],
    [
      { id: 'm', top_provider: { max_completion_tokens: 500 }, context_length: 100 },
      { contextWindow: 100, maxOutputTokens: 100 },
    ],
    [{ id: 'm', name: 'M' }, { name: 'M' }],
    [
      { id: 'm', capabilities: { function_calling: false, vision: true } },
      { supportsTools: false, supportsVision: true },
    ],
    [{ id: 'm', capabilities: { function_calling: 'no' } }, {}],
    [{ id: 'm', type: 'embedding' }, { type: 'embedding' }],
    [{ id: 'm', type: 'embeddings' }, { type: 'embedding' }],
    [{ id: 'm', task: 'embed' }, { type: 'embedding' }],
    [{ id: 'm', type: 'chat', task: 'generate' }, {}],
  ])('%j is read', (entry, expected) => {
    expect(read(entry)).toEqual({ id: 'm', ...expected });
  });

  it.each(['nomic-embed-text', 'BAAI/bge-m3', 'bge-large', 'all-MiniLM-L6'])(
    '%s is an embedding model by its name',
    (id) => {
      expect(read({ id })).toEqual({ id, type: 'embedding' });
    },
  );

  it('is one of a list, and any other answer has none', () => {
    expect(readModelList({ data: [{ id: 'a' }, { id: '' }, {}, 7] })).toEqual([{ id: 'a' }]);
    for (const answer of [undefined, {}, { data: 'x' }]) expect(readModelList(answer)).toBeUndefined();
    expect(readModelList([{ id: 'a' }, { id: 'a', name: 'again' }])).toEqual([{ id: 'a' }]);
    expect(readModelList({ models: [{ id: 'a' }] })).toEqual([{ id: 'a' }]);
  });

  it('has the defaults of the host, which its own fields replace', () => {
    const base = {
      id: 'a',
      name: 'a',
      type: 'text',
      provider: 'v',
      supportsStreaming: true,
      supportsTools: true,
    };
    expect(toModelInfo({ id: 'a' }, 'v', {})).toEqual({
      ...base,
      contextWindow: 8192,
      maxOutputTokens: 4096,
    });
    const prices = { input: 1, output: 2 };
    const abilities = { supportsTools: false, supportsVision: true, supportsThinking: false };
    const defaults = { contextWindow: 101, ...abilities, prices };
    expect(toModelInfo({ id: 'a' }, 'v', defaults)).toEqual({ ...base, ...defaults, maxOutputTokens: 50 });
    expect(toModelInfo({ id: 'a' }, 'v', { ...defaults, maxOutputTokens: 500 }).maxOutputTokens).toBe(101);
    const own = { id: 'a', name: 'A', contextWindow: 9, maxOutputTokens: 5, supportsTools: true };
    expect(toModelInfo(own, 'v', defaults)).toEqual({ ...base, ...defaults, ...own });
    expect(toModelInfo({ id: 'e', type: 'embedding' }, 'v', defaults)).toEqual({
      id: 'e',
      name: 'e',
      type: 'embedding',
      provider: 'v',
      contextWindow: 101,
      maxOutputTokens: 0,
      prices,
    });
  });
});
