import type { ModelProvider, ProviderErrorKind } from '@questline/core';
import type { ProviderOptions } from '@questline/providers';
import { createAnthropicProvider } from '@questline/providers/anthropic';
import { createGeminiProvider } from '@questline/providers/gemini';
import { createOpenAIProvider } from '@questline/providers/openai';
import { createXAIProvider } from '@questline/providers/xai';
import { type ModelScenario, modelsSuite, realTime } from '@questline/testing';
import {
  createAnthropicUpstream,
  createGeminiUpstream,
  createOpenAIUpstream,
  createXAIUpstream,
  type Script,
  type ScriptStep,
  type Upstream,
  type UpstreamOptions,
} from '@questline/testing/upstreams';
import { describe, expect, it } from 'vitest';
import { never } from './set-up.ts';

interface Kind {
  readonly name: string;
  readonly model: string;
  readonly createUpstream: (options: UpstreamOptions) => Promise<Upstream>;
  readonly createProvider: (options: ProviderOptions) => ModelProvider;
  /** How the protocol says that the prompt is too long. */
  readonly tooLong: unknown;
}

const KINDS: readonly Kind[] = [
  {
    name: 'openai',
    model: 'gpt-5',
    createUpstream: createOpenAIUpstream,
    createProvider: createOpenAIProvider,
    tooLong: {
      error: { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' },
    },
  },
  {
    name: 'anthropic',
    model: 'claude-sonnet-4-5',
    createUpstream: createAnthropicUpstream,
    createProvider: createAnthropicProvider,
    tooLong: {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' },
    },
  },
  {
    name: 'gemini',
    model: 'gemini-2.5-flash',
    createUpstream: createGeminiUpstream,
    createProvider: createGeminiProvider,
    tooLong: {
      error: {
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).',
      },
    },
  },
  {
    name: 'xai',
    model: 'grok-4',
    createUpstream: createXAIUpstream,
    createProvider: createXAIProvider,
    tooLong: {
      code: 'x',
      error: "This model's maximum prompt length is 8 but the request contains 9 tokens.",
    },
  },
];

const STATUS: Partial<Record<ProviderErrorKind, number>> = {
  rejected_key: 401,
  overloaded: 429,
  context_length: 400,
  invalid_request: 400,
  failed: 500,
};

function scriptOf(scenario: ModelScenario, tooLong: unknown): Script {
  if (scenario.kind === 'silent') return { wait: never };
  if (scenario.kind === 'refuse') {
    const { error, retryAfterMs } = scenario;
    const body = error === 'context_length' ? tooLong : { error: { message: 'refused' } };
    const headers = retryAfterMs === undefined ? {} : { 'retry-after': String(retryAfterMs / 1000) };
    return { refusal: { status: STATUS[error] ?? 500, headers, body } };
  }
  const steps = scenario.parts.flatMap((part): ScriptStep[] => {
    if (part.type === 'text') return [{ text: part.text }];
    return part.type === 'tool_use' ? [{ tool: part.name, id: part.id, arguments: [part.arguments] }] : [];
  });
  if (scenario.kind === 'stall') return { steps: [...steps, { wait: never }] };
  if (scenario.kind === 'break') return { steps: [...steps, { wait: 20 }, { disconnect: true }] };
  const usage = scenario.parts.findLast((part) => part.type === 'usage')?.usage;
  const finish = scenario.parts.find((part) => part.type === 'finish')?.reason;
  return { steps, ...(usage && { usage }), ...(finish && { finish }) };
}

for (const { name, model, createUpstream, createProvider, tooLong } of KINDS) {
  modelsSuite({
    name,
    create: async () => {
      const closers: (() => Promise<unknown> | undefined)[] = [];
      return {
        async stage(scenario) {
          const upstream = await createUpstream({ script: scriptOf(scenario, tooLong) });
          const provider = createProvider({ apiKey: 'a-key', baseUrl: upstream.baseUrl });
          closers.push(
            () => upstream.close(),
            async () => provider.close?.(),
          );
          return {
            provider,
            model,
            calls: () => upstream.requests.length,
            called: () => upstream.request(0),
            left: async () => (await upstream.request(0)).disconnected,
          };
        },
        time: realTime(),
        close: async () => {
          for (const close of closers) await close();
        },
      };
    },
  });
}

describe.each(KINDS)('$name without a key', ({ createProvider }) => {
  it('offers no models, but to whoever brings a key of their own, the same list each time', () => {
    const provider = createProvider({ baseUrl: 'http://127.0.0.1:9/v1' });
    expect(provider.models()).toEqual([]);
    expect(provider.modelsForOwnKey?.()).toEqual(createProvider({ apiKey: 'a-key' }).models());
    expect(provider.modelsForOwnKey?.()).not.toEqual([]);
    expect(provider.modelsForOwnKey?.()).toBe(provider.modelsForOwnKey?.());
  });
});
