import Anthropic from '@anthropic-ai/sdk';
import { ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { ASK, createAnthropicApp } from './support.ts';

const CALL = { type: 'tool_use', id: 't1', name: 'f', input: {} };
const RESULT = { type: 'tool_result', tool_use_id: 't1', content: 'x' };
const TEXT = { type: 'text', text: 'x' };
const asUser = (...content: unknown[]) => ({ role: 'user', content });
const asAssistant = (...content: unknown[]) => ({ role: 'assistant', content });

describe('errors of the Anthropic wire', () => {
  it.each([
    ['container', { container: 'c1' }],
    ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'a' }] }],
    ['inference_geo', { inference_geo: 'us' }],
    ['tools.0.type', { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 8 }] }],
    [
      'tools.1.type',
      {
        tools: [
          { name: 'f', input_schema: {} },
          { type: 'bash_20250124', name: 'bash' },
        ],
      },
    ],
    [
      'messages.0.content.0.citations',
      {
        messages: [
          asUser({
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'x' },
            citations: { enabled: true },
          }),
        ],
      },
    ],
    [
      'messages.0.content.0.type',
      { messages: [asAssistant({ type: 'server_tool_use', id: 's1', name: 'web_search', input: {} })] },
    ],
  ])('reject %s with its name', async (name, fields) => {
    const app = await createAnthropicApp();
    const response = await app.send('POST', '/messages', { ...ASK, ...fields });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: expect.stringContaining(`${name}: not supported`),
      },
      request_id: response.headers.get('request-id'),
    });
    expect(app.calls).toHaveLength(0);
  });

  it('never come from unknown fields, and name the path of an invalid one', async () => {
    const app = await createAnthropicApp();
    const unknown = await app.send(
      'POST',
      '/messages?beta=true',
      { ...ASK, future_field: { a: 1 }, context_management: { edits: [] }, fallbacks: [] },
      { 'anthropic-beta': 'future-2027-01-01', 'anthropic-version': '2030-01-01' },
    );
    expect(unknown.status).toBe(200);
    const invalid = await app.send('POST', '/messages', { ...ASK, messages: [asUser({ type: 'text' })] });
    expect(await invalid.json()).toMatchObject({
      error: { type: 'invalid_request_error', message: expect.stringContaining('messages.0.content.0.text') },
    });
  });

  it.each([
    ['a result without its call', [asUser(RESULT)], 'messages.0.content.0.tool_use_id'],
    ['a second result', [asUser(TEXT), asAssistant(CALL), asUser(RESULT, RESULT)], 'content.1.tool_use_id'],
    [
      'a result behind text',
      [asUser(TEXT), asAssistant(CALL), asUser(TEXT, RESULT)],
      'content.1: tool_result',
    ],
    ['a call without its result', [asUser(TEXT), asAssistant(CALL), asUser(TEXT)], 'messages.2: '],
    ['a call at the end', [asUser(TEXT), asAssistant(CALL)], 'messages: '],
    ['two calls with one id', [asAssistant(CALL, CALL)], 'messages.0.content.1.id'],
    ['a call of the user', [asUser(CALL)], 'messages.0.content.0: tool_use'],
    ['a result of the assistant', [asAssistant(RESULT)], 'messages.0.content.0: tool_result'],
    ['nothing to answer', [{ role: 'user', content: '' }], 'messages: no message has content'],
  ])('reject %s', async (_title, messages, expected) => {
    const app = await createAnthropicApp();
    for (const path of ['/messages', '/messages/count_tokens']) {
      const response = await app.send('POST', path, { ...ASK, messages });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        type: 'error',
        error: { type: 'invalid_request_error', message: expect.stringContaining(expected) },
      });
    }
  });

  it('do not come from results in several messages of the user', async () => {
    const app = await createAnthropicApp();
    const second = { ...RESULT, tool_use_id: 't2' };
    const messages = [
      asUser(TEXT),
      asAssistant(CALL, { ...CALL, id: 't2' }),
      asUser(RESULT),
      { role: 'system', content: 'Be brief.' },
      asUser(second, TEXT),
    ];
    expect((await app.send('POST', '/messages', { ...ASK, messages })).status).toBe(200);
    expect(app.calls[0]?.request.messages.map(({ role, content }) => [role, content[0]?.type])).toEqual([
      ['user', 'text'],
      ['assistant', 'tool_use'],
      ['user', 'tool_result'],
      ['user', 'tool_result'],
      ['user', 'text'],
    ]);
  });

  it('are mapped to the classes of the official SDK', async () => {
    const app = await createAnthropicApp({
      onCall: (call) => call.fail(new ProviderError('overloaded', 'busy', { retryAfterMs: 1000 })),
    });
    const ask = (client: Anthropic, body: Partial<typeof ASK> = {}) =>
      client.messages.create({ ...ASK, ...body }).catch((error: unknown) => error);
    const stranger = await ask(app.connect({ apiKey: 'svc_live_none' }));
    expect(stranger).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(stranger).toMatchObject({ type: 'authentication_error', requestID: expect.any(String) });
    const narrow = await app.issue({ scopes: ['me:read'] });
    expect(await ask(app.connect({ apiKey: narrow.key }))).toBeInstanceOf(Anthropic.PermissionDeniedError);
    expect(await ask(app.client, { model: 'none' })).toBeInstanceOf(Anthropic.NotFoundError);
    expect(await ask(app.client, { messages: [] })).toBeInstanceOf(Anthropic.BadRequestError);
    expect(await ask(app.client)).toMatchObject({ status: 529, type: 'overloaded_error' });
    const slow = await app.issue({ scopes: ['ai:chat'], requestsPerMinute: 1 });
    await ask(app.connect({ apiKey: slow.key }));
    expect(await ask(app.connect({ apiKey: slow.key }))).toBeInstanceOf(Anthropic.RateLimitError);
  });

  it('cause retries of temporary failures, and never of used-up credit', async () => {
    let count = 0;
    const app = await createAnthropicApp({
      credits: 1,
      onCall(call) {
        count += 1;
        if (count === 1) return call.fail(new ProviderError('failed', 'once'));
        call.say({ type: 'text', text: 'Here.' }, { type: 'usage', usage: { input: 1, output: 1 } });
        call.say({ type: 'finish', reason: 'stop' });
        call.end();
      },
    });
    let requests = 0;
    const counting = app.connect({
      maxRetries: 2,
      fetch: (...input) => {
        requests += 1;
        return fetch(...input);
      },
    });
    const answer = await counting.messages.create({ ...ASK, max_tokens: 5 });
    expect(answer.content).toMatchObject([{ text: 'Here.' }]);
    expect([count, requests]).toEqual([2, 2]);
    requests = 0;
    const refused = await counting.messages
      .create({ ...ASK, max_tokens: 5000 })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Anthropic.APIError);
    expect(refused).toMatchObject({
      status: 402,
      type: 'billing_error',
      apiMessage: expect.stringMatching(/^Insufficient credits/),
    });
    expect(requests).toBe(1);
  });

  it('are JSON below the mount path, for any path and method', async () => {
    const app = await createAnthropicApp();
    for (const path of ['/v1/none', '/v1', '/', '/.well-known/openid-configuration', '/v1/models/%']) {
      const response = await fetch(`${app.baseURL}${path}`, { headers: { 'x-api-key': app.key } });
      expect([path, response.status]).toEqual([path, 404]);
      expect(response.headers.get('content-type')).toContain('application/json');
      expect(await response.json()).toEqual({
        type: 'error',
        error: { type: 'not_found_error', message: expect.any(String) },
        request_id: response.headers.get('request-id'),
      });
    }
    const head = await fetch(`${app.baseURL}/`, { method: 'HEAD' });
    expect(head.status).toBe(404);
    const response = await app.send('DELETE', '/messages');
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('reject two different credentials and say so, and accept each alone', async () => {
    const app = await createAnthropicApp({
      identity: {
        identify: async ({ headers }) => (headers.cookie === 'sid=1' ? { externalId: 'host-1' } : undefined),
      },
      settings: { admin: { DefaultAPIModel: 'scripted', enforceCredits: false } },
    });
    const other = await app.issue({ scopes: ['ai:chat'] });
    const token = await app.token();
    for (const authToken of [other.key, token, 'sk-ant-oat01-other']) {
      const refused = await app.send('POST', '/messages', ASK, { Authorization: `Bearer ${authToken}` });
      expect(refused.status).toBe(401);
      const text = await refused.text();
      expect(text).not.toContain(authToken);
      expect(JSON.parse(text)).toMatchObject({
        error: {
          type: 'authentication_error',
          message: expect.stringContaining('two different credentials'),
        },
      });
    }
    const same = await app.send('POST', '/messages', ASK, { Authorization: `Bearer ${app.key}` });
    expect(same.status).toBe(200);
    const twice = { 'x-api-key': token, Authorization: `Bearer ${token}` };
    expect((await app.send('POST', '/messages', ASK, twice)).status).toBe(200);
    const bearer = app.connect({ apiKey: null, authToken: token });
    expect((await bearer.messages.create(ASK)).stop_reason).toBe('end_turn');
    const list = (cookie: string) => fetch(`${app.baseURL}/v1/models`, { headers: { Cookie: cookie } });
    expect((await list('sid=1')).status).toBe(200);
    expect((await list('sid=2')).status).toBe(401);
  });
});
