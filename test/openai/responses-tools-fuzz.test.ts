import { createDemoProvider } from '@questline/core';
import type { ModelPart } from '@questline/core/ports';
import { createOpenAIApi } from '@questline/openai';
import fc, { type Arbitrary } from 'fast-check';
import { expect, it } from 'vitest';
import { anything, nastyText } from '../support/arbitrary.ts';
import { createChatApp } from '../support/chat.ts';
import { filledLake } from '../support/lakes.ts';
import { createScriptedProvider } from '../support/model.ts';
import { serveWire } from '../support/vendor-wire.ts';
import { whileWorking } from '../wires/app.ts';
import { checkAnswer } from './fuzz-target.ts';
import { createToolServer, NOTES_URL } from './support-mcp.ts';
import { FUNCTIONS } from './support-responses.ts';
import { createWebSearch } from './support-server-tools.ts';

/** Generated requests. The default is small; `npm run soak:wires` sends 5,000. */
const RUNS = Number(process.env.QUESTLINE_FUZZ_RUNS ?? 200);

const mostly = (...values: readonly unknown[]): Arbitrary<unknown> =>
  fc.oneof({ arbitrary: fc.constantFrom(...values), weight: 60 }, { arbitrary: anything, weight: 1 });

/** What a model says in a round: nothing, text, or calls, whose arguments are often not those of the tool. */
const round: Arbitrary<readonly ModelPart[]> = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('text' as const), text: nastyText }),
    fc.record({
      type: fc.constant('tool_use' as const),
      id: fc.constantFrom('c1', 'c2', 'c3'),
      name: fc.constantFrom('web_search', 'file_search', 'notes__read', 'notes__write', 'weather'),
      arguments: fc.oneof(
        nastyText.map((query) => JSON.stringify({ query })),
        fc.constant('{"query":"hedgehog"}'),
        anything.map((value) => JSON.stringify(value)),
        fc.constant('{"que'),
      ),
    }),
  ),
  { maxLength: 4 },
);

it('generated tools and calls are answered without a 5xx, with errors of the wire, and leave no hold', async () => {
  let rounds: readonly (readonly ModelPart[])[] = [];
  let count = 0;
  const { web } = createWebSearch();
  const model = createScriptedProvider((call) => {
    const parts = rounds[count % rounds.length] ?? [];
    count += 1;
    call.say({ type: 'usage', usage: { input: 10, output: 5 } }, ...parts);
    call.say({ type: 'finish', reason: 'stop' });
    call.end();
  });
  const server = createToolServer();
  server.answer = async ({ input }) => {
    if (JSON.stringify(input).length % 3 === 0) throw new Error('secret');
    return { content: 'Noted.', isError: false };
  };
  const app = await createChatApp({
    web,
    model,
    models: [model, createDemoProvider()],
    credits: 1e9,
    key: { scopes: ['ai:chat', 'datalake:query'] },
    settings: {
      admin: { DefaultAPIModel: 'scripted', EnableDataLakes: true },
      tools: [server.registry],
    },
  });
  // Without the vendor's types: an answer repeats tools that these do not have.
  const url = `${await serveWire(createOpenAIApi(app.services), '/openai')}/v1/responses`;
  const headers = { Authorization: `Bearer ${app.key}`, 'Content-Type': 'application/json' };
  const { lakeId } = await filledLake(app, { 'hedgehog.txt': 'A hedgehog sleeps all winter.' });
  const tool = fc.record(
    {
      type: mostly('web_search', 'web_search_preview', 'file_search', 'mcp', 'mcp'),
      vector_store_ids: fc.oneof(
        { arbitrary: fc.constant([lakeId]), weight: 20 },
        { arbitrary: fc.array(nastyText, { maxLength: 3 }), weight: 1 },
        { arbitrary: anything, weight: 1 },
      ),
      max_num_results: mostly(1, 50, null),
      ranking_options: mostly({ score_threshold: 0.1 }, { ranker: 'auto' }, null),
      filters: mostly(null, {}),
      server_label: mostly('notes', 'notes', 'notes', 'other'),
      server_url: mostly(null, null, null, NOTES_URL, 'http://169.254.169.254'),
      allowed_tools: mostly(null, ['read'], { read_only: true }, { tool_names: [] }),
      require_approval: mostly('never', 'always', null, { never: { read_only: true } }),
      authorization: mostly(null, null, null, null, null, 'secret'),
      search_context_size: mostly('low', 'high', null),
      external_web_access: mostly(true, false),
      user_location: mostly(null, { type: 'approximate', city: 'Oslo' }),
    },
    { requiredKeys: ['type', 'vector_store_ids', 'server_label'] },
  );
  const about = { server_label: mostly('notes'), name: mostly('read', 'write', 'burn') };
  const ids = mostly('r1', 'r2');
  const item = fc.oneof(
    fc.record({
      type: fc.constant('mcp_approval_request'),
      id: ids,
      ...about,
      arguments: mostly('{}', '{"te'),
    }),
    fc.record({
      type: fc.constant('mcp_approval_response'),
      approval_request_id: ids,
      approve: mostly(true, false),
    }),
    fc.record({
      type: fc.constant('mcp_call'),
      id: mostly('m1', 'm2'),
      ...about,
      arguments: mostly('{}', 'x'),
      output: mostly('y', null),
      error: mostly(
        null,
        'broken',
        { type: 'http_error', code: 500, message: 'broken' },
        { content: [null] },
      ),
      approval_request_id: mostly(null, 'r1'),
    }),
    fc.record({ type: fc.constant('mcp_list_tools'), server_label: mostly('notes'), tools: mostly([]) }),
    fc.constant({ role: 'user', content: 'x' }),
  );
  const request = fc.record(
    {
      model: fc.constant('scripted'),
      input: mostly('Hi', [
        { type: 'web_search_call', id: 'ws_1' },
        { role: 'user', content: 'x' },
      ]).chain((one) =>
        fc.oneof(
          { arbitrary: fc.constant(one), weight: 3 },
          {
            arbitrary: fc
              .array(item, { maxLength: 6 })
              .map((items) => [{ role: 'user', content: 'Hi' }, ...items]),
            weight: 2,
          },
        ),
      ),
      tools: fc.oneof(
        { arbitrary: fc.array(tool, { minLength: 1, maxLength: 1 }), weight: 6 },
        { arbitrary: fc.constant([{ type: 'web_search' }, ...FUNCTIONS]), weight: 3 },
        { arbitrary: anything, weight: 1 },
      ),
      tool_choice: mostly(
        'auto',
        'auto',
        'required',
        { type: 'web_search_preview' },
        { type: 'file_search' },
        { type: 'mcp', server_label: 'notes' },
        { type: 'mcp', server_label: 'notes', name: 'read' },
      ),
      include: mostly(
        ['web_search_call.action.sources', 'file_search_call.results'],
        ['reasoning.encrypted_content'],
      ),
      max_tool_calls: mostly(1, 3, null),
      max_output_tokens: mostly(1, 16, 1000, null),
      stream: mostly(true, false),
      store: mostly(true, false),
    },
    { requiredKeys: ['model', 'input', 'tools'] },
  );
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(request, fc.array(round, { minLength: 1, maxLength: 3 }), async (body, said) => {
      rounds = said;
      count = 0;
      const asked = async () => {
        const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
        return { response, text: await response.text() };
      };
      const { response, text } = await whileWorking(app, asked());
      const about = `${JSON.stringify(body).slice(0, 1000)}: ${text.slice(0, 500)}`;
      checkAnswer(response, text, JSON.stringify(body).slice(0, 1000));
      expect(text, about).not.toContain('secret');
      expect(count).toBeLessThanOrEqual(12);
      if (response.status === 200) answered += 1;
      expect((await app.ledger.balance(app.account)).held).toBe(0);
    }),
    { numRuns: RUNS },
  );
  expect(answered).toBeGreaterThan(RUNS / 3);
}, 120_000);
