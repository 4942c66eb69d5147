import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { describe, expect, it } from 'vitest';
import { QUESTION, testAiSdkModel } from '../support/ai-sdk-wire.ts';
import { reason } from '../support/vendor-wire.ts';
import { createOpenAIApp, type OpenAIApp } from './support.ts';

const PROVIDERS = {
  '@ai-sdk/openai': ({ baseURL, key }: OpenAIApp) => createOpenAI({ baseURL, apiKey: key }).chat('scripted'),
  '@ai-sdk/openai, default': ({ baseURL, key }: OpenAIApp) =>
    createOpenAI({ baseURL, apiKey: key })('scripted'),
  '@ai-sdk/openai-compatible': ({ baseURL, key }: OpenAIApp) =>
    createOpenAICompatible({ name: 'questline', baseURL, apiKey: key, includeUsage: true })('scripted'),
};

describe.each(Object.entries(PROVIDERS))('%s', (_name, connect) => {
  testAiSdkModel(async (options) => connect(await createOpenAIApp(options)));
});

describe('the default model of @ai-sdk/openai', () => {
  const connect = async () => {
    const app = await createOpenAIApp({ onCall: reason });
    return { app, model: createOpenAI({ baseURL: app.baseURL, apiKey: app.key })('scripted') };
  };

  it('keeps reasoning over rounds with store: false', async () => {
    const { app, model } = await connect();
    const providerOptions = {
      openai: { store: false, include: ['reasoning.encrypted_content'], reasoningEffort: 'low' },
    };
    const first = await model.doGenerate({ prompt: [QUESTION], providerOptions });
    expect(first.usage.inputTokens).toMatchObject({ total: 45, cacheRead: 30 });
    expect(first.usage.outputTokens).toMatchObject({ total: 9, reasoning: 7 });
    const content = first.content.flatMap((part) => {
      if (part.type !== 'text' && part.type !== 'reasoning') return [];
      const { type, text, providerMetadata } = part;
      return [{ type, text, ...(providerMetadata && { providerOptions: providerMetadata }) }];
    });
    expect(content.map(({ type }) => type)).toEqual(['reasoning', 'text']);
    await model.doGenerate({
      prompt: [QUESTION, { role: 'assistant', content }, QUESTION],
      providerOptions,
    });
    expect(app.calls[1]?.request.messages[1]?.content).toEqual([
      { type: 'thinking', block: { type: 'thinking', thinking: 'hm', signature: 's1' } },
      { type: 'text', text: 'Rain.' },
    ]);
  });

  it('refers to stored items by default, and keeps reasoning over rounds', async () => {
    const { app, model } = await connect();
    const first = await model.doGenerate({ prompt: [QUESTION] });
    const content = first.content.flatMap((part) => {
      if (part.type !== 'text' && part.type !== 'reasoning') return [];
      const { type, text, providerMetadata } = part;
      return [{ type, text, ...(providerMetadata && { providerOptions: providerMetadata }) }];
    });
    const second = await model.doGenerate({ prompt: [QUESTION, { role: 'assistant', content }, QUESTION] });
    expect(JSON.stringify(second.request?.body)).toContain('item_reference');
    expect(app.calls[1]?.request.messages[1]?.content).toEqual([
      { type: 'thinking', block: { type: 'thinking', thinking: 'hm', signature: 's1' } },
      { type: 'text', text: 'Rain.' },
    ]);
  });
});
