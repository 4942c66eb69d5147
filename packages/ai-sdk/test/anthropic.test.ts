import { createAnthropic } from '@ai-sdk/anthropic';
import type { GenerateRequest, ModelContent, ModelPart } from '@questline/core/ports';
import { createAnthropicUpstream, type Script, type Upstream } from '@questline/testing/upstreams';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAiSdkProvider } from '../src/index.ts';
import { getChunks, hello, spoken, toFailure } from './scripted.ts';

const apiKey = 'sk-ant-SECRETSECRETSECRET';
let upstream: Upstream;
let provider: ReturnType<typeof createAiSdkProvider>;

beforeAll(async () => {
  upstream = await createAnthropicUpstream();
  const model = createAnthropic({ apiKey, baseURL: upstream.baseUrl })('claude-sonnet-4-5');
  provider = createAiSdkProvider({
    id: 'anthropic-bridge',
    models: [{ id: 'm', model, contextWindow: 200_000, maxOutputTokens: 64_000 }],
  });
});
afterAll(() => upstream.close());

async function ask(script: Script, request: Partial<GenerateRequest> = {}): Promise<ModelPart[]> {
  upstream.use(script);
  const stream = await provider.generate({ ...hello, ...request }, {});
  return (await getChunks(stream)).flat() as ModelPart[];
}

const lastBody = () => upstream.requests.at(-1)?.body;

describe('bridge with the SDK package of Anthropic', () => {
  test('returns text, usage in classes and a finish reason', async () => {
    const parts = await ask({
      steps: [{ text: 'Grüße' }, { text: ', \u{1F600}' }],
      usage: { input: 40, cachedInput: 60, cacheWrite: 20, output: 25 },
      finish: 'max_tokens',
    });
    expect(spoken(parts)).toBe('Grüße, \u{1F600}');
    expect(parts.slice(-2)).toEqual([
      { type: 'usage', usage: { input: 40, cachedInput: 60, cacheWrite: 20, output: 25 } },
      { type: 'finish', reason: 'max_tokens', model: 'claude-test' },
    ]);
    expect(upstream.requests.at(-1)?.headers['x-api-key']).toBe(apiKey);
    expect(lastBody()).toMatchObject({ model: 'claude-sonnet-4-5', stream: true, max_tokens: 50 });
  });

  test('limits thinking to the cap and sends signed thoughts back with the calls', async () => {
    const tools = [{ name: 'sum', description: 'Adds.', parameters: { type: 'object', properties: {} } }];
    const parts = await ask(
      {
        steps: [
          { thinking: 'They want a sum.', signature: 'SIGNED' },
          { text: 'I add.' },
          { tool: 'sum', id: 'toolu_1', arguments: ['{"a"', ':1}'] },
        ],
        usage: { input: 40, output: 20, reasoning: 10 },
      },
      { tools, maxTokens: 5000, thinking: { budgetTokens: 2000 } },
    );
    expect(lastBody()).toMatchObject({
      max_tokens: 5000,
      thinking: { type: 'enabled', budget_tokens: 2000 },
    });
    expect(parts).toContainEqual({ type: 'tool_use', id: 'toolu_1', name: 'sum', arguments: '{"a":1}' });
    expect(parts).toContainEqual({ type: 'usage', usage: { input: 40, output: 20, reasoning: 10 } });
    expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'tool_use', model: 'claude-test' });

    const answer: ModelContent[] = [
      ...parts.filter((part) => part.type === 'thinking'),
      { type: 'text', text: 'I add.' },
      { type: 'tool_use', id: 'toolu_1', name: 'sum', input: { a: 1 } },
    ];
    await ask(
      { steps: [{ text: '2' }] },
      {
        tools,
        maxTokens: 5000,
        thinking: { budgetTokens: 2000 },
        messages: [
          { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
          ...hello.messages,
          { role: 'assistant', content: answer },
          {
            role: 'user',
            content: [
              { type: 'tool_result', toolUseId: 'toolu_1', toolName: 'sum', content: '2', isError: true },
              { type: 'image', mediaType: 'image/png', data: 'AAAA' },
            ],
          },
        ],
      },
    );
    expect(lastBody()).toMatchObject({
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'They want a sum.', signature: 'SIGNED' },
            { type: 'text', text: 'I add.' },
            { type: 'tool_use', id: 'toolu_1', name: 'sum', input: { a: 1 } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: '2', is_error: true },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          ],
        },
      ],
    });
  });

  test.each([
    [401, 'authentication_error', `invalid x-api-key ${apiKey}`, 'rejected_key'],
    [403, 'permission_error', 'not for you', 'rejected_key'],
    [429, 'rate_limit_error', 'slow down', 'overloaded'],
    [529, 'overloaded_error', 'Overloaded', 'overloaded'],
    [400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum', 'context_length'],
    [400, 'invalid_request_error', 'messages: roles must alternate', 'invalid_request'],
    [500, 'api_error', 'Internal server error', 'failed'],
  ])('maps status %i %s "%s" to %s', async (status, type, message, kind) => {
    const body = { type: 'error', error: { type, message } };
    const error = (await toFailure(ask({ refusal: { status, body } }))) as Error;
    expect(error).toMatchObject({ name: 'ProviderError', kind });
    expect(error.message).not.toContain('SECRET');
  });

  test.each([[], [{ text: 'Hi' }]])(
    'reports a classified error when the stream breaks off after %j',
    async (...said) => {
      const steps = [...said, { error: 'Overloaded', code: 'overloaded_error' }];
      expect(await toFailure(ask({ steps }))).toMatchObject({ kind: 'overloaded' });
    },
  );

  test('fails when the stream breaks off without an event', async () => {
    const said = { text: 'Hi' };
    expect(await toFailure(ask({ steps: [said, { disconnect: true }] }))).toMatchObject({ kind: 'failed' });
    expect(await toFailure(ask({ steps: [said], finish: 'none' }))).toMatchObject({ kind: 'failed' });
  });
});

describe('cancellation with the Anthropic package', () => {
  beforeEach(() => upstream.use({ steps: [{ text: 'Hi' }, { wait: new Promise(() => {}) }] }));

  test.each([true, false])('closes the connection on return (after a first read: %s)', async (read) => {
    const number = upstream.requests.length;
    const stream = await provider.generate(hello, {});
    const iterator = stream[Symbol.asyncIterator]();
    if (read) await iterator.next();
    await iterator.return?.();
    await (await upstream.request(number)).disconnected;
  });

  test('closes the connection on abort and ends the stream with the abort reason', async () => {
    const number = upstream.requests.length;
    const abort = new AbortController();
    const stream = await provider.generate(hello, { signal: abort.signal });
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    const waiting = iterator.next();
    abort.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await (await upstream.request(number)).disconnected;
  });
});
