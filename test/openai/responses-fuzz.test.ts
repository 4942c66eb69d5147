import fc, { type Arbitrary } from 'fast-check';
import { expect, it } from 'vitest';
import { anything, nastyText } from '../support/arbitrary.ts';
import { reason } from '../support/vendor-wire.ts';
import { checkAnswer } from './fuzz-target.ts';
import { createOpenAIApp } from './support.ts';
import { QUESTION } from './support-responses.ts';

/** Generated requests. The default is small; `npm run soak:wires` sends 5,000. */
const RUNS = Number(process.env.QUESTLINE_FUZZ_RUNS ?? 300);

/** Node itself refuses a longer head. */
const short = nastyText.map((text) => text.slice(0, 300).toWellFormed());

const mostly = (...values: readonly unknown[]): Arbitrary<unknown> =>
  fc.oneof({ arbitrary: fc.constantFrom(...values), weight: 6 }, { arbitrary: anything, weight: 1 });

const queryValue = fc.oneof(
  fc.constantFrom('true', 'false', '0', '1', '-1', '5', '999', 'asc', 'desc'),
  short,
);

const query = fc.dictionary(
  fc.constantFrom('stream', 'starting_after', 'limit', 'order', 'after', 'include[]'),
  queryValue,
  { maxKeys: 3 },
);

it('generated requests for stored responses are answered without a 5xx, with errors of the wire', async () => {
  const app = await createOpenAIApp({ onCall: reason, credits: 1e9 });
  const kept = await app.client.responses.create(QUESTION);
  const ids: string[] = [kept.id, `resp_${'f'.repeat(24)}`];
  const id = fc.oneof(
    { arbitrary: fc.nat().map((at) => ids[at % ids.length] ?? ''), weight: 5 },
    { arbitrary: short, weight: 1 },
  );
  const [reasoning, message] = kept.output.map((item) => item.id ?? '');
  const body = fc.record(
    {
      model: fc.constant('scripted'),
      input: mostly(
        'Hi',
        [{ type: 'item_reference', id: message }],
        [{ id: reasoning }, { role: 'user', content: 'x' }],
        [{ type: 'item_reference', id: 'msg_1' }],
      ),
      previous_response_id: fc.oneof(id, anything),
      background: mostly(true, false, null),
      stream: mostly(true, false, null),
      store: mostly(true, false, null),
    },
    { requiredKeys: ['model', 'input'] },
  );
  const request = fc.oneof(
    fc.record({ method: fc.constant('POST'), path: fc.constant(''), body }),
    fc.record({
      method: fc.constantFrom('GET', 'POST', 'DELETE', 'PUT'),
      path: fc
        .tuple(id, fc.constantFrom('', '/cancel', '/input_items', '/none'), query)
        .map(([which, end, values]) => `/${encodeURIComponent(which)}${end}?${new URLSearchParams(values)}`),
      body: fc.constant(undefined),
    }),
  );
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, body: sent }) => {
      const isKept = method === 'DELETE' && path.startsWith(`/${kept.id}?`);
      if (isKept) return;
      const response = await app.send(method, `/responses${path}`, sent);
      const text = await response.text();
      checkAnswer(response, text, `${method} ${path}`);
      if (response.status >= 400) return;
      const created = /"id":"(resp_[0-9a-f]{24})"/.exec(text)?.[1];
      if (method === 'POST' && created !== undefined && ids.length < 20) ids.push(created);
    }),
    { numRuns: RUNS },
  );
  expect(app.incidents).toEqual([]);
  expect((await app.ledger.balance(app.account)).held).toBe(0);
});
