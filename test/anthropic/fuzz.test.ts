import { createAnthropicApi } from '@questline/anthropic';
import { toFetchHandler } from '@questline/core';
import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anything, nastyText } from '../support/arbitrary.ts';
import { createChatApp } from '../support/chat.ts';
import { withVendorTypes } from '../support/vendor-types/check-wire.ts';
import { createThinker } from './support.ts';

/** Generated requests per operation. The default is small; `npm run soak:wires` sends 5,000. */
const RUNS = Number(process.env.QUESTLINE_FUZZ_RUNS ?? 300);

/** Mostly the given values, sometimes any value. */
const mostly = (...values: readonly unknown[]): Arbitrary<unknown> =>
  fc.oneof({ arbitrary: fc.constantFrom(...values), weight: 8 }, { arbitrary: anything, weight: 1 });

const text = fc.oneof(fc.constant('Hello'), nastyText);
const cached = { cache_control: mostly({ type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }, null) };

const source = fc.oneof(
  fc.constantFrom(
    { type: 'base64', media_type: 'image/png', data: 'AAAA' },
    { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
    { type: 'url', url: 'https://images.example.com/a.png' },
    { type: 'url', url: 'http://127.0.0.1/' },
    { type: 'file', file_id: 'x' },
    { type: 'content', content: 'x' },
  ),
  fc.record({ type: fc.constant('text'), media_type: mostly('text/plain'), data: text }),
  anything,
);

const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text, ...cached }, { requiredKeys: ['type', 'text'] }),
  fc.record({ type: fc.constant('image'), source }),
  fc.record({ type: fc.constant('document'), source, title: text, context: text }),
  fc.record({
    type: fc.constant('tool_use'),
    id: mostly('t1', 't2'),
    name: mostly('f'),
    input: mostly({}, { a: 1 }),
  }),
  fc.record({
    type: fc.constant('tool_result'),
    tool_use_id: mostly('t1', 't2'),
    content: fc.oneof(text, fc.constant([{ type: 'text', text: 'x' }]), anything),
    is_error: mostly(true, false),
  }),
  fc.record(
    { type: fc.constant('thinking'), thinking: mostly('x'), signature: fc.oneof(text, anything) },
    { requiredKeys: ['type'] },
  ),
  fc.record({
    type: fc.constant('thinking'),
    thinking: text,
    signature: mostly('questline.e30', 'questline.W10'),
  }),
  fc.record({ type: fc.constant('redacted_thinking'), data: fc.oneof(text, anything) }),
  anything,
);

const content = fc.oneof(text, fc.array(block, { maxLength: 4 }), fc.constant(null), anything);

const message = fc.oneof(
  { arbitrary: fc.record({ role: mostly('user', 'assistant'), content }), weight: 4 },
  {
    arbitrary: fc.record({
      role: fc.constant('system'),
      content: fc.oneof(text, fc.constant([])),
      output_config: mostly({ effort: 'low' }, null),
    }),
    weight: 1,
  },
);

/** A complete round of a tool, with any further content. */
const round = fc.tuple(text, block).map(([said, more]) => [
  { role: 'user', content: said || 'x' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'f', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: said }, more] },
]);

const prompt = {
  model: mostly('scripted', 'scripted', 'none'),
  messages: fc.oneof(
    fc.constant([{ role: 'user', content: 'Hello' }]),
    fc.array(message, { minLength: 1, maxLength: 4 }),
    round,
    anything,
  ),
  system: fc.oneof(text, fc.array(fc.record({ type: fc.constant('text'), text, ...cached })), anything),
  tools: mostly(
    [{ name: 'f', input_schema: { type: 'object' } }],
    [{ type: 'custom', name: 'f', input_schema: {}, ...{ defer_loading: true } }],
    [{ type: 'web_search_20250305', name: 'web_search' }],
    [],
    null,
  ),
  tool_choice: mostly({ type: 'auto' }, { type: 'none' }, { type: 'any' }, { type: 'tool', name: 'f' }, null),
  thinking: mostly(
    { type: 'enabled', budget_tokens: 1024 },
    { type: 'adaptive', display: 'omitted' },
    { type: 'disabled' },
    null,
  ),
};

const BODIES: Readonly<Record<string, Arbitrary<unknown>>> = {
  '/messages': fc.record(
    {
      ...prompt,
      max_tokens: mostly(1, 100, 1e9, 0),
      stream: mostly(true, false, null),
      stop_sequences: mostly(['END', ' '], [], null),
      temperature: mostly(0, 1, 1.1),
      top_p: mostly(0, 1),
      top_k: mostly(0, 1),
      output_config: mostly({ effort: 'max' }, { format: { type: 'json_schema', schema: {} } }, null),
      metadata: mostly({ user_id: 'x' }, null),
      context_management: mostly({ edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] }, null),
      container: mostly(null, {}),
      unknown_field: anything,
    },
    { requiredKeys: ['model', 'messages'] },
  ),
  '/messages/count_tokens': fc.record(prompt, { requiredKeys: ['model', 'messages'] }),
};

async function createTarget() {
  const app = await createChatApp({
    started: false,
    credits: 1e9,
    model: createThinker((asked) => {
      asked.say({ type: 'thinking_delta', text: 'hm' });
      asked.say({ type: 'thinking', block: { type: 'reasoning', item: {} } });
      asked.say({ type: 'text', text: 'Hi' }, { type: 'usage', usage: { input: 4, output: 2 } });
      asked.end();
    }),
    key: { scopes: ['ai:chat'], requestsPerMinute: 1e9, requestsPerDay: 1e9 },
    web: { fetchFile: async () => ({ mediaType: 'image/png', data: new Uint8Array(3) }) },
  });
  const handle = toFetchHandler(withVendorTypes('anthropic', createAnthropicApi(app.services)), {
    mountPath: '/anthropic',
  });
  const statuses = new Map<number, number>();
  return {
    statuses,
    async send(path: string, body?: string): Promise<Response> {
      const response = await handle(
        new Request(`http://questline.test/anthropic/v1${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { 'x-api-key': app.key, 'Content-Type': 'application/json' },
          ...(body !== undefined && { body }),
        }),
      );
      if (response === undefined) throw new Error(`${path} was not answered`);
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      return response;
    },
  };
}

async function check(response: Response): Promise<void> {
  const answer = await response.text();
  expect(response.status, answer.slice(0, 300)).toBeLessThan(500);
  if (response.status < 400) {
    expect(answer).not.toContain('event: error');
    return;
  }
  expect(JSON.parse(answer)).toEqual({
    type: 'error',
    error: {
      type: expect.stringMatching(/_error$|^request_too_large$/),
      message: expect.stringMatching(/./),
    },
    request_id: response.headers.get('request-id'),
  });
}

describe('generated requests over the Anthropic wire', () => {
  it.each(Object.entries(BODIES))(
    'are answered by %s without a 5xx, with errors of its shape',
    async (path, body) => {
      const { send, statuses } = await createTarget();
      await fc.assert(
        fc.asyncProperty(body, async (value) => {
          await check(await send(path, JSON.stringify(value)));
        }),
        { numRuns: RUNS },
      );
      expect(statuses.get(200)).toBeGreaterThan(0);
      await check(await send(path, '{'));
      await check(await send(path, '[]'));
    },
  );

  it.each([
    ['/models', fc.constant('/models')],
    [
      '/models/{id}',
      fc
        .oneof(
          {
            arbitrary: fc.constantFrom('scripted', 'none', '..', '%2e%2e', 'a%2Fb', '%00', '%zz'),
            weight: 2,
          },
          {
            arbitrary: nastyText.map((id) => encodeURIComponent(id.slice(0, 300).toWellFormed())),
            weight: 1,
          },
        )
        .map((id) => `/models/${id}`),
    ],
  ])('are answered by GET %s without a 5xx, with errors of its shape', async (_title, path) => {
    const { send, statuses } = await createTarget();
    const query = fc.array(
      fc.tuple(
        fc.constantFrom('limit', 'after_id', 'before_id', 'beta'),
        fc.oneof(
          fc.constantFrom('0', '1', '-1', '1e9', 'scripted', 'true', ''),
          nastyText.map((value) => value.slice(0, 300).toWellFormed()),
        ),
      ),
      { maxLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(path, query, async (target, pairs) => {
        await check(await send(`${target}?${new URLSearchParams(pairs)}`));
      }),
      { numRuns: RUNS },
    );
    expect(statuses.get(200)).toBeGreaterThan(0);
  });
});
