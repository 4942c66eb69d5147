import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { describe } from 'vitest';
import { testAiSdkModel } from '../support/ai-sdk-wire.ts';
import { createOpenAIApp, type OpenAIApp } from './support.ts';

const PROVIDERS = {
  '@ai-sdk/openai': ({ baseURL, key }: OpenAIApp) => createOpenAI({ baseURL, apiKey: key }).chat('scripted'),
  '@ai-sdk/openai-compatible': ({ baseURL, key }: OpenAIApp) =>
    createOpenAICompatible({ name: 'questline', baseURL, apiKey: key, includeUsage: true })('scripted'),
};

describe.each(Object.entries(PROVIDERS))('%s', (_name, connect) => {
  testAiSdkModel(async (options) => connect(await createOpenAIApp(options)));
});
