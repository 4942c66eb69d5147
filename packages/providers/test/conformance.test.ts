import type { ModelProvider, ProviderErrorKind } from '@questline/core/ports';
import type { ProviderOptions } from '@questline/providers';
import { createAnthropicProvider } from '@questline/providers/anthropic';
import { createOpenAICompatibleProvider } from '@questline/providers/compatible';
import { createGeminiProvider } from '@questline/providers/gemini';
import { createOpenAIProvider } from '@questline/providers/openai';
import { createXAIProvider } from '@questline/providers/xai';
import { type ModelScenario, modelsSuite, type ReceivedRequest, realTime } from '@questline/testing';
import {
  createAnthropicUpstream,
  createCompatibleUpstream,
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
  /** The error of the protocol for a prompt that is too long. */
  readonly tooLong: unknown;
  /** Converts a request of the protocol to the types of the port. */
  readonly received: (body: Body) => ReceivedRequest;
}

interface Named {
  readonly name: string;
}

/** The fields of the requests of all protocols. */
interface Body {
  readonly tools?: readonly (Named & {
    readonly function: Named;
    readonly functionDeclarations?: readonly Named[];
  })[];
  readonly tool_choice?:
    | 'auto'
    | 'required'
    | 'none'
    | (Named & { readonly type: string; readonly function: Named });
  readonly parallel_tool_calls?: boolean;
  readonly prompt_cache_key?: string;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  readonly stop_sequences?: readonly string[];
  readonly toolConfig?: {
    readonly functionCallingConfig?: {
      readonly mode?: string;
      readonly allowedFunctionNames?: readonly string[];
    };
  };
  readonly generationConfig?: {
    readonly topP?: number;
    readonly topK?: number;
    readonly seed?: number;
    readonly stopSequences?: readonly string[];
  };
}

/** The Responses API; only xAI has the fields `seed` and `top_k`. */
function readResponse(body: Body): ReceivedRequest {
  const choice = body.tool_choice;
  return {
    toolNames: (body.tools ?? []).map(({ name }) => name),
    toolChoice: typeof choice === 'object' ? { name: choice.name } : choice,
    parallelToolCalls: body.parallel_tool_calls,
    cacheKey: body.prompt_cache_key,
  };
}

function readCompletion(body: Body): ReceivedRequest {
  const choice = body.tool_choice;
  return {
    toolNames: (body.tools ?? []).map((tool) => tool.function.name),
    toolChoice: typeof choice === 'object' ? { name: choice.function.name } : choice,
    parallelToolCalls: body.parallel_tool_calls,
    topP: body.top_p,
    seed: body.seed,
    stop: body.stop,
    cacheKey: body.prompt_cache_key,
  };
}

const ANTHROPIC_CHOICES: Readonly<Record<string, ReceivedRequest['toolChoice']>> = {
  auto: 'auto',
  any: 'required',
  none: 'none',
};

function readMessage(body: Body): ReceivedRequest {
  const choice = typeof body.tool_choice === 'object' ? body.tool_choice : undefined;
  return {
    toolNames: (body.tools ?? []).map(({ name }) => name),
    toolChoice: choice?.type === 'tool' ? { name: choice.name } : ANTHROPIC_CHOICES[choice?.type ?? ''],
    stop: body.stop_sequences,
  };
}

const GEMINI_CHOICES: Readonly<Record<string, ReceivedRequest['toolChoice']>> = {
  AUTO: 'auto',
  ANY: 'required',
  NONE: 'none',
};

function readContent(body: Body): ReceivedRequest {
  const { mode, allowedFunctionNames: names } = body.toolConfig?.functionCallingConfig ?? {};
  const { topP, topK, seed, stopSequences: stop } = body.generationConfig ?? {};
  return {
    toolNames: (body.tools ?? []).flatMap((tool) =>
      (tool.functionDeclarations ?? []).map(({ name }) => name),
    ),
    toolChoice: names === undefined ? GEMINI_CHOICES[mode ?? ''] : { name: names[0] ?? '' },
    topP,
    topK,
    seed,
    stop,
  };
}

const KINDS: readonly Kind[] = [
  {
    name: 'openai',
    model: 'gpt-5',
    createUpstream: createOpenAIUpstream,
    createProvider: createOpenAIProvider,
    received: readResponse,
    tooLong: {
      error: { message: 'too long', type: 'invalid_request_error', code: 'context_length_exceeded' },
    },
  },
  {
    name: 'anthropic',
    model: 'claude-sonnet-4-5',
    createUpstream: createAnthropicUpstream,
    createProvider: createAnthropicProvider,
    received: readMessage,
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
    received: readContent,
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
    received: (body) => ({
      ...readResponse(body),
      topP: body.top_p,
      topK: body.top_k,
      seed: body.seed,
    }),
    tooLong: {
      code: 'x',
      error: "This model's maximum prompt length is 8 but the request contains 9 tokens.",
    },
  },
];

const CHAT = {
  model: 'test-model',
  tooLong: { error: { message: "This model's maximum context length is 8 tokens.", code: 400 } },
};

/** The same protocol of OpenAI and other servers. */
const CHAT_KINDS: readonly Kind[] = [
  {
    name: 'openai, by chat completions',
    createUpstream: createOpenAIUpstream,
    createProvider: (options) => createOpenAIProvider({ ...options, protocol: 'chat' }),
    received: readCompletion,
    ...CHAT,
  },
  {
    name: 'a compatible server',
    createUpstream: createCompatibleUpstream,
    createProvider: ({ apiKey, baseUrl = '' }) =>
      createOpenAICompatibleProvider({ id: 'local', apiKey, baseUrl, models: ['m'], promptCacheKey: true }),
    received: (body) => ({ ...readCompletion(body), topK: body.top_k }),
    ...CHAT,
  },
];

const STATUS: Partial<Record<ProviderErrorKind, number>> = {
  rejected_key: 401,
  overloaded: 429,
  context_length: 400,
  invalid_request: 400,
  failed: 500,
};

function getScript(scenario: ModelScenario, tooLong: unknown): Script {
  if (scenario.kind === 'silent') return { wait: never };
  if (scenario.kind === 'refuse') {
    const { error, retryAfterMs } = scenario;
    const body = error === 'context_length' ? tooLong : { error: { message: 'refused' } };
    const headers = retryAfterMs === undefined ? {} : { 'retry-after': String(retryAfterMs / 1000) };
    return { refusal: { status: STATUS[error] ?? 500, headers, body } };
  }
  const steps = scenario.parts.flatMap((part): ScriptStep[] => {
    if (part.type === 'text') return [{ text: part.text }];
    if (part.type === 'thinking_delta') return [{ thinking: part.text }];
    return part.type === 'tool_use' ? [{ tool: part.name, id: part.id, arguments: [part.arguments] }] : [];
  });
  if (scenario.kind === 'stall') return { steps: [...steps, { wait: never }] };
  if (scenario.kind === 'break') return { steps: [...steps, { wait: 20 }, { disconnect: true }] };
  const usage = scenario.parts.findLast((part) => part.type === 'usage')?.usage;
  const finish = scenario.parts.find((part) => part.type === 'finish')?.reason;
  return { steps, ...(usage && { usage }), ...(finish && { finish }) };
}

for (const { name, model, createUpstream, createProvider, tooLong, received } of [...KINDS, ...CHAT_KINDS]) {
  modelsSuite({
    name,
    create: async () => {
      const closers: (() => Promise<unknown> | undefined)[] = [];
      return {
        async stage(scenario) {
          const upstream = await createUpstream({ script: getScript(scenario, tooLong) });
          const provider = createProvider({ apiKey: 'a-key', baseUrl: upstream.baseUrl });
          closers.push(
            () => upstream.close(),
            async () => provider.close?.(),
          );
          return {
            provider,
            model,
            received: () => received(upstream.requests.at(-1)?.body as Body),
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
  it('offers models only to users with their own key, as the same list each time', () => {
    const provider = createProvider({ baseUrl: 'http://127.0.0.1:9/v1' });
    expect(provider.models()).toEqual([]);
    expect(provider.modelsForOwnKey?.()).toEqual(createProvider({ apiKey: 'a-key' }).models());
    expect(provider.modelsForOwnKey?.()).not.toEqual([]);
    expect(provider.modelsForOwnKey?.()).toBe(provider.modelsForOwnKey?.());
  });
});
