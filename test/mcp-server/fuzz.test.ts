import { toFetchHandler } from '@questline/core';
import { createMcpApi } from '@questline/mcp-server';
import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anything, nastyText } from '../support/arbitrary.ts';
import { createChatApp, sayAtOnce } from '../support/chat.ts';
import { createStudio } from '../support/media.ts';
import { createScriptedProvider } from '../support/model.ts';
import { SCOPES } from './support.ts';

/** Generated messages. The default is small; set it to 5000 for a complete run. */
const RUNS = Number(process.env.QUESTLINE_FUZZ_RUNS ?? 300);

const ID = 'f'.repeat(24);
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

const id = fc.oneof({ weight: 6, arbitrary: fc.constant(ID) }, nastyText, anything);
const text = fc.oneof({ weight: 4, arbitrary: fc.constant('Hello') }, nastyText, anything);
const any = fc.oneof(nastyText, anything, fc.constantFrom('scripted', 1, 100));

/** The tools, with their required arguments. */
const TOOLS: Readonly<Record<string, Readonly<Record<string, Arbitrary<unknown>>>>> = {
  ask_agent: { message: text },
  get_agent_answer: { execution_id: id },
  list_agents: {},
  list_sessions: {},
  read_session: { session_id: id },
  list_data_lakes: {},
  search_data_lake: { lake_id: id, query: text },
  list_files: {},
  read_file: { file_id: id },
  list_models: {},
  generate_image: { prompt: text },
  get_image: { quest_id: id },
};
const OPTIONAL = [
  'agent_id',
  'session_id',
  'limit',
  'cursor',
  'model',
  'tools',
  'size',
  'top_k',
  'wait_seconds',
];

const toolCall = fc
  .constantFrom(...Object.entries(TOOLS))
  .chain(([name, required]) =>
    fc
      .tuple(fc.record(required), fc.dictionary(fc.constantFrom(...OPTIONAL), any, { maxKeys: 2 }))
      .map(([known, more]): [string, unknown] => ['tools/call', { name, arguments: { ...more, ...known } }]),
  );
const uri = fc.oneof(fc.constantFrom(`questline://files/${ID}`, `questline://sessions/${ID}`), any);
const request = fc.oneof(
  { weight: 8, arbitrary: toolCall },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constant('tools/call'), fc.record({ name: any, arguments: anything })),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constant('resources/read'), fc.record({ uri })) },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constantFrom(
        'initialize',
        'tools/list',
        'resources/list',
        'resources/templates/list',
        'server/discover',
      ),
      fc.record({ cursor: any, protocolVersion: any, _meta: anything }, { requiredKeys: [] }),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(any, anything) },
);

interface Sent {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

const wellFormed: Arbitrary<Sent> = fc.tuple(request, fc.boolean()).map(([[method, params], isModern]) => {
  const body = { jsonrpc: '2.0', id: 1, method, params };
  if (!isModern || typeof params !== 'object' || params === null) return { body, headers: {} };
  const { name, uri: resource } = params as Record<string, unknown>;
  return {
    body: { ...body, params: { ...params, _meta: META } },
    headers: {
      'MCP-Protocol-Version': '2026-07-28',
      // Methods that are no plain text stay without the header.
      ...(typeof method === 'string' && /^[\w/]+$/.test(method) && { 'Mcp-Method': method }),
      ...((name ?? resource) !== undefined && { 'Mcp-Name': encode(name ?? resource) }),
    },
  };
});
const encode = (value: unknown): string =>
  `=?base64?${Buffer.from(String(JSON.stringify(value)).replace(/^"|"$/g, '')).toString('base64')}?=`;
const malformed: Arbitrary<Sent> = fc
  .oneof(
    fc.record({ jsonrpc: any, id: anything, method: any, params: anything }, { requiredKeys: [] }),
    anything,
  )
  .map((body) => ({ body, headers: {} }));
const sent = fc.oneof({ weight: 8, arbitrary: wellFormed }, { weight: 1, arbitrary: malformed });

describe('generated messages', () => {
  it('never cause an internal error', async () => {
    const app = await createChatApp({
      started: false,
      models: [createScriptedProvider(sayAtOnce('Hi')), createStudio()],
      key: { scopes: SCOPES, requestsPerMinute: 1_000_000 },
      settings: { admin: { DefaultAPIModel: 'scripted', EnableDataLakes: true, EnableAgents: true } },
    });
    // Without a wait: nothing works the jobs.
    const handle = toFetchHandler(createMcpApi(app.services, { maxWaitMs: 0 }), { mountPath: '/mcp' });
    await fc.assert(
      fc.asyncProperty(sent, async ({ body, headers }) => {
        const answer = await handle(
          new Request('http://questline.test/mcp', {
            method: 'POST',
            headers: { Authorization: `Bearer ${app.key}`, 'Content-Type': 'application/json', ...headers },
            body: JSON.stringify(body),
          }),
        );
        const reply = (await answer?.text()) ?? '';
        expect(answer?.status).toBeLessThan(500);
        if (answer?.status === 202) expect(reply).toBe('');
        else expect(JSON.parse(reply)).toMatchObject({ jsonrpc: '2.0' });
      }),
      { numRuns: RUNS },
    );
    expect(app.incidents).toEqual([]);
  }, 600_000);
});
