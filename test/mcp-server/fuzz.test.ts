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
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
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
  list_skills: {},
  read_skill: { skill_id: fc.oneof(fc.constant('letter'), any) },
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
  'skill_id',
];

const toolCall = fc
  .constantFrom(...Object.entries(TOOLS))
  .chain(([name, required]) =>
    fc
      .tuple(
        fc.record(required),
        fc.dictionary(fc.constantFrom(...OPTIONAL), any, { maxKeys: 2 }),
        fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, fc.record({ ttl: any }), anything),
      )
      .map(([known, more, task]): [string, unknown] => [
        'tools/call',
        { name, arguments: { ...more, ...known }, ...(task !== undefined && { task }) },
      ]),
  );
const uri = fc.oneof(
  fc.constantFrom(`questline://files/${ID}`, `questline://sessions/${ID}`, 'skill://letter/SKILL.md'),
  any,
);
const anyId = fc.oneof(
  fc.constantFrom(`execution_${ID}`, `quest_${ID}`, `video_${ID}`),
  any,
  fc.record({ toString: any }),
);
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
        'prompts/list',
        'skills/list',
        'tasks/list',
      ),
      fc.record({ cursor: any, protocolVersion: any, _meta: anything }, { requiredKeys: [] }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constantFrom('tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update'),
      fc.record({ taskId: anyId }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constant('prompts/get'), fc.record({ name: any, arguments: anything })),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constant('skills/get'), fc.record({ uri: fc.oneof(uri, anyId) })) },
  { weight: 1, arbitrary: fc.tuple(any, anything) },
);

interface Sent {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

const eras = fc.constantFrom('none', '2025-11-25', '2026-07-28');
const wellFormed: Arbitrary<Sent> = fc.tuple(request, eras).map(([[method, params], era]) => {
  const body = { jsonrpc: '2.0', id: 1, method, params };
  if (era === '2025-11-25') return { body, headers: { 'MCP-Protocol-Version': era } };
  if (era === 'none' || typeof params !== 'object' || params === null) return { body, headers: {} };
  const { name, uri: resource, taskId } = params as Record<string, unknown>;
  const subject = name ?? resource ?? taskId;
  return {
    body: { ...body, params: { ...params, _meta: META } },
    headers: {
      'MCP-Protocol-Version': '2026-07-28',
      // Methods that are no plain text stay without the header.
      ...(typeof method === 'string' && /^[\w/]+$/.test(method) && { 'Mcp-Method': method }),
      ...(subject !== undefined && { 'Mcp-Name': encode(subject) }),
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
      settings: {
        skills: [{ id: 'letter', name: 'Letter', description: 'x', instructions: 'y', listed: true }],
        admin: { DefaultAPIModel: 'scripted', EnableDataLakes: true, EnableAgents: true },
      },
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
