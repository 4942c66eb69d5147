import type { LanguageModelV2Usage } from '@ai-sdk/provider';
import type { ModelPart } from '@questline/core/ports';
import { describe, expect, test } from 'vitest';
import { createAiSdkProvider } from '../src/index.ts';
import { finish, getAnswer, getProvider, hello, scripted, spoken, textParts, toFailure } from './scripted.ts';

describe('older versions of the SDK interface', () => {
  test.each(['v2', 'v3'])('sends files as raw data and no effort to %s', async (specificationVersion) => {
    const { model, calls } = scripted([...textParts('ok'), finish], { specificationVersion });
    const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const;
    const parts = await getAnswer(model, {
      messages: [{ role: 'user', content: [image, { type: 'text', text: 'What?' }] }],
      reasoningEffort: 'low',
    });
    expect(spoken(parts)).toBe('ok');
    expect(calls[0]?.prompt[0]?.content).toEqual([
      { type: 'file', mediaType: 'image/png', data: 'AAAA' },
      { type: 'text', text: 'What?' },
    ]);
    expect(calls[0]).not.toHaveProperty('reasoning');
  });

  async function flat(usage: LanguageModelV2Usage, provider = 'openai.chat', providerMetadata?: object) {
    const { model } = scripted(
      [...textParts('ok'), { type: 'finish', usage, finishReason: 'length', providerMetadata } as never],
      { specificationVersion: 'v2', provider },
    );
    const parts: ModelPart[] = await getAnswer(model);
    expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'max_tokens' });
    const part = parts.find((one) => one.type === 'usage');
    return part?.type === 'usage' ? part.usage : undefined;
  }

  test('reads flat counts of v2 with cached input and reasoning included', async () => {
    const usage = { inputTokens: 100, outputTokens: 40, totalTokens: 140 };
    expect(await flat(usage)).toEqual({ input: 100, output: 40 });
    expect(await flat({ ...usage, cachedInputTokens: 60, reasoningTokens: 30 })).toEqual({
      input: 40,
      cachedInput: 60,
      output: 10,
      reasoning: 30,
    });
  });

  test('reads cache counts of Anthropic v2 separately', async () => {
    const usage = { inputTokens: 100, outputTokens: 40, totalTokens: 140, cachedInputTokens: 60 };
    const metadata = { anthropic: { cacheCreationInputTokens: 25 } };
    expect(await flat(usage, 'anthropic.messages', metadata)).toEqual({
      input: 100,
      cachedInput: 60,
      cacheWrite: 25,
      output: 40,
    });
  });

  test('reads reasoning separately when the v2 total includes it', async () => {
    const usage = { inputTokens: 100, outputTokens: 40, totalTokens: 170, reasoningTokens: 30 };
    expect(await flat(usage, 'google.generative-ai')).toEqual({ input: 100, output: 40, reasoning: 30 });
  });

  test('accepts v2 without counts', async () => {
    const usage = { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined };
    expect(await flat(usage)).toBeUndefined();
  });
});

describe('bridge provider', () => {
  test.each([
    ['v1', /version 'v1'.*v2, v3 and v4/],
    ['v5', /version 'v5'.*v2, v3 and v4/],
    [undefined, /version 'undefined'/],
  ])('rejects a model of version %s at creation', (specificationVersion, text) => {
    const { model } = scripted([], { specificationVersion });
    expect(() => getProvider(model)).toThrow(text);
    expect(() => getProvider(model)).toThrow(TypeError);
  });

  test('rejects a value that is not a model and duplicate ids', () => {
    const { model } = scripted([]);
    const one = { id: 'm', contextWindow: 1, maxOutputTokens: 1 };
    expect(() => getProvider('gpt-5' as never)).toThrow(/a model object of an AI SDK provider, got string/);
    expect(() => getProvider({ specificationVersion: 'v4' } as never)).toThrow(/neither a language model/);
    const models = [
      { ...one, model },
      { ...one, model },
    ];
    expect(() => createAiSdkProvider({ id: 'x', models })).toThrow(/Two models/);
  });

  test('describes its models to the catalogue without internal fields', () => {
    const { model } = scripted([]);
    const provider = getProvider(model, {
      name: 'Test',
      prices: { input: 1, output: 2 },
      supportsVision: true,
      withKey: () => model,
    });
    expect(provider.models()).toEqual([
      {
        id: 'm',
        name: 'Test',
        type: 'text',
        provider: 'bridge',
        contextWindow: 1000,
        maxOutputTokens: 100,
        supportsStreaming: true,
        supportsVision: true,
        prices: { input: 1, output: 2 },
      },
    ]);
    expect(provider.models()).toBe(provider.models());
  });

  test('rejects unknown models', async () => {
    const { model } = scripted([]);
    expect(await toFailure(getAnswer(model, { model: 'other' }))).toMatchObject({ kind: 'invalid_request' });
    expect(
      await toFailure(getProvider(model).embed?.({ model: 'm', inputs: ['a'] }, {}) as Promise<unknown>),
    ).toMatchObject({ kind: 'invalid_request' });
  });

  test('uses a key of the user only where a model can be made with it, and never exposes it', async () => {
    const platform = scripted([...textParts('platform'), finish]);
    const refused = getProvider(platform.model).generate(hello, { apiKey: 'user-secret' });
    expect(await toFailure(refused)).toMatchObject({ kind: 'not_configured' });
    expect(platform.calls).toHaveLength(0);

    const keys: string[] = [];
    const provider = getProvider(platform.model, {
      withKey(apiKey) {
        keys.push(apiKey);
        return scripted({ refuse: new Error(`the key ${apiKey} is bad`) }).model;
      },
    });
    const error = await toFailure(provider.generate(hello, { apiKey: 'user-secret' }));
    expect(keys).toEqual(['user-secret']);
    expect(String(error)).toContain('the key [key] is bad');
  });
});
