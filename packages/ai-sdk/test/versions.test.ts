import type { LanguageModelV2Usage } from '@ai-sdk/provider';
import type { ModelPart } from '@questline/core';
import { describe, expect, test } from 'vitest';
import { createAiSdkProvider } from '../src/index.ts';
import { answerOf, failureOf, finish, hello, providerOf, scripted, spoken, textParts } from './scripted.ts';

describe('older versions of the interface', () => {
  test.each(['v2', 'v3'])('%s gets files as bare data, and no effort', async (specificationVersion) => {
    const { model, calls } = scripted([...textParts('ok'), finish], { specificationVersion });
    const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const;
    const parts = await answerOf(model, {
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
    const parts: ModelPart[] = await answerOf(model);
    expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'max_tokens' });
    const part = parts.find((one) => one.type === 'usage');
    return part?.type === 'usage' ? part.usage : undefined;
  }

  test('v2 counts flat, with cached input and reasoning within', async () => {
    const usage = { inputTokens: 100, outputTokens: 40, totalTokens: 140 };
    expect(await flat(usage)).toEqual({ input: 100, output: 40 });
    expect(await flat({ ...usage, cachedInputTokens: 60, reasoningTokens: 30 })).toEqual({
      input: 40,
      cachedInput: 60,
      output: 10,
      reasoning: 30,
    });
  });

  test('v2 of Anthropic counts the cache apart', async () => {
    const usage = { inputTokens: 100, outputTokens: 40, totalTokens: 140, cachedInputTokens: 60 };
    const metadata = { anthropic: { cacheCreationInputTokens: 25 } };
    expect(await flat(usage, 'anthropic.messages', metadata)).toEqual({
      input: 100,
      cachedInput: 60,
      cacheWrite: 25,
      output: 40,
    });
  });

  test('v2 with a total that adds reasoning counts reasoning apart', async () => {
    const usage = { inputTokens: 100, outputTokens: 40, totalTokens: 170, reasoningTokens: 30 };
    expect(await flat(usage, 'google.generative-ai')).toEqual({ input: 100, output: 40, reasoning: 30 });
  });

  test('v2 may count nothing', async () => {
    const usage = { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined };
    expect(await flat(usage)).toBeUndefined();
  });
});

describe('the provider', () => {
  test.each([
    ['v1', /version 'v1'.*v2, v3 and v4/],
    ['v5', /version 'v5'.*v2, v3 and v4/],
    [undefined, /version 'undefined'/],
  ])('refuses a model of version %s when it is made', (specificationVersion, text) => {
    const { model } = scripted([], { specificationVersion });
    expect(() => providerOf(model)).toThrow(text);
    expect(() => providerOf(model)).toThrow(TypeError);
  });

  test('refuses what is no model, and two of one id', () => {
    const { model } = scripted([]);
    const one = { id: 'm', contextWindow: 1, maxOutputTokens: 1 };
    expect(() => providerOf('gpt-5' as never)).toThrow(/a model object of an AI SDK provider, got string/);
    expect(() => providerOf({ specificationVersion: 'v4' } as never)).toThrow(/neither a language model/);
    const models = [
      { ...one, model },
      { ...one, model },
    ];
    expect(() => createAiSdkProvider({ id: 'x', models })).toThrow(/Two models/);
  });

  test('describes its models to the catalogue, without what is its own business', () => {
    const { model } = scripted([]);
    const provider = providerOf(model, {
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

  test('does not know other models', async () => {
    const { model } = scripted([]);
    expect(await failureOf(answerOf(model, { model: 'other' }))).toMatchObject({ kind: 'invalid_request' });
    expect(
      await failureOf(providerOf(model).embed?.({ model: 'm', inputs: ['a'] }, {}) as Promise<unknown>),
    ).toMatchObject({ kind: 'invalid_request' });
  });

  test("calls with a user's own key only where a model can be made with it, and never shows it", async () => {
    const platform = scripted([...textParts('platform'), finish]);
    const refused = providerOf(platform.model).generate(hello, { apiKey: 'user-secret' });
    expect(await failureOf(refused)).toMatchObject({ kind: 'not_configured' });
    expect(platform.calls).toHaveLength(0);

    const keys: string[] = [];
    const provider = providerOf(platform.model, {
      withKey(apiKey) {
        keys.push(apiKey);
        return scripted({ refuse: new Error(`the key ${apiKey} is bad`) }).model;
      },
    });
    const error = await failureOf(provider.generate(hello, { apiKey: 'user-secret' }));
    expect(keys).toEqual(['user-secret']);
    expect(String(error)).toContain('the key [key] is bad');
  });
});
