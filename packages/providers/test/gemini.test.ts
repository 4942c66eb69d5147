import type { GenerateRequest, ModelPart } from '@questline/core/ports';
import { createGeminiProvider } from '@questline/providers/gemini';
import {
  createGeminiUpstream,
  geminiStream,
  type Script,
  type ScriptSource,
} from '@questline/testing/upstreams';
import { describe, expect, it } from 'vitest';
import { answer, failure, hello } from './collect.ts';
import { connect } from './set-up.ts';
import { cutEverywhere, truncateEverywhere } from './walk.ts';

const gemini = (script: ScriptSource = {}) => connect(createGeminiUpstream, createGeminiProvider, script, {});

const rich: Script = {
  steps: [
    { thinking: 'Hm, naïve…' },
    { text: 'Grüße, ' },
    { text: '世界! 👩‍🚀' },
    { tool: 'weather', id: 'fc_1', arguments: ['{"city":"Zürich"}'], signature: 'EqQB/+==' },
    { tool: 'time', id: 'fc_2', arguments: [] },
  ],
  usage: { input: 20, cachedInput: 1000, output: 30, reasoning: 7 },
};

/** Every event contains counts; only the last ones matter. */
function lastCount(parts: readonly ModelPart[]): ModelPart[] {
  const last = parts.findLastIndex((part) => part.type === 'usage');
  return parts.filter((part, place) => part.type !== 'usage' || place === last);
}

const richParts: ModelPart[] = [
  { type: 'thinking_delta', text: 'Hm, naïve…' },
  { type: 'text', text: 'Grüße, ' },
  { type: 'text', text: '世界! 👩‍🚀' },
  { type: 'thinking', block: { type: 'thought_signature', signature: 'EqQB/+==', toolUseId: 'fc_1' } },
  {
    type: 'tool_use_delta',
    index: 0,
    id: 'fc_1',
    name: 'weather',
    arguments: '{"city":"Zürich"}',
  },
  { type: 'tool_use', id: 'fc_1', name: 'weather', arguments: '{"city":"Zürich"}' },
  { type: 'tool_use_delta', index: 1, id: 'fc_2', name: 'time', arguments: '{}' },
  { type: 'tool_use', id: 'fc_2', name: 'time', arguments: '{}' },
  { type: 'usage', usage: { input: 20, cachedInput: 1000, output: 30, reasoning: 7 } },
  { type: 'thinking', block: { type: 'thought', text: 'Hm, naïve…' } },
  { type: 'finish', reason: 'tool_use', model: 'gemini-test' },
];

const walk = async () => {
  const connected = await gemini(rich);
  const parts = await answer(connected.provider);
  return { ...connected, script: rich, length: geminiStream(rich).length, parts };
};

describe('stream of Gemini', () => {
  it('is converted to parts', async () => {
    const { provider } = await gemini(rich);
    expect(lastCount(await answer(provider))).toEqual(richParts);
  });

  it('is read equally at any split of the bytes', async () => {
    await cutEverywhere(await walk());
  });

  it.each(['end', 'disconnect'] as const)('fails when it is truncated by %s', async (by) => {
    await truncateEverywhere(await walk(), by);
  });

  it.each([
    ['stop', 'stop'],
    ['max_tokens', 'max_tokens'],
    ['content_filter', 'content_filter'],
    ['other', 'other'],
  ] as const)('ends with the reason %s', async (finish, reason) => {
    const { provider } = await gemini({ steps: [{ text: 'a' }], finish });
    expect((await answer(provider)).at(-1)).toEqual({ type: 'finish', reason, model: 'gemini-test' });
  });

  it('gives each call without an id its own', async () => {
    const call = { tool: 'look', id: '', arguments: [] };
    const { provider } = await gemini({ steps: [call, call] });
    const ids = (await answer(provider)).filter((part) => part.type === 'tool_use').map((part) => part.id);
    expect(new Set(ids).size).toBe(2);
    expect(ids).not.toContain('');
  });

  it('fails for a rejected prompt', async () => {
    const { provider } = await gemini({
      finish: 'none',
      steps: [{ data: '{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{}}' }],
    });
    expect((await failure(answer(provider))).kind).toBe('content_blocked');
  });
});

it('fails for a malformed tool call', async () => {
  const ended = (finishReason: string) => ({
    data: JSON.stringify({ candidates: [{ finishReason }], usageMetadata: { promptTokenCount: 3 } }),
  });
  const { provider } = await gemini({ steps: [ended('MALFORMED_FUNCTION_CALL')], finish: 'none' });
  const { kind, message } = await failure(answer(provider));
  expect(kind).toBe('malformed_answer');
  expect(message).toContain('MALFORMED_FUNCTION_CALL');
});

describe('request to Gemini', () => {
  const request: GenerateRequest = {
    model: 'gemini-3.8-flash',
    maxTokens: 500,
    temperature: 0.5,
    tools: [{ name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } }],
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image', mediaType: 'image/png', data: 'aWJhc2U2NA==' },
          { type: 'document', mediaType: 'application/pdf', data: 'cGRm', name: 'a.pdf' },
          {
            type: 'document',
            mediaType: 'text/csv',
            data: Buffer.from('a;b').toString('base64'),
            name: 'a.csv',
          },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', block: { type: 'thought_signature', signature: 'of-call', toolUseId: 'fc_1' } },
          { type: 'thinking', block: { type: 'thought_signature', signature: 'of-text' } },
          { type: 'thinking', block: { type: 'thought', text: 'I look.' } },
          { type: 'thinking', block: { type: 'thinking', thinking: 'of another vendor', signature: 's' } },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'fc_1', name: 'look', input: { at: 'it' } },
          { type: 'tool_use', id: 'fc_2', name: 'look', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', toolUseId: 'fc_1', toolName: 'look', content: 'broken', isError: true },
          { type: 'tool_result', toolUseId: 'fc_2', toolName: 'look', content: 'a cat', isError: false },
        ],
      },
    ],
  };

  it('contains messages, tools, media and signatures', async () => {
    const { provider, upstream } = await gemini();
    await answer(provider, request);
    const [received] = upstream.requests;
    expect(received?.path).toBe('/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse');
    expect(received?.headers).toMatchObject({ 'x-goog-api-key': 'sk-platform-secret' });
    expect(received?.body).toEqual({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      generationConfig: { maxOutputTokens: 500, temperature: 0.5 },
      tools: [
        {
          functionDeclarations: [
            { name: 'look', description: 'Looks', parametersJsonSchema: { type: 'object', properties: {} } },
          ],
        },
      ],
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'What is this?' },
            { inlineData: { mimeType: 'image/png', data: 'aWJhc2U2NA==' } },
            { inlineData: { mimeType: 'application/pdf', data: 'cGRm' } },
            { text: 'a.csv:\n\na;b' },
          ],
        },
        {
          role: 'model',
          parts: [
            { text: 'I look.', thoughtSignature: 'of-text' },
            { functionCall: { id: 'fc_1', name: 'look', args: { at: 'it' } }, thoughtSignature: 'of-call' },
            { functionCall: { id: 'fc_2', name: 'look', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'fc_1', name: 'look', response: { error: 'broken' } } },
            { functionResponse: { id: 'fc_2', name: 'look', response: { output: 'a cat' } } },
          ],
        },
      ],
    });
  });

  it('marks a call without a signature as made by another vendor', async () => {
    const { provider, upstream } = await gemini();
    const messages: GenerateRequest['messages'] = [
      ...hello.messages,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', toolUseId: 'a', toolName: 'look', content: 'x', isError: false }],
      },
    ];
    await answer(provider, { ...hello, model: 'gemini-3.8-flash', messages });
    await answer(provider, { ...hello, model: 'gemini-2.5-flash', messages });
    const [third, second] = upstream.requests.map((one) => JSON.stringify(one.body));
    expect(third).toContain('"thoughtSignature":"skip_thought_signature_validator"');
    expect(second).not.toContain('thoughtSignature');
  });

  it.each([
    ['gemini-3.8-flash', { thinkingLevel: 'medium', includeThoughts: true }],
    ['gemini-2.5-flash', { thinkingBudget: 8000, includeThoughts: true }],
  ])('requests thinking from %s in its own format', async (model, thinkingConfig) => {
    const { provider, upstream } = await gemini();
    await answer(provider, { ...hello, model, maxTokens: 9000, thinking: { budgetTokens: 8000 } });
    expect(upstream.requests[0]?.body).toMatchObject({ generationConfig: { thinkingConfig } });
  });

  it('requests JSON', async () => {
    const { provider, upstream } = await gemini();
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    await answer(provider, { ...hello, responseFormat: { type: 'json' } });
    await answer(provider, { ...hello, responseFormat: { type: 'schema', name: 'x', schema } });
    expect(upstream.requests.map((one) => one.body)).toMatchObject([
      { generationConfig: { responseMimeType: 'application/json' } },
      { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema } },
    ]);
  });

  it('rejects an unsupported document', async () => {
    const { provider } = await gemini();
    const content = [{ type: 'document', mediaType: 'application/zip', data: '', name: 'a' }] as const;
    const error = await failure(answer(provider, { ...hello, messages: [{ role: 'user', content }] }));
    expect(error.kind).toBe('invalid_request');
  });
});

describe('errors of Gemini', () => {
  const body = (code: number, status: string, message = 'Oh', details: unknown[] = []) => ({
    error: { code, status, message, details },
  });

  it.each([
    [400, body(400, 'INVALID_ARGUMENT'), 'invalid_request', undefined],
    [
      400,
      body(400, 'INVALID_ARGUMENT', 'API key not valid.', [{ reason: 'API_KEY_INVALID' }]),
      'rejected_key',
      undefined,
    ],
    [
      400,
      body(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1200000) exceeds the maximum number of tokens allowed',
      ),
      'context_length',
      undefined,
    ],
    [400, body(400, 'FAILED_PRECONDITION', 'User location is not supported'), 'failed', undefined],
    [403, body(403, 'PERMISSION_DENIED'), 'rejected_key', undefined],
    [429, body(429, 'RESOURCE_EXHAUSTED', 'Quota', [{ retryDelay: '37.5s' }]), 'overloaded', 37_500],
    [503, [body(503, 'UNAVAILABLE', 'The model is overloaded.')], 'overloaded', undefined],
    [504, body(504, 'DEADLINE_EXCEEDED'), 'timeout', undefined],
    [500, body(500, 'INTERNAL'), 'failed', undefined],
  ])('maps %i to %o', async (status, answered, kind, retryAfterMs) => {
    const { provider } = await gemini({ refusal: { status, body: answered } });
    expect(await failure(answer(provider))).toMatchObject({ kind, retryAfterMs });
  });

  it.each([
    ['UNAVAILABLE', 'overloaded'],
    ['INTERNAL', 'failed'],
  ])('maps %s in the middle of a stream', async (code, kind) => {
    const { provider } = await gemini({ steps: [{ text: 'a' }, { error: 'Oh', code }] });
    expect((await failure(answer(provider))).kind).toBe(kind);
  });
});

describe('embeddings of Gemini', () => {
  it('returns embeddings in the order of the inputs', async () => {
    const { provider, upstream } = await gemini();
    const result = await provider.embed?.({ model: 'e', inputs: ['a', 'bb👩'], dimensions: 2 }, {});
    expect(result).toEqual({
      embeddings: [
        [0.125, 0.25],
        [0.5, 0.625],
      ],
      // Estimated: 4 characters.
      tokens: 2,
    });
    expect(upstream.requests[0]?.path).toBe('/v1beta/models/e:batchEmbedContents');
    expect(upstream.requests[0]?.body).toMatchObject({
      requests: [{ model: 'models/e', content: { parts: [{ text: 'a' }] }, outputDimensionality: 2 }, {}],
    });
  });
});
