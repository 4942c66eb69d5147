import { ProviderError } from '@questline/core/ports';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { ASK, createOpenAIApp, readError } from './support.ts';

describe('errors of the OpenAI wire', () => {
  it.each([
    ['n', { n: 2 }],
    ['logprobs', { logprobs: true }],
    ['top_logprobs', { top_logprobs: 2 }],
    ['logit_bias', { logit_bias: { 50: 1 } }],
    ['modalities', { modalities: ['text', 'audio'] }],
    ['audio', { audio: { voice: 'alloy', format: 'mp3' } }],
    ['functions', { functions: [{ name: 'f' }] }],
    ['function_call', { function_call: 'auto' }],
    ['web_search_options', { web_search_options: { search_context_size: 'low' } }],
  ])('reject %s with its name', async (name, fields) => {
    const app = await createOpenAIApp();
    const response = await app.send('POST', '/chat/completions', { ...ASK, ...fields });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: {
        message: expect.stringContaining(`${name}: not supported`),
        type: 'invalid_request_error',
        param: name,
        code: 'unsupported_parameter',
      },
    });
    expect(app.calls).toHaveLength(0);
  });

  it('name the path of an invalid field, and ignore unknown ones', async () => {
    const app = await createOpenAIApp();
    const response = await app.send('POST', '/chat/completions', {
      ...ASK,
      messages: [{ role: 'user', content: [{ type: 'text' }] }],
    });
    expect(response.status).toBe(400);
    expect(await readError(response)).toMatchObject({
      type: 'invalid_request_error',
      param: 'messages[0].content[0].text',
    });
    const unknown = await app.send('POST', '/chat/completions', { ...ASK, future_field: { a: 1 } });
    expect(unknown.status).toBe(200);
  });

  it.each([
    [
      'a result without its call',
      [{ role: 'tool', tool_call_id: 't1', content: 'x' }],
      'messages[0].tool_call_id',
    ],
    [
      'a call without its result',
      [
        {
          role: 'assistant',
          tool_calls: [{ id: 't1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'user', content: 'x' },
      ],
      'messages[1]',
    ],
    [
      'arguments that are not JSON',
      [
        {
          role: 'assistant',
          tool_calls: [{ id: 't1', type: 'function', function: { name: 'f', arguments: '{"a' } }],
        },
      ],
      'messages[0].tool_calls[0].function.arguments',
    ],
  ])('reject %s', async (_title, messages, param) => {
    const app = await createOpenAIApp();
    const response = await app.send('POST', '/chat/completions', { ...ASK, messages });
    expect(response.status).toBe(400);
    expect((await readError(response)).param).toBe(param);
  });

  it('are mapped to the classes of the official SDK', async () => {
    const app = await createOpenAIApp({
      onCall: (call) => call.fail(new ProviderError('overloaded', 'busy', { retryAfterMs: 1000 })),
    });
    const ask = (client: OpenAI, body: Partial<typeof ASK> = {}) =>
      client.chat.completions.create({ ...ASK, ...body }).catch((error: unknown) => error);
    const stranger = await ask(app.connect({ apiKey: 'svc_live_none' }));
    expect(stranger).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(stranger).toMatchObject({ code: 'invalid_api_key', requestID: expect.any(String) });
    const narrow = await app.issue({ scopes: ['me:read'] });
    expect(await ask(app.connect({ apiKey: narrow.key }))).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect(await ask(app.client, { model: 'none' })).toBeInstanceOf(OpenAI.NotFoundError);
    expect(await ask(app.client, { messages: [] })).toBeInstanceOf(OpenAI.BadRequestError);
    expect(await ask(app.client)).toBeInstanceOf(OpenAI.InternalServerError);
    const slow = await app.issue({ scopes: ['ai:chat'], requestsPerMinute: 1 });
    await ask(app.connect({ apiKey: slow.key }));
    expect(await ask(app.connect({ apiKey: slow.key }))).toBeInstanceOf(OpenAI.RateLimitError);
  });

  it('cause retries of temporary failures, and never of used-up credit', async () => {
    let count = 0;
    const app = await createOpenAIApp({
      credits: 1,
      onCall(call) {
        count += 1;
        if (count === 1) return call.fail(new ProviderError('failed', 'once'));
        call.say({ type: 'text', text: 'Here.' }, { type: 'usage', usage: { input: 1, output: 1 } });
        call.say({ type: 'finish', reason: 'stop' });
        call.end();
      },
    });
    const patient = app.connect({ maxRetries: 2 });
    const answer = await patient.chat.completions.create({ ...ASK, max_tokens: 5 });
    expect(answer.choices[0]?.message.content).toBe('Here.');
    expect(count).toBe(2);

    let requests = 0;
    const counting = app.connect({
      maxRetries: 2,
      fetch: (...input) => {
        requests += 1;
        return fetch(...input);
      },
    });
    const refused = await counting.chat.completions
      .create({ ...ASK, max_tokens: 5000 })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(OpenAI.RateLimitError);
    expect(refused).toMatchObject({ code: 'insufficient_quota', type: 'insufficient_quota' });
    expect(requests).toBe(1);
  });

  it('are JSON below the mount path, for any path and method', async () => {
    const app = await createOpenAIApp();
    const origin = app.baseURL.slice(0, -3);
    for (const path of ['/v1/none', '/v1', '/', '/.well-known/openid-configuration', '/v1/models/%']) {
      const response = await fetch(`${origin}${path}`, { headers: { Authorization: `Bearer ${app.key}` } });
      expect([path, response.status]).toEqual([path, 404]);
      expect(response.headers.get('content-type')).toContain('application/json');
      expect(await response.json()).toEqual({
        error: {
          message: expect.any(String),
          type: 'invalid_request_error',
          param: null,
          code: expect.any(String),
        },
      });
    }
    const response = await app.send('DELETE', '/chat/completions');
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
    expect((await readError(response)).code).toBe('method_not_allowed');
  });

  it('reject two different credentials, and accept access tokens and identities of the host', async () => {
    const app = await createOpenAIApp({
      identity: {
        identify: async ({ headers }) => (headers.cookie === 'sid=1' ? { externalId: 'host-1' } : undefined),
      },
      settings: { admin: { DefaultAPIModel: 'scripted', enforceCredits: false } },
    });
    const other = await app.issue({ scopes: ['ai:chat'] });
    const both = await app.send('POST', '/chat/completions', ASK, { 'X-API-Key': other.key });
    expect(both.status).toBe(401);
    const token = await app.connect({ apiKey: await app.token() }).chat.completions.create(ASK);
    expect(token.choices[0]?.finish_reason).toBe('stop');
    const host = await fetch(`${app.baseURL}/models`, { headers: { Cookie: 'sid=1' } });
    expect(host.status).toBe(200);
    const unknown = await fetch(`${app.baseURL}/models`, { headers: { Cookie: 'sid=2' } });
    expect(unknown.status).toBe(401);
  });

  it('reject new work during shutdown', async () => {
    const app = await createOpenAIApp();
    await app.api.drain(0);
    const response = await app.send('POST', '/chat/completions', ASK);
    expect(response.status).toBe(503);
    expect((await readError(response)).type).toBe('server_error');
  });
});
