import { createOpenAI } from '@ai-sdk/openai';
import type { GenerateRequest, ModelPart } from '@questline/core/ports';
import { createOpenAIUpstream, type Script, type Upstream } from '@questline/testing/upstreams';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAiSdkProvider } from '../src/index.ts';
import { getChunks, hello, spoken, toFailure } from './scripted.ts';

const apiKey = 'sk-test-SECRETSECRETSECRET';
let upstream: Upstream;
let provider: ReturnType<typeof createAiSdkProvider>;

beforeAll(async () => {
  upstream = await createOpenAIUpstream();
  const vendor = (key: string) => createOpenAI({ apiKey: key, baseURL: upstream.baseUrl });
  provider = createAiSdkProvider({
    id: 'openai-bridge',
    models: [
      {
        id: 'm',
        model: vendor(apiKey).chat('gpt-test'),
        withKey: (key) => vendor(key).chat('gpt-test'),
        contextWindow: 8000,
        maxOutputTokens: 1000,
      },
      {
        id: 'e',
        model: vendor(apiKey).embedding('text-embedding-3-small'),
        contextWindow: 8000,
        maxOutputTokens: 0,
      },
    ],
  });
});
afterAll(() => upstream.close());

async function ask(script: Script, request: Partial<GenerateRequest> = {}): Promise<ModelPart[]> {
  upstream.use(script);
  const stream = await provider.generate({ ...hello, ...request }, {});
  return (await getChunks(stream)).flat() as ModelPart[];
}

const lastRequest = () => upstream.requests.at(-1);

describe('bridge with the SDK package of OpenAI', () => {
  test('returns text, usage in classes and a finish reason', async () => {
    const parts = await ask({
      steps: [{ text: 'Grüße' }, { text: ', \u{1F600}' }],
      usage: { input: 40, cachedInput: 60, output: 20, reasoning: 10 },
      finish: 'max_tokens',
    });
    expect(spoken(parts)).toBe('Grüße, \u{1F600}');
    expect(parts.slice(-2)).toEqual([
      { type: 'usage', usage: { input: 40, cachedInput: 60, output: 20, reasoning: 10 } },
      { type: 'finish', reason: 'max_tokens', model: 'gpt-test' },
    ]);
    expect(lastRequest()?.headers.authorization).toBe(`Bearer ${apiKey}`);
    expect(lastRequest()?.body).toMatchObject({ model: 'gpt-test', stream: true, max_tokens: 50 });
  });

  test('calls tools and sends their results', async () => {
    const tools = [{ name: 'sum', description: 'Adds.', parameters: { type: 'object', properties: {} } }];
    const parts = await ask({ steps: [{ tool: 'sum', id: 'c1', arguments: ['{"a"', ':1}'] }] }, { tools });
    expect(parts).toContainEqual({ type: 'tool_use', id: 'c1', name: 'sum', arguments: '{"a":1}' });
    expect(parts.at(-1)).toEqual({ type: 'finish', reason: 'tool_use', model: 'gpt-test' });
    await ask(
      { steps: [{ text: 'It is 2.' }] },
      {
        tools,
        messages: [
          { role: 'user', content: [{ type: 'text', text: 'Add.' }] },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'sum', input: { a: 1 } }] },
          {
            role: 'user',
            content: [
              { type: 'tool_result', toolUseId: 'c1', toolName: 'sum', content: '2', isError: false },
              { type: 'image', mediaType: 'image/png', data: 'AAAA' },
              { type: 'text', text: 'And this?' },
            ],
          },
        ],
      },
    );
    expect(lastRequest()?.body).toMatchObject({
      messages: [
        { role: 'user', content: 'Add.' },
        { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'sum', arguments: '{"a":1}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: '2' },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'text', text: 'And this?' },
          ],
        },
      ],
    });
  });

  test.each([
    [
      401,
      { error: { message: `Incorrect API key provided: ${apiKey}.`, code: 'invalid_api_key' } },
      'rejected_key',
    ],
    [429, { error: { message: 'Slow down', type: 'requests', code: 'rate_limit_exceeded' } }, 'overloaded'],
    [429, { error: { message: 'No money', code: 'insufficient_quota' } }, 'rejected_key'],
    [400, { error: { message: 'Too long', code: 'context_length_exceeded' } }, 'context_length'],
    [404, { error: { message: 'No such model', code: 'model_not_found' } }, 'invalid_request'],
    [503, 'upstream connect error', 'overloaded'],
  ])('maps %i %j to a classified error without the key', async (status, body, kind) => {
    const headers = { 'retry-after': '3' };
    const error = (await toFailure(ask({ refusal: { status, body, headers } }))) as Error;
    expect(error).toMatchObject({ name: 'ProviderError', kind });
    expect(error.message).not.toContain('SECRET');
    if (kind === 'overloaded') expect(error).toMatchObject({ retryAfterMs: 3000 });
  });

  test('fails however the stream breaks off', async () => {
    const said = { text: 'Hi' };
    expect(
      await toFailure(ask({ steps: [said, { error: 'The server had an error', code: 'server_error' }] })),
    ).toMatchObject({ kind: 'failed' });
    expect(await toFailure(ask({ steps: [said, { disconnect: true }] }))).toMatchObject({ kind: 'failed' });
    expect(await toFailure(ask({ steps: [said], finish: 'none' }))).toMatchObject({ kind: 'failed' });
  });

  test('fails when the server is unreachable', async () => {
    const model = createOpenAI({ apiKey, baseURL: 'http://127.0.0.1:9/v1' }).chat('gpt-test');
    const closed = createAiSdkProvider({
      id: 'closed',
      models: [{ id: 'm', model, contextWindow: 1, maxOutputTokens: 1 }],
    });
    expect(await toFailure(closed.generate(hello, {}))).toMatchObject({ kind: 'failed' });
  });

  test('uses the key of the user instead of the key of the platform', async () => {
    upstream.use({ steps: [{ text: 'Hi' }] });
    await getChunks(await provider.generate(hello, { apiKey: 'sk-user' }));
    expect(lastRequest()?.headers.authorization).toBe('Bearer sk-user');
  });

  test('returns embeddings', async () => {
    // In this order, on which their package relies.
    const data = [
      { object: 'embedding', index: 0, embedding: [0.25, 0.5] },
      { object: 'embedding', index: 1, embedding: [0.5, 0.75] },
    ];
    const body = { object: 'list', data, model: 'x', usage: { prompt_tokens: 4, total_tokens: 4 } };
    upstream.use({ refusal: { status: 200, body } });
    const result = await provider.embed?.({ model: 'e', inputs: ['a', 'bbb'], dimensions: 2 }, {});
    expect(result).toEqual({
      embeddings: [
        [0.25, 0.5],
        [0.5, 0.75],
      ],
      tokens: 4,
    });
    expect(lastRequest()?.body).toMatchObject({ input: ['a', 'bbb'], dimensions: 2 });
  });
});

describe('cancellation with the OpenAI package', () => {
  beforeEach(() => upstream.use({ steps: [{ text: 'Hi' }, { wait: new Promise(() => {}) }] }));

  async function start(signal?: AbortSignal) {
    const number = upstream.requests.length;
    const stream = await provider.generate(hello, signal ? { signal } : {});
    return { iterator: stream[Symbol.asyncIterator](), request: await upstream.request(number) };
  }

  test('closes the connection on return', async () => {
    const { iterator, request } = await start();
    await iterator.next();
    await iterator.return?.();
    await request.disconnected;
  });

  test('closes the connection on return before the first read', async () => {
    const { iterator, request } = await start();
    await iterator.return?.();
    await request.disconnected;
  });

  test('closes the connection on abort and ends the stream with the abort reason', async () => {
    const abort = new AbortController();
    const { iterator, request } = await start(abort.signal);
    await iterator.next();
    const waiting = iterator.next();
    abort.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await request.disconnected;
  });

  test('closes the connection on abort before the answer begins', async () => {
    upstream.use({ wait: new Promise(() => {}) });
    const number = upstream.requests.length;
    const abort = new AbortController();
    const call = toFailure(provider.generate(hello, { signal: abort.signal }));
    const request = await upstream.request(number);
    abort.abort(new Error('gone'));
    expect(await call).toMatchObject({ message: 'gone' });
    await request.disconnected;
  });
});
