import { ProviderError } from '@questline/core/ports';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { createOpenAIApp, readError } from './support.ts';
import { BOTH, FUNCTIONS, QUESTION } from './support-responses.ts';

describe('errors of responses', () => {
  it.each([
    ['prompt', { prompt: { id: 'p1' } }, 'send instructions and input'],
    ['context_management', { context_management: [{ type: 'compaction' }] }, 'send a shorter conversation'],
    ['moderation', { moderation: { model: 'm' } }, 'moderated responses'],
    ['top_logprobs', { top_logprobs: 2 }, 'token probabilities'],
    ['include[0]', { include: ['message.output_text.logprobs'] }, 'token probabilities'],
    ['tools[0].type', { tools: [{ type: 'web_search' }] }, 'external_web_access'],
    [
      'tools[0].type',
      { tools: [{ type: 'web_search_preview_2025_03_11' }] },
      'this server has no web search',
    ],
    [
      'tools[0].filters',
      {
        tools: [
          { type: 'file_search', vector_store_ids: ['a'], filters: { type: 'eq', key: 'k', value: 1 } },
        ],
      },
      'filters',
    ],
    [
      'tools[0].ranking_options.hybrid_search',
      {
        tools: [
          {
            type: 'file_search',
            vector_store_ids: ['a'],
            ranking_options: { hybrid_search: { embedding_weight: 1, text_weight: 0 } },
          },
        ],
      },
      'weights',
    ],
    [
      'tools[0].server_url',
      { tools: [{ type: 'mcp', server_label: 'a', server_url: 'https://a.example.com' }] },
      'its host has configured',
    ],
    ['tools[0].type', { tools: [{ type: 'code_interpreter', container: 'c' }] }, 'code_interpreter'],
    ['tools[0].type', { tools: [{ type: 'tool_search' }] }, 'set execution to client'],
    ['tools[0].type', { tools: [{ type: 'shell' }] }, 'offer functions or custom tools'],
    [
      'input[0].tools[0].tunnel_id',
      {
        input: [
          {
            type: 'additional_tools',
            role: 'developer',
            tools: [{ type: 'mcp', server_label: 'a', tunnel_id: 't' }],
          },
        ],
      },
      'its host has configured',
    ],
    [
      'tools[0].tools[0].type',
      { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'mcp' }] }] },
      'offer functions or custom tools',
    ],
    ['tool_choice.type', { tools: FUNCTIONS, tool_choice: { type: 'shell' } }, 'shell'],
  ])('reject %s with its name and what to do instead', async (param, fields, advice) => {
    const app = await createOpenAIApp();
    const response = await app.send('POST', '/responses', { ...QUESTION, ...fields });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: {
        message: expect.stringContaining(advice),
        type: 'invalid_request_error',
        param,
        code: 'unsupported_parameter',
      },
    });
    expect(app.calls).toHaveLength(0);
  });

  it.each([
    ['tools[0].name', { tools: [{ type: 'function' }] }],
    ['tools[1].name', { tools: [FUNCTIONS[0], FUNCTIONS[0]] }],
    ['tools[0].vector_store_ids', { tools: [{ type: 'file_search' }] }],
    ['tools[0].vector_store_ids', { tools: [{ type: 'file_search', vector_store_ids: [] }] }],
    [
      'tools[0].vector_store_ids',
      { tools: [{ type: 'file_search', vector_store_ids: Array.from({ length: 10_000 }, String) }] },
    ],
    ['tools[0].max_num_results', { tools: [{ type: 'file_search', max_num_results: 51 }] }],
    [
      'tools[0].ranking_options.score_threshold',
      { tools: [{ type: 'file_search', ranking_options: { score_threshold: 2 } }] },
    ],
    ['max_tool_calls', { max_tool_calls: 0 }],
    ['tool_choice', { tools: FUNCTIONS, tool_choice: { type: 'web_search' } }],
    ['tool_choice', { tools: FUNCTIONS, tool_choice: { type: 'file_search' } }],
    ['tool_choice', { tool_choice: 'required' }],
    ['tool_choice', { tools: FUNCTIONS, tool_choice: { type: 'function', name: 'none' } }],
    [
      'tool_choice.tools[0]',
      {
        tools: FUNCTIONS,
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'none' }] },
      },
    ],
    ['temperature', { temperature: 3 }],
    ['max_output_tokens', { max_output_tokens: 0 }],
    ['metadata', { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v'])) }],
    ['input', { input: 5 }],
    ['input[1]', { input: [{ role: 'user', content: 'Hi' }, null] }],
    ['input[0]', { input: ['Hi'] }],
    ['input[0].role', { input: [{ content: 'Hi' }] }],
  ])('name %s', async (param, fields) => {
    const app = await createOpenAIApp();
    const asked = app.client.responses.create({ ...QUESTION, ...fields } as typeof QUESTION);
    await expect(asked).rejects.toMatchObject({ status: 400, param });
  });

  it('ignore unknown fields, and the ids that Codex sends', async () => {
    const app = await createOpenAIApp();
    const body = { ...QUESTION, future_field: { a: 1 }, client_metadata: { installation: 'x' } };
    expect((await app.send('POST', '/responses', body)).status).toBe(200);
  });

  it('are mapped to the classes of the official SDK', async () => {
    const app = await createOpenAIApp({
      onCall: (call) => call.fail(new ProviderError('overloaded', 'busy', { retryAfterMs: 1000 })),
    });
    const ask = (client: OpenAI, body: object = {}) =>
      client.responses.create({ ...QUESTION, store: false, ...body }).catch((error: unknown) => error);
    expect(await ask(app.connect({ apiKey: 'svc_live_none' }))).toBeInstanceOf(OpenAI.AuthenticationError);
    const narrow = await app.issue({ scopes: ['me:read'] });
    expect(await ask(app.connect({ apiKey: narrow.key }))).toBeInstanceOf(OpenAI.PermissionDeniedError);
    expect(await ask(app.client, { model: 'none' })).toBeInstanceOf(OpenAI.NotFoundError);
    expect(await ask(app.client, { input: [] })).toBeInstanceOf(OpenAI.BadRequestError);
    expect(await ask(app.client)).toBeInstanceOf(OpenAI.InternalServerError);
    const slow = await app.issue({ scopes: ['ai:chat'], requestsPerMinute: 1 });
    await ask(app.connect({ apiKey: slow.key }));
    expect(await ask(app.connect({ apiKey: slow.key }))).toBeInstanceOf(OpenAI.RateLimitError);
  });

  it.each([false, true])('stop retries of used-up credit (stream: %s)', async (stream) => {
    const app = await createOpenAIApp({ credits: 0 });
    let requests = 0;
    const client = app.connect({
      maxRetries: 2,
      fetch: (...input) => {
        requests += 1;
        return fetch(...input);
      },
    });
    const refused = await client.responses.create({ ...QUESTION, stream }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(OpenAI.RateLimitError);
    expect(refused).toMatchObject({ code: 'insufficient_quota', type: 'insufficient_quota' });
    expect(requests).toBe(1);
  });

  describe.each(BOTH)('in a response that is %s', (_, question) => {
    it.each([
      ['before the first output', []],
      ['after some output', [{ type: 'text' as const, text: 'It' }]],
    ])('are reported to the host with the request if the provider fails %s', async (_title, said) => {
      const error = new ProviderError('invalid_request', 'the text of the provider');
      const app = await createOpenAIApp({
        onCall(call) {
          call.say(...said);
          call.fail(error);
        },
      });
      const response = await app.send('POST', '/responses', question, { 'X-Request-Id': 'request-1' });
      expect(await response.text()).not.toContain('the text of the provider');
      expect(app.incidents).toEqual([{ operation: 'createResponse', requestId: 'request-1', error }]);
    });

    it('are not reported to the host if the credit is used up', async () => {
      const app = await createOpenAIApp({ credits: 0 });
      const response = await app.send('POST', '/responses', question);
      expect((await readError(response)).code).toBe('insufficient_quota');
      expect(app.incidents).toEqual([]);
    });
  });
});
