import { setImmediate as turn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ModelProvider } from '@questline/core/ports';
import { createAnthropicProvider } from '@questline/providers/anthropic';
import { createOpenAICompatibleProvider } from '@questline/providers/compatible';
import { createGeminiProvider } from '@questline/providers/gemini';
import { createOpenAIProvider } from '@questline/providers/openai';
import { createXAIProvider } from '@questline/providers/xai';
import {
  createAnthropicUpstream,
  createCompatibleUpstream,
  createGeminiUpstream,
  createOpenAIUpstream,
  createXAIUpstream,
  type Script,
  type Upstream,
  type UpstreamOptions,
  type UpstreamRequest,
} from '@questline/testing/upstreams';
import { afterEach, describe, expect, it } from 'vitest';
import { createExecutionApp } from '../support/execution.ts';

interface Vendor {
  readonly name: string;
  readonly model: string;
  readonly path: string;
  /** The last request keeps the tools and forbids their use. */
  readonly lastRound: object;
  /** Matches the reasoning that is sent back. */
  readonly kept: RegExp;
  /** The answer that must follow the schema. */
  readonly schema: string;
  readonly createUpstream: (options: UpstreamOptions) => Promise<Upstream>;
  readonly createProvider: (baseUrl: string) => ModelProvider;
}

const apiKey = 'sk-platform-secret';
const RESPONSES = {
  path: '/v1/responses',
  lastRound: { tool_choice: 'none' },
  kept: /"encrypted_content"/,
  schema: '"strict":true',
};
const OPENAI = {
  ...RESPONSES,
  createUpstream: createOpenAIUpstream,
  createProvider: (baseUrl: string) => createOpenAIProvider({ apiKey, baseUrl }),
};

const VENDORS: readonly Vendor[] = [
  ...['gpt-6.2-astra', 'gpt-6.2-sol', 'gpt-6.1-terra', 'gpt-6-luna'].map((model) => ({
    name: `OpenAI's ${model}`,
    model,
    ...OPENAI,
  })),
  {
    name: "xAI's grok-4.7",
    model: 'grok-4.7',
    ...RESPONSES,
    createUpstream: createXAIUpstream,
    createProvider: (baseUrl) => createXAIProvider({ apiKey, baseUrl }),
  },
  {
    name: 'a compatible server',
    model: 'test-model',
    path: '/v1/chat/completions',
    lastRound: { tool_choice: 'none' },
    kept: /"reasoning_content"/,
    schema: '"strict":true',
    createUpstream: createCompatibleUpstream,
    createProvider: (baseUrl) =>
      createOpenAICompatibleProvider({
        id: 'local',
        baseUrl,
        models: [{ id: 'test-model', supportsThinking: true }],
        contextWindow: 100_000,
        prices: { input: 1, output: 2 },
      }),
  },
  ...['claude-sonnet-5-5', 'claude-haiku-4-5'].map((model) => ({
    name: `Anthropic's ${model}`,
    model,
    path: '/v1/messages',
    lastRound: { tool_choice: { type: 'none' } },
    kept: /"signature"/,
    schema: '"json_schema"',
    createUpstream: createAnthropicUpstream,
    createProvider: (baseUrl: string) => createAnthropicProvider({ apiKey, baseUrl }),
  })),
  {
    name: "Gemini's gemini-3.8-flash",
    model: 'gemini-3.8-flash',
    path: '/v1beta/models/gemini-3.8-flash:streamGenerateContent',
    lastRound: { toolConfig: { functionCallingConfig: { mode: 'NONE' } } },
    kept: /"thoughtSignature"/,
    schema: '"responseJsonSchema"',
    createUpstream: createGeminiUpstream,
    createProvider: (baseUrl) => createGeminiProvider({ apiKey, baseUrl }),
  },
];

const closers: (() => Promise<unknown> | undefined)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const usage = { input: 10, output: 5, reasoning: 3 };
const computing: Script = {
  steps: [
    { thinking: 'I need the product.' },
    { text: 'I compute.' },
    { tool: 'calculator', id: 'call_a', arguments: ['{"expression":', '"6*7"}'] },
    { tool: 'calculator', id: 'call_b', arguments: ['{"expression":"2+2"}'] },
  ],
  usage,
};
const answering: Script = { steps: [{ thinking: 'I have it.' }, { text: 'It is 42.' }], usage };

/** The number of requests that contained tool results. */
function countResults({ body }: UpstreamRequest): number {
  return (
    JSON.stringify(body).match(/function_call_output|"role":"tool"|"tool_result"|"functionResponse"/g) ?? []
  ).length;
}

async function setUp(vendor: Vendor, script: (request: UpstreamRequest) => Script) {
  const upstream = await vendor.createUpstream({ script });
  closers.push(() => upstream.close());
  const provider = vendor.createProvider(upstream.baseUrl);
  closers.push(() => provider.close?.());
  const app = await createExecutionApp({
    models: [provider],
    settings: { admin: { DefaultAPIModel: vendor.model } },
  });
  return { ...app, upstream };
}

describe.each(VENDORS)('$name through the mounted API', (vendor) => {
  const { model, path, lastRound, kept, schema: sent } = vendor;

  it('chats with parallel tool calls and sends its reasoning back', async () => {
    const app = await setUp(vendor, (request) => (countResults(request) === 0 ? computing : answering));
    const { status, body } = await app.chat({
      message: 'What is 6*7?',
      model,
      enableTools: true,
      tools: ['calculator'],
      wait: true,
    });
    expect({ status, response: body.response }).toEqual({ status: 200, response: 'I compute.\n\nIt is 42.' });
    expect(app.upstream.requests.map((request) => request.path.split('?')[0])).toEqual([path, path]);
    expect(countResults(app.upstream.requests[1] as UpstreamRequest)).toBe(2);
    const second = JSON.stringify(app.upstream.requests[1]?.body);
    expect(second).toMatch(kept);
    expect(app.incidents).toEqual([]);
  });

  it('runs an agent to its last round, which must return an answer', async () => {
    const app = await setUp(vendor, (request) => {
      const isLast = Object.entries(lastRound).every(([name, value]) =>
        isDeepStrictEqual((request.body as Record<string, unknown>)[name], value),
      );
      const results = countResults(request);
      if (isLast) return answering;
      // Each round has its own calls.
      return {
        steps: [
          { thinking: 'More.' },
          { tool: 'calculator', id: `call_${results}`, arguments: ['{"expression":"6*7"}'] },
        ],
        usage,
      };
    });
    const { status, body } = await app.run({ max_iterations: 4, model });
    expect(status).toBe(202);
    let run = await app.look(body.id);
    for (; !['completed', 'failed', 'cancelled'].includes(run.status); run = await app.look(body.id)) {
      await turn();
    }
    expect(run).toMatchObject({ status: 'completed', answer: 'It is 42.', total_iterations: 4, error: null });
    expect(app.upstream.requests).toHaveLength(4);
    expect(app.upstream.requests[3]?.body).toMatchObject(lastRound);
  });

  it('answers by schema, in order and once', async () => {
    const app = await setUp(vendor, () => ({ steps: [{ text: '{"answer":42}' }], usage }));
    const schema = {
      type: 'object',
      properties: { answer: { type: 'number' } },
      required: ['answer'],
      additionalProperties: false,
    };
    const response = await app.ask('POST', '/api/ai/v1/completions', {
      body: {
        model,
        messages: [{ role: 'user', content: 'What is 6*7?' }],
        response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
      },
    });
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining('\\"answer\\":42'),
    ]);
    expect(JSON.stringify(app.upstream.requests[0]?.body)).toContain(sent);
  });

  it('accepts its own thinking blocks from a client of completions', async () => {
    const app = await setUp(vendor, (request) => (countResults(request) === 0 ? computing : answering));
    const parameters = { type: 'object', properties: { expression: { type: 'string' } } };
    const tools = [{ toolSchema: { name: 'calculator', description: 'Computes.', parameters } }];
    const question = { role: 'user', content: 'What is 6*7?' };
    const complete = async (messages: unknown[]) => {
      const answer = await app.ask('POST', '/api/ai/v1/completions', {
        body: { model, messages, tools, thinking: { enabled: true } },
      });
      const text = await answer.text();
      return text
        .split('\n')
        .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice('data: '.length))] : []));
    };
    const events = await complete([question]);
    const thinking = events.flatMap((event) => event.thinking ?? []);
    expect(thinking.length).toBeGreaterThan(0);
    const calls = ['call_a', 'call_b'];
    const again = await complete([
      question,
      {
        role: 'assistant',
        content: [
          ...thinking,
          { type: 'text', text: 'I compute.' },
          ...calls.map((id) => ({ type: 'tool_use', id, name: 'calculator', input: { expression: '6*7' } })),
        ],
      },
      { role: 'user', content: calls.map((id) => ({ type: 'tool_result', tool_use_id: id, content: '42' })) },
    ]);
    expect(JSON.stringify(again)).toContain('It is 42.');
    expect(app.upstream.requests).toHaveLength(2);
    const second = JSON.stringify(app.upstream.requests[1]?.body);
    expect(second).toMatch(kept);
  });
});
