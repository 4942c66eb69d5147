import fc, { type Arbitrary } from 'fast-check';
import { expect, it } from 'vitest';
import { anything, nastyText } from '../support/arbitrary.ts';
import { reason } from '../support/vendor-wire.ts';
import { checkAnswer } from './fuzz-target.ts';
import { createOpenAIApp } from './support.ts';
import { QUESTION } from './support-responses.ts';

/** Generated requests. The default is small; set it to 1000 for a complete run. */
const RUNS = Number(process.env.QUESTLINE_FUZZ_RUNS ?? 300);

/** Node itself refuses a longer head. */
const short = nastyText.map((text) => text.slice(0, 300).toWellFormed());

const mostly = (...values: readonly unknown[]): Arbitrary<unknown> =>
  fc.oneof({ arbitrary: fc.constantFrom(...values), weight: 6 }, { arbitrary: anything, weight: 1 });

const queryValue = fc.oneof(fc.constantFrom('0', '1', '100', '101', 'asc', 'desc', ''), short);
const query = fc.dictionary(fc.constantFrom('limit', 'order', 'after', 'include[]'), queryValue, {
  maxKeys: 3,
});

const item = mostly(
  { role: 'user', content: 'x' },
  { role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,eA==', detail: null }] },
  { role: 'assistant', content: [{ type: 'output_text', text: 'x', annotations: 5 }], status: null },
  { type: 'reasoning', summary: [], encrypted_content: 'x' },
  { type: 'function_call', call_id: 'c', name: 'f', arguments: '{' },
  { type: 'function_call_output', call_id: 'c', output: 'x' },
  { type: 'web_search_call', id: 5, action: null },
  { type: 'item_reference', id: 'msg_1' },
  { type: 'compaction' },
);

const fields = fc.record(
  {
    items: fc.oneof(fc.array(item, { maxLength: 4 }), anything),
    metadata: mostly({ a: 'b' }, {}, null, { a: 1 }),
  },
  { requiredKeys: [] },
);

it('generated requests for conversations are answered without a 5xx, with errors of the wire', async () => {
  const app = await createOpenAIApp({ onCall: reason, credits: 1e9 });
  const kept = await app.client.conversations.create({ items: [{ role: 'user', content: 'a' }] });
  const { output } = await app.client.responses.create({ ...QUESTION, conversation: kept.id });
  const ids: string[] = [kept.id, `conv_${'f'.repeat(24)}`];
  const id = fc.oneof(
    { arbitrary: fc.nat().map((at) => ids[at % ids.length] ?? ''), weight: 6 },
    { arbitrary: short, weight: 1 },
  );
  const itemId = fc.oneof(
    fc.constantFrom(...output.map((one) => one.id ?? ''), `msg_${'f'.repeat(24)}_in999999`),
    short,
  );
  const below = fc.oneof(
    fc.constantFrom('', '/items', '/none'),
    itemId.map((which) => `/items/${encodeURIComponent(which)}`),
  );
  const path = fc
    .tuple(id, below, query)
    .map(([which, end, values]) => `/${encodeURIComponent(which)}${end}?${new URLSearchParams(values)}`);
  const request = fc.oneof(
    fc.record({ method: fc.constant('POST'), path: fc.constant('/conversations'), body: mostly(null, {}) }),
    fc.record({ method: fc.constant('POST'), path: fc.constant('/conversations'), body: fields }),
    fc.record({
      method: fc.constant('POST'),
      path: path.map((end) => `/conversations${end}`),
      body: fc.oneof(fields, anything),
    }),
    fc.record({
      method: fc.constantFrom('GET', 'DELETE', 'PUT'),
      path: path.map((end) => `/conversations${end}`),
      body: fc.constant(undefined),
    }),
    fc.record({
      method: fc.constant('POST'),
      path: fc.constant('/responses'),
      body: fc.record({
        model: fc.constant('scripted'),
        input: mostly('Hi', [{ type: 'function_call_output', call_id: 'c', output: 'x' }]),
        conversation: fc.oneof(id, fc.record({ id }), anything),
        store: mostly(true, false, null),
        stream: mostly(true, false, null),
      }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path: to, body }) => {
      if (method === 'DELETE' && to.startsWith(`/conversations/${kept.id}?`)) return;
      const response = await app.send(method, to, body);
      const text = await response.text();
      checkAnswer(response, text, `${method} ${to}`);
      if (response.status >= 400) return;
      const created = /"id":"(conv_[0-9a-f]{24})"/.exec(text)?.[1];
      if (method === 'POST' && created !== undefined && ids.length < 20) ids.push(created);
    }),
    { numRuns: RUNS },
  );
  expect(app.incidents).toEqual([]);
  expect((await app.ledger.balance(app.account)).held).toBe(0);
}, 120_000);
