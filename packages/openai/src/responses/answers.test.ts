import { ApiError } from '@questline/core';
import type { CatalogueEntry, CompletionEnd, StoredResponse } from '@questline/core/internal';
import type { AnswerPart, FinishReason, GenerateRequest } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createResponse } from './contract.ts';
import { ResponseEncoder } from './encoder.ts';
import { toGenerateRequest } from './request.ts';
import { toWireResponse } from './stored-view.ts';
import { createStoredWriter } from './stored-writer.ts';

type Frame = Readonly<Record<string, unknown>>;

function readFrames(text: string): Frame[] {
  return text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const [event = '', data = ''] = frame.split('\n');
      const fields = JSON.parse(data.replace('data: ', '')) as Frame;
      expect(event).toBe(`event: ${fields.type}`);
      return fields;
    });
}

const typesOf = (frames: readonly Frame[]) => frames.map(({ type }) => String(type).replace('response.', ''));
const REQUEST = { id: 'resp_r', model: 'm', background: false };
const USAGE = { input: 10, cachedInput: 30, cacheWrite: 5, output: 2, reasoning: 7 };
const WIRE_USAGE = {
  input_tokens: 45,
  input_tokens_details: { cached_tokens: 30, cache_write_tokens: 5 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 7 },
  total_tokens: 54,
};
const CREDITS = { used: 0.54, usd_cost: 0.0054 };
const TEXT: AnswerPart = { type: 'text', text: 'a' };
const message = (status: string) => ({
  id: 'msg_r_0',
  type: 'message',
  status,
  role: 'assistant',
  content: [{ type: 'output_text', text: 'a', annotations: [], logprobs: [] }],
});
const BEGUN = {
  ...REQUEST,
  status: 'in_progress',
  output: [],
  completed_at: null,
  error: null,
  incomplete_details: null,
};
const ENDS: readonly [FinishReason | undefined, string, string | undefined][] = [
  ['stop', 'completed', undefined],
  ['tool_use', 'completed', undefined],
  [undefined, 'completed', undefined],
  ['max_tokens', 'incomplete', 'max_output_tokens'],
  ['content_filter', 'incomplete', 'content_filter'],
];
const ended = (status: string, reason?: string, more: object = {}) => ({
  ...BEGUN,
  status,
  output: [message(status)],
  completed_at: reason === undefined ? 9000 : null,
  incomplete_details: reason === undefined ? null : { reason },
  usage: WIRE_USAGE,
  ...more,
});

describe('streamed response', () => {
  const start = () =>
    new ResponseEncoder({
      id: 'r',
      tools: { find: () => undefined },
      include: [],
      includesReasoning: false,
      request: REQUEST,
      creditsPerUsd: 100,
      now: () => 9000,
    });
  const ends = (finishReason?: FinishReason, isMetered = false): CompletionEnd => ({
    cost: { usage: USAGE, charged: 540_000 },
    isMetered,
    finishReason,
  });

  it('begins with its request, and counts its events', () => {
    const encoder = start();
    expect(readFrames(encoder.head)).toEqual([
      { type: 'response.created', sequence_number: 0, response: BEGUN },
      { type: 'response.in_progress', sequence_number: 1, response: BEGUN },
    ]);
    encoder.add(TEXT);
    expect(readFrames(encoder.flush()).map(({ sequence_number }) => sequence_number)).toEqual([2, 3, 4]);
    expect(encoder.flush()).toBe('');
  });

  it.each(ENDS)('that ends with %s is %s because of %s', (reason, status, why) => {
    const encoder = start();
    encoder.add(TEXT);
    const frames = readFrames(encoder.end(ends(reason, true)));
    expect(frames.at(-1)).toMatchObject({
      type: `response.${status}`,
      response: ended(status, why, { credits: CREDITS }),
    });
    expect(start().end(ends(reason))).not.toContain('credits');
  });

  it('that fails has its open item without an end, and an event for the error', () => {
    const encoder = start();
    encoder.add(TEXT);
    const frames = readFrames(
      encoder.fail(new ApiError(429, 'Slow', { details: [{ path: 'a.0', message: 'b' }] }), ends('stop')),
    );
    expect(typesOf(frames)).toEqual(['output_item.added', 'content_part.added', 'failed', 'error']);
    const error = { code: 'rate_limit_exceeded', message: 'Slow' };
    expect(frames.at(-2)).toMatchObject({
      response: { ...BEGUN, status: 'failed', error, incomplete_details: null, usage: WIRE_USAGE },
    });
    expect(frames.at(-1)).toMatchObject({
      ...error,
      param: 'a[0]',
      error: { ...error, type: 'rate_limit_error', param: 'a[0]' },
    });
  });

  it('that fails at the limit of its tokens is not incomplete', () => {
    const [failed] = readFrames(start().fail(new ApiError(500, 'Oh'), ends('max_tokens')));
    expect(failed).toMatchObject({ response: { status: 'failed', incomplete_details: null } });
  });

  it.each([
    [new ApiError(400, 'Oh', { code: 'context_length_exceeded' }), 'context_length_exceeded'],
    [new ApiError(402, 'Oh', { code: 'insufficient_credits' }), 'insufficient_quota'],
    [new ApiError(502, 'Oh', { code: 'provider_error' }), 'server_error'],
    [new ApiError(500, 'Oh'), 'server_error'],
  ])('that fails has a code that clients know: %s', (error, code) => {
    const [failed] = readFrames(start().fail(error, ends()));
    expect(failed).toMatchObject({ response: { error: { code, message: 'Oh' } } });
  });
});

describe('stored response', () => {
  const store = (fields: Partial<StoredResponse> = {}, request: object = REQUEST): StoredResponse =>
    ({
      id: 'r',
      wire: JSON.stringify({ request, tools: [], size: 1 }),
      status: 'completed',
      isClosed: true,
      output: { parts: [TEXT], finishReason: 'stop' },
      updatedAt: 9_000_999,
      usage: USAGE,
      ...fields,
    }) as StoredResponse;
  const failure = new ApiError(503, 'Busy');

  it.each(['queued', 'in_progress'] as const)('that is %s has no output yet', (status) => {
    expect(toWireResponse(store({ status }), 100)).toEqual({ ...BEGUN, status });
  });

  it.each(ENDS)('that ended with %s is %s because of %s', (finishReason, status, why) => {
    const output = { parts: [TEXT], finishReason } as StoredResponse['output'];
    expect(toWireResponse(store({ output }), 100)).toEqual(ended(status, why));
    expect(toWireResponse(store({ output, credits: 0.54 }), 100)).toEqual(
      ended(status, why, { credits: CREDITS }),
    );
  });

  it('has the model that answered, and no usage if nothing was counted', () => {
    const output = { parts: [TEXT], finishReason: 'stop', model: 'n' } as StoredResponse['output'];
    const { usage: _, ...rest } = store({ output });
    const { usage, ...expected } = ended('completed', undefined, { model: 'n' });
    expect(toWireResponse(rest as StoredResponse, 100)).toEqual(expected);
  });

  it('that failed has its error and no open item; that was cancelled has its item', () => {
    const error = { code: 'server_error', message: 'Busy' };
    const output = { parts: [TEXT], finishReason: 'max_tokens' } as StoredResponse['output'];
    expect(toWireResponse(store({ status: 'failed', failure, output }), 100)).toEqual({
      ...BEGUN,
      status: 'failed',
      error,
      usage: WIRE_USAGE,
    });
    expect(toWireResponse(store({ status: 'cancelled', output }), 100)).toEqual({
      ...BEGUN,
      status: 'cancelled',
      output: [message('incomplete')],
      usage: WIRE_USAGE,
    });
  });

  it.each<[boolean, number | undefined, string[]]>([
    [false, undefined, ['0 created in_progress', '1 in_progress in_progress']],
    [true, undefined, ['0 created queued', '1 queued queued', '2 in_progress in_progress']],
    [true, 0, ['1 queued queued', '2 in_progress in_progress']],
    [false, 1, []],
  ])('in the background (%s) is read after the event %s', (background, after, events) => {
    const { wire } = store({}, { ...REQUEST, background });
    const writer = createStoredWriter(JSON.parse(wire), { id: 'r', after, creditsPerUsd: 100 });
    const seen = readFrames(writer.head).map(
      ({ type, sequence_number, response }) =>
        `${sequence_number} ${String(type).replace('response.', '')} ${(response as Frame).status}`,
    );
    expect(seen).toEqual(events);
    for (const { response } of readFrames(writer.head)) {
      expect(response).toMatchObject({ ...BEGUN, background, status: expect.any(String) });
    }
    expect(writer.count()).toBe(background ? 3 : 2);
  });

  it.each<[Partial<StoredResponse>, string[]]>([
    [{}, ['completed']],
    [{ status: 'cancelled' }, ['incomplete']],
    [{ status: 'failed', failure }, ['failed', 'error']],
  ])('ends with the events of its status: %j', (fields, events) => {
    const stored = store(fields);
    const writer = createStoredWriter(JSON.parse(stored.wire), { id: 'r', creditsPerUsd: 100 });
    expect(typesOf(readFrames(writer.add(TEXT)))).toEqual([
      'output_item.added',
      'content_part.added',
      'output_text.delta',
    ]);
    const frames = readFrames(writer.end(stored));
    expect(typesOf(frames).slice(-events.length)).toEqual(events);
    expect(frames.find(({ response }) => response !== undefined)?.response).toEqual(
      toWireResponse(stored, 100),
    );
  });
});

describe('request of a response', () => {
  const info = {
    id: 'm',
    name: 'M',
    type: 'text',
    provider: 'v',
    contextWindow: 100_000,
    maxOutputTokens: 9000,
  } as const;
  const MESSAGES = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] as const;
  const tools = [{ name: 'f', description: 'F', parameters: { type: 'object' } }];
  const convert = (
    fields: object,
    abilities: object = { supportsThinking: true },
    schemas: typeof tools = [],
  ) =>
    toGenerateRequest(
      createResponse.input.body.parse({ model: 'm', input: 'Hi', ...fields }),
      MESSAGES,
      { schemas, find: () => undefined },
      { info: { ...info, ...abilities }, providerModel: 'vendor-m' } as unknown as CatalogueEntry,
      { mode: 'auto', key: 'k' },
    );
  const budget = (budgetTokens: number) => ({ thinking: { budgetTokens } });

  it.each<[object, Partial<GenerateRequest>]>([
    [{}, {}],
    [
      { temperature: 0, top_p: 0, parallel_tool_calls: false },
      { temperature: 0, topP: 0, parallelToolCalls: false },
    ],
    [{ temperature: null, top_p: null, parallel_tool_calls: null, reasoning: null, text: null }, {}],
    [{ max_output_tokens: 50 }, { maxTokens: 50 }],
    [{ max_output_tokens: 50_000 }, { maxTokens: 9000 }],
    [{ reasoning: { effort: 'low' } }, { reasoningEffort: 'low' }],
    [{ reasoning: { effort: 'max' } }, { reasoningEffort: 'xhigh' }],
    [{ reasoning: { effort: 'none', summary: 'auto' } }, { reasoningEffort: 'none' }],
    [{ reasoning: { effort: 'low', summary: 'none' } }, { reasoningEffort: 'low' }],
    [{ reasoning: { summary: 'auto' } }, budget(16_384)],
    [{ reasoning: { effort: 'minimal', summary: 'auto' } }, { reasoningEffort: 'minimal', ...budget(2048) }],
    [{ reasoning: { effort: 'low', summary: 'auto' } }, { reasoningEffort: 'low', ...budget(4096) }],
    [{ reasoning: { effort: 'medium', summary: 'auto' } }, { reasoningEffort: 'medium', ...budget(16_384) }],
    [{ reasoning: { effort: 'high', summary: 'auto' } }, { reasoningEffort: 'high', ...budget(32_768) }],
    [{ reasoning: { effort: 'max', summary: 'auto' } }, { reasoningEffort: 'xhigh', ...budget(32_768) }],
    [{ text: { format: { type: 'text' } } }, {}],
    [{ text: { format: { type: 'json_object' } } }, { responseFormat: { type: 'json' } }],
    [
      { text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' } } } },
      { responseFormat: { type: 'schema', name: 'a', schema: { type: 'object' } } },
    ],
    [
      { text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' }, strict: false } } },
      { responseFormat: { type: 'schema', name: 'a', schema: { type: 'object' }, strict: false } },
    ],
  ])('%j is that of a model', (fields, expected) => {
    const { maxTokens, ...request } = convert(fields);
    const { maxTokens: cap = maxTokens, ...more } = expected;
    expect(request).toEqual({
      model: 'vendor-m',
      messages: MESSAGES,
      promptCache: { mode: 'auto', key: 'k' },
      ...more,
    });
    expect(maxTokens).toBe(cap);
  });

  it('has the tools', () => {
    expect(convert({ tool_choice: 'auto' }, {}, tools)).toMatchObject({ tools, toolChoice: 'auto' });
  });

  it.each<[object, boolean]>([
    [{}, false],
    [{ supportsThinking: false, reasoningEfforts: [] }, false],
    [{ reasoningEfforts: ['low'] }, true],
    [{ supportsThinking: true }, true],
  ])('has reasoning only for a model that reasons: %j', (abilities, reasons) => {
    const request = convert({ reasoning: { effort: 'low', summary: 'auto' } }, abilities);
    expect(['reasoningEffort', 'thinking'].map((name) => name in request)).toEqual([reasons, reasons]);
  });
});
