import { type ModelPart, ProviderError, type ProviderErrorKind } from '@questline/core/ports';
import type { ExpectedError } from '../../support/expected.ts';
import { createScriptedProvider, SCRIPTED_MODEL } from '../../support/model.ts';
import type { TestApp, TestAppOptions } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { ID, refused, type WireCase } from './case.ts';
import { eventCases } from './events.ts';

const USAGE: ModelPart = { type: 'usage', usage: { input: 4, output: 2 } };
const FINISH: ModelPart = { type: 'finish', reason: 'stop' };

const ASKED = {
  model: 'scripted',
  messages: [{ role: 'user', content: '0123456789' }],
  options: { maxTokens: 96 },
};

/** Stores a completion of the user, with another key: rates are not changed. */
async function storeCompletion(app: TestApp, requestId: string): Promise<void> {
  const { key } = await app.issue({ scopes: ['ai:chat'] });
  const answer = await app.ask('POST', '/api/ai/v1/completions', {
    body: { ...ASKED, store: true },
    credential: key,
    headers: { 'X-Request-ID': requestId },
  });
  await answer.text();
  await app.settle();
}

const STORED_ID = 'stored-1';

/** A stored completion of the user, and the path to it. */
const ofCompletion =
  (suffix = '') =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    await storeCompletion(app, STORED_ID);
    return { path: `/api/ai/v1/completions/${STORED_ID}${suffix}` };
  };

/** A model that emits these parts and then ends or fails. */
function saying(parts: readonly ModelPart[], failure?: unknown): () => TestAppOptions {
  return () => ({
    models: [
      createScriptedProvider((call) => {
        for (const part of parts) call.say(part);
        if (failure === undefined) call.end();
        else call.fail(failure);
      }),
    ],
  });
}

const silent = saying([USAGE, FINISH]);

function frames(...events: readonly unknown[]): string {
  const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`);
  return `: keep-alive\n\n${lines.join('')}data: [DONE]\n\n`;
}

const meta = { type: 'meta', requestId: ID };
const last = {
  usage: { inputTokens: 4, outputTokens: 2 },
  credits: { used: 0.06, usdCost: 0.0006 },
  stopReason: 'stop',
};

const STREAM = {
  status: 200,
  headers: {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  },
} as const;

function asking(changes: Readonly<Record<string, unknown>>): NonNullable<WireCase['ask']> {
  return { body: { ...ASKED, ...changes } };
}

function saidBy(role: string, content: unknown): NonNullable<WireCase['ask']> {
  return asking({ messages: [{ role, content }] });
}

function fault(message: string): Pick<WireCase, 'status' | 'body'> {
  return refused('completions', { status: 422, message });
}

/** The answer to a provider failure before the first event. */
function providerCase(kind: ProviderErrorKind, refusal: ExpectedError, retryAfter?: string): WireCase {
  return {
    title: `reports a provider that fails: ${kind}`,
    app: saying(
      [],
      new ProviderError(kind, 'the text of the provider', {
        ...(retryAfter !== undefined && { retryAfterMs: Number(retryAfter) * 1000 }),
      }),
    ),
    ask: { body: ASKED },
    ...(retryAfter !== undefined && { headers: { 'retry-after': retryAfter } }),
    ...refused('completions', refusal),
    everywhere: kind === 'rejected_key' || kind === 'overloaded',
  };
}

const PNG = 'iVBORw0KGgo=';

const streams: readonly WireCase[] = [
  {
    title: 'streams text and reports the cost at the end',
    app: saying([{ type: 'text', text: 'Hi \u{1F600}' }, { type: 'text', text: ' there' }, USAGE, FINISH]),
    ask: { body: ASKED },
    ...STREAM,
    body: frames(
      meta,
      { type: 'content', text: 'Hi \u{1F600}' },
      { type: 'content', text: ' there' },
      { type: 'content', text: '', ...last },
    ),
    everywhere: true,
  },
  {
    title: 'streams to a signed-in user',
    app: saying([{ type: 'text', text: 'Hi' }, USAGE, FINISH]),
    caller: 'token',
    ask: { body: ASKED },
    ...STREAM,
    body: frames(meta, { type: 'content', text: 'Hi' }, { type: 'content', text: '', ...last }),
  },
  {
    title: 'joins all tool calls of a turn in one event',
    app: saying([
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}' },
      { type: 'tool_use', id: 'call_2', name: 'weather', arguments: '{}' },
      USAGE,
      { type: 'finish', reason: 'tool_use' },
    ]),
    ask: asking({
      tools: [{ toolSchema: { name: 'weather', description: 'The weather.', parameters: {} } }],
    }),
    ...STREAM,
    body: frames(
      meta,
      { type: 'content', text: 'I look.' },
      {
        type: 'tool_use',
        text: '',
        tools: [
          { name: 'weather', arguments: '{"city":"Rome"}', id: 'call_1' },
          { name: 'weather', arguments: '{}', id: 'call_2' },
        ],
        ...last,
        stopReason: 'tool_use',
      },
    ),
  },
  {
    title: 'streams a tool call while the model writes it',
    app: saying([
      { type: 'tool_use_delta', index: 0, id: 'call_1', name: 'weather', arguments: '{"city":' },
      { type: 'tool_use_delta', index: 0, arguments: '"Rome"}' },
      { type: 'tool_use', id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}' },
      USAGE,
      { type: 'finish', reason: 'tool_use' },
    ]),
    ask: asking({
      tools: [{ toolSchema: { name: 'weather', description: 'The weather.', parameters: {} } }],
    }),
    ...STREAM,
    body: frames(
      meta,
      { type: 'tool_use_delta', index: 0, id: 'call_1', name: 'weather', arguments: '{"city":' },
      { type: 'tool_use_delta', index: 0, arguments: '"Rome"}' },
      {
        type: 'tool_use',
        text: '',
        tools: [{ name: 'weather', arguments: '{"city":"Rome"}', id: 'call_1' }],
        ...last,
        stopReason: 'tool_use',
      },
    ),
  },
  {
    title: 'sends older clients only the frames that they know',
    app: () => ({
      ...saying([{ type: 'thinking_delta', text: 'hm' }, { type: 'text', text: 'Hi' }, USAGE, FINISH])(),
      settings: { completions: { deltas: false } },
    }),
    ask: { body: ASKED },
    ...STREAM,
    body: frames(meta, { type: 'content', text: 'Hi' }, { type: 'content', text: '', ...last }),
  },
  {
    title: 'streams a stored answer',
    app: saying([{ type: 'text', text: 'Hi' }, USAGE, FINISH]),
    ask: asking({ store: true }),
    ...STREAM,
    body: frames(meta, { type: 'content', text: 'Hi' }, { type: 'content', text: '', ...last }),
  },
  {
    title: 'answers 409 for the request id of a stored answer',
    app: saying([{ type: 'text', text: 'Hi' }, USAGE, FINISH]),
    ask: async (app) => {
      await storeCompletion(app, ID);
      return { body: { ...ASKED, store: true } };
    },
    ...refused('completions', {
      status: 409,
      message: 'A completion with this request id exists. Read its events, or send another `X-Request-ID`.',
    }),
  },
  {
    title: 'returns thinking blocks unchanged',
    app: saying([
      { type: 'thinking_delta', text: 'hm' },
      { type: 'thinking', block: { type: 'thinking', thinking: 'hm', signature: 's' } },
      { type: 'text', text: 'Hi' },
      USAGE,
      FINISH,
    ]),
    ask: asking({ thinking: { enabled: true } }),
    ...STREAM,
    body: frames(
      meta,
      { type: 'reasoning', text: 'hm' },
      { type: 'content', text: 'Hi', thinking: [{ type: 'thinking', thinking: 'hm', signature: 's' }] },
      { type: 'content', text: '', ...last },
    ),
  },
  {
    title: 'ends a failed stream with one error event without provider text',
    app: saying([{ type: 'text', text: 'Hi' }], new ProviderError('failed', 'the text of the provider')),
    ask: { body: ASKED },
    ...STREAM,
    body: frames(
      meta,
      { type: 'content', text: 'Hi' },
      {
        type: 'error',
        message: 'Model response error: the provider failed',
        requestId: ID,
        usage: { inputTokens: 4, outputTokens: 1 },
        credits: { used: 0.05, usdCost: 0.0005 },
      },
    ),
    everywhere: true,
  },
  {
    title: 'omits the meta event when the host allows only the three types',
    app: () => ({ ...silent(), settings: { completions: { metaEvent: false } } }),
    ask: { body: ASKED },
    ...STREAM,
    body: frames({ type: 'content', text: '', ...last }),
  },
  {
    title: 'reports no credits while metering is off',
    app: () => ({ ...silent(), settings: { admin: { enforceCredits: false } } }),
    ask: { body: ASKED },
    ...STREAM,
    body: frames(meta, { type: 'content', text: '', usage: last.usage, stopReason: 'stop' }),
  },
  {
    title: 'accepts every type of part and names unknown fields',
    app: silent,
    ask: asking({
      unknown: 1,
      messages: [
        { role: 'system', content: 'Be brief.', unknown: 1 },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
            { type: 'input_image', image_url: `data:image/webp;base64,${PNG}` },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'redacted_thinking', data: 'x' },
            { type: 'tool_use', id: 'call_1', name: 'weather', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'sun' }] },
            { type: 'tool_result', tool_use_id: 'call_1', content: 'sun', is_error: false },
          ],
        },
      ],
    }),
    ...STREAM,
    body: frames({ ...meta, ignored: ['unknown'] }, { type: 'content', text: '', ...last }),
  },
];

const refusals: readonly WireCase[] = [
  {
    title: 'rejects an unknown model',
    app: silent,
    ask: asking({ model: 'unknown' }),
    ...refused('completions', { status: 400, message: "Model info not found for 'unknown'" }),
    everywhere: true,
  },
  {
    title: 'rejects a missing model',
    app: silent,
    ask: asking({ model: undefined }),
    ...fault('model: is required'),
  },
  {
    title: 'rejects an empty body',
    app: silent,
    ask: { body: '' },
    ...fault('model: is required (and 1 more)'),
    everywhere: true,
  },
  {
    title: 'rejects an empty list of messages',
    app: silent,
    ask: asking({ messages: [] }),
    ...fault('messages: Too small: expected array to have >=1 items, got a list of 0'),
  },
  {
    title: 'lowers the cap to that of the model, and names ignored fields',
    app: silent,
    ask: asking({ options: { maxTokens: 10_001, presence_penalty: 1 }, user: 'u' }),
    ...STREAM,
    body: frames(
      { ...meta, maxTokens: 10_000, ignored: ['user', 'options.presence_penalty'] },
      { type: 'content', text: '', ...last },
    ),
  },
  {
    title: 'rejects a tool choice that names no offered tool',
    app: silent,
    ask: asking({ options: { toolChoice: { name: 'none' } } }),
    ...fault('toolChoice: the request offers no tools'),
  },
  {
    title: 'rejects a fraction of a token',
    app: silent,
    ask: asking({ max_tokens: 1.5 }),
    ...fault('max_tokens: expected int, got 1.5'),
  },
  {
    title: 'rejects a temperature out of range',
    app: silent,
    ask: asking({ options: { temperature: 1.1 } }),
    ...fault('options.temperature: Too big: expected number to be <=1, got 1.1'),
  },
  {
    title: 'rejects an invalid null',
    app: silent,
    ask: asking({ options: null }),
    ...fault('options: expected object, got null'),
  },
  {
    title: 'rejects a tool result without its call',
    app: silent,
    ask: saidBy('user', [{ type: 'tool_result', tool_use_id: 'call_9', content: 'sun' }]),
    ...fault('messages.0.content.0.tool_use_id: no earlier tool_use part has this id'),
  },
  {
    title: 'rejects a caller without credit',
    app: () => ({ ...silent(), credits: 0.5 }),
    ask: { body: ASKED },
    ...refused('completions', {
      status: 422,
      message:
        'Insufficient credits. You have 0.5 credits, but this request requires approximately 1 credits.',
      errorCode: 'insufficient_credits',
    }),
    everywhere: true,
  },
  {
    title: 'rejects a caller without credit with 403 where configured',
    app: () => ({
      ...silent(),
      credits: 0.5,
      settings: { completions: { insufficientCreditsStatus: 403 } },
    }),
    ask: { body: ASKED },
    ...refused('completions', {
      status: 403,
      message:
        'Insufficient credits. You have 0.5 credits, but this request requires approximately 1 credits.',
      errorCode: 'insufficient_credits',
    }),
  },
  {
    title: 'rejects a key at its spending cap',
    app: () => ({ ...silent(), key: { spendCap: { amount: 500_000, period: 'day' } } }),
    ask: { body: ASKED },
    ...refused('completions', {
      status: 422,
      message:
        'Spend cap reached. This key may spend 0.5 credits in its period and has used or reserved 0; this request requires approximately 1 credits.',
      errorCode: 'spend_cap_exceeded',
    }),
  },
  {
    title: 'rejects a model without a price while metering is on',
    app: () => {
      const { prices: _, ...unpriced } = SCRIPTED_MODEL;
      return { models: [createScriptedProvider(undefined, [unpriced])] };
    },
    ask: { body: ASKED },
    ...refused('completions', {
      status: 422,
      message: "model: 'scripted' has no price, so it cannot be used while credits are metered",
      errorCode: 'model_unavailable',
    }),
  },
  providerCase('rejected_key', {
    status: 401,
    message: 'The model provider refused the provider key in use.',
    errorCode: 'provider_rejected',
  }),
  providerCase('not_configured', {
    status: 503,
    message: 'No key is configured for this model provider.',
    errorCode: 'provider_not_configured',
  }),
  providerCase(
    'overloaded',
    {
      status: 503,
      message: 'The model provider is overloaded. Try again shortly.',
      errorCode: 'provider_overloaded',
      extra: { providerError: { retryAfter: 7 } },
    },
    '7',
  ),
  providerCase('timeout', {
    status: 500,
    message: 'Model response error: the provider did not answer in time',
    errorCode: 'provider_timeout',
  }),
  providerCase('context_length', {
    status: 422,
    message: 'The conversation is longer than the model can read.',
    errorCode: 'context_length_exceeded',
  }),
  providerCase('invalid_request', {
    status: 422,
    message: 'The model provider refused this request as invalid for the model.',
    errorCode: 'invalid_request',
  }),
  providerCase('content_blocked', {
    status: 422,
    message: "The model provider's safety rules blocked this request.",
    errorCode: 'invalid_request',
  }),
  providerCase('failed', {
    status: 500,
    message: 'Model response error: the provider failed',
    errorCode: 'provider_error',
  }),
];

const WANTED_IMAGE = 'expected a data URL of a png, jpeg, webp or gif image in base64; URLs are not fetched';

/** Invalid message content. */
const contents: readonly [title: string, content: unknown, message: string][] = [
  [
    'an image with an http URL',
    [{ type: 'image_url', image_url: { url: 'http://example.com/a.png' } }],
    `messages.0.content.0.image_url.url: ${WANTED_IMAGE}, got 24 characters of text`,
  ],
  [
    'an image with an https URL',
    [{ type: 'input_image', image_url: 'https://example.com/a.png' }],
    `messages.0.content.0.image_url: ${WANTED_IMAGE}, got 25 characters of text`,
  ],
];

/** The limits after two requests. */
const SECOND = { 'x-ratelimit-remaining-minute': '58', 'x-ratelimit-remaining-day': '998' };

const repeated: readonly WireCase[] = [
  {
    title: 'answers a repeated Idempotency-Key with the first answer',
    app: saying([{ type: 'text', text: 'Hi ' }, { type: 'text', text: 'you' }, USAGE, FINISH]),
    ask: repeat,
    ...STREAM,
    headers: { ...STREAM.headers, ...SECOND, 'idempotent-replayed': 'true' },
    body: frames(meta, { type: 'content', text: 'Hi you' }, { type: 'content', text: '', ...last }),
  },
  {
    title: 'answers 409 to a repeated Idempotency-Key after an answer that broke off',
    app: saying([{ type: 'text', text: 'Hi' }], new Error('cut')),
    ask: repeat,
    headers: SECOND,
    ...refused('completions', {
      status: 409,
      errorCode: 'idempotency_key_spent',
      message:
        'Idempotency-Key: the first request with this key was charged, and its answer is not kept; send another key',
    }),
  },
];

/** Sends the request once, and returns it. */
async function repeat(app: TestApp): Promise<Partial<Asked>> {
  const headers = { 'Idempotency-Key': 'one', 'X-Request-ID': ID };
  const first = await app.ask('POST', '/api/ai/v1/completions', { body: ASKED, headers });
  await first.text();
  return { body: ASKED, headers };
}

export const createCompletion: readonly WireCase[] = [
  ...streams,
  ...refusals,
  ...repeated,
  ...contents.map(
    ([title, content, message]): WireCase => ({
      title,
      app: silent,
      ask: saidBy('user', content),
      ...fault(message),
    }),
  ),
];

export const getCompletionEvents: readonly WireCase[] = eventCases(ofCompletion, 'Completion');
