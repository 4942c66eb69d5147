import { describe, expect, it } from 'vitest';
import type { ModelCall } from '../support/model.ts';
import { createOpenAIApp } from './support.ts';
import { readEvents } from './support-responses.ts';
import { ANSWER, callSearch, createWebSearch, PAGES, sayInRounds } from './support-server-tools.ts';

/*
 * Requests of Codex CLI by its sources (openai/codex: `codex-rs/codex-api/src/common.rs`, `codex-rs/tools/src/tool_spec.rs`,
 * `codex-rs/protocol/src/models.rs`) and as sent by version 0.169.0, November 2026. Older versions remove the ids of the items
 * that they send back.
 */

const PATCH = '*** Begin Patch\n*** Add File: a.txt\n+"quoted"\n*** End Patch';

const TOOLS = [
  {
    type: 'function',
    name: 'exec_command',
    description: 'Runs a command.',
    strict: false,
    parameters: {
      type: 'object',
      properties: { cmd: { type: 'string' } },
      required: ['cmd'],
      additionalProperties: false,
    },
  },
  {
    type: 'custom',
    name: 'apply_patch',
    description: 'Edits files.',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: begin_patch hunk+ end_patch' },
  },
  {
    type: 'namespace',
    name: 'mcp__docs__',
    description: 'Documents.',
    tools: [
      { type: 'function', name: 'search', strict: false, parameters: { type: 'object', properties: {} } },
    ],
  },
];

const USER = {
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text: 'Add a.txt' }],
};

function toBody(input: readonly unknown[]): Readonly<Record<string, unknown>> {
  return {
    model: 'scripted',
    instructions: 'You are Codex.',
    input,
    tools: TOOLS,
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { effort: 'medium', summary: 'auto' },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: '019a',
    text: { verbosity: 'medium' },
    client_metadata: { 'x-codex-installation-id': 'i' },
  };
}

/** Calls one tool of each kind, then answers. */
function script(call: ModelCall): void {
  const isFirst = call.request.messages.every(({ content }) =>
    content.every(({ type }) => type !== 'tool_result'),
  );
  if (isFirst) {
    call.say({ type: 'thinking_delta', text: 'I edit.' });
    call.say({ type: 'thinking', block: { type: 'thinking', thinking: 'I edit.', signature: 's1' } });
    call.say({ type: 'tool_use', id: 'c1', name: 'exec_command', arguments: '{"cmd":"ls"}' });
    call.say({
      type: 'tool_use',
      id: 'c2',
      name: 'apply_patch',
      arguments: JSON.stringify({ input: PATCH }),
    });
    call.say({ type: 'tool_use', id: 'c3', name: 'mcp__docs__search', arguments: '{}' });
    call.say({ type: 'usage', usage: { input: 10, output: 5 } }, { type: 'finish', reason: 'tool_use' });
  } else {
    call.say({ type: 'text', text: 'Done.' }, { type: 'usage', usage: { input: 20, output: 2 } });
    call.say({ type: 'finish', reason: 'stop' });
  }
  call.end();
}

describe('Codex CLI', () => {
  it('runs functions, custom tools and tools of a namespace, and keeps the reasoning', async () => {
    const app = await createOpenAIApp({ onCall: script });
    const events = await readEvents(await app.send('POST', '/responses', toBody([USER])));
    const items = events.flatMap(({ type, item }) =>
      type === 'response.output_item.done' ? [item as Readonly<Record<string, unknown>>] : [],
    );
    expect(items).toMatchObject([
      { type: 'reasoning', encrypted_content: expect.any(String) },
      { type: 'function_call', call_id: 'c1', name: 'exec_command', arguments: '{"cmd":"ls"}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: PATCH },
      { type: 'function_call', call_id: 'c3', name: 'search', namespace: 'mcp__docs__', arguments: '{}' },
    ]);
    const custom = events.filter(({ type }) => type.startsWith('response.custom_tool_call_input'));
    expect(custom).toMatchObject([
      { type: 'response.custom_tool_call_input.delta', delta: PATCH },
      { type: 'response.custom_tool_call_input.done', input: PATCH },
    ]);
    expect(events.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { id: expect.any(String), usage: { input_tokens: 10, total_tokens: 15 } },
    });
    const offered = app.calls[0]?.request.tools;
    expect(offered?.map(({ name }) => name)).toEqual(['exec_command', 'apply_patch', 'mcp__docs__search']);
    expect(offered?.[1]).toMatchObject({
      description: 'Edits files.\n\nThe input follows this lark grammar:\nstart: begin_patch hunk+ end_patch',
      parameters: { required: ['input'] },
    });

    const sent = items.map(({ id: _, ...item }) => item);
    const second = await app.send(
      'POST',
      '/responses',
      toBody([
        USER,
        ...sent,
        { type: 'function_call_output', call_id: 'c1', output: 'b.txt' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: 'Success.' },
        { type: 'function_call_output', call_id: 'c3', output: [{ type: 'input_text', text: 'none' }] },
      ]),
    );
    const end = (await readEvents(second)).at(-1);
    expect(end).toMatchObject({ type: 'response.completed', response: { output: [{ type: 'message' }] } });
    expect(app.calls[1]?.request.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', block: { type: 'thinking', thinking: 'I edit.', signature: 's1' } },
          { type: 'tool_use', id: 'c1', name: 'exec_command', input: { cmd: 'ls' } },
          { type: 'tool_use', id: 'c2', name: 'apply_patch', input: { input: PATCH } },
          { type: 'tool_use', id: 'c3', name: 'mcp__docs__search', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            toolUseId: 'c1',
            toolName: 'exec_command',
            content: 'b.txt',
            isError: false,
          },
          {
            type: 'tool_result',
            toolUseId: 'c2',
            toolName: 'apply_patch',
            content: 'Success.',
            isError: false,
          },
          {
            type: 'tool_result',
            toolUseId: 'c3',
            toolName: 'mcp__docs__search',
            content: 'none',
            isError: false,
          },
        ],
      },
    ]);
  });

  it('adds tools by items: those of the head of the conversation, and those that a search finds', async () => {
    const app = await createOpenAIApp({
      onCall(call) {
        const names = call.request.tools?.map(({ name }) => name) ?? [];
        const [id, name, input] = names.includes('agents__spawn')
          ? ['c2', 'agents__spawn', '{}']
          : ['c1', 'tool_search', '{"query":"agents"}'];
        call.say({ type: 'tool_use', id, name, arguments: input });
        call.say({ type: 'usage', usage: { input: 10, output: 5 } }, { type: 'finish', reason: 'tool_use' });
        call.end();
      },
    });
    const ask = async (input: readonly unknown[]) => {
      const search = { type: 'tool_search', execution: 'client', description: 'Finds tools.' };
      const events = await readEvents(
        await app.send('POST', '/responses', { ...toBody(input), tools: [search] }),
      );
      return events.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item] : []));
    };
    const head = {
      type: 'additional_tools',
      role: 'developer',
      tools: [{ type: 'namespace', name: 'functions', tools: [{ type: 'custom', name: 'exec' }] }],
    };
    const first = await ask([head, USER]);
    expect(first).toMatchObject([
      { type: 'tool_search_call', call_id: 'c1', execution: 'client', arguments: { query: 'agents' } },
    ]);
    const found = {
      type: 'tool_search_output',
      call_id: 'c1',
      execution: 'client',
      status: 'completed',
      tools: [{ type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'spawn' }] }],
    };
    const second = await ask([head, USER, ...first, found]);
    expect(second).toMatchObject([{ type: 'function_call', namespace: 'agents', name: 'spawn' }]);
    expect(app.calls.map(({ request }) => request.tools?.map(({ name }) => name))).toEqual([
      ['tool_search', 'functions__exec'],
      ['tool_search', 'functions__exec', 'agents__spawn'],
    ]);
    expect(app.calls[1]?.request.messages.slice(2)).toMatchObject([
      { content: [{ type: 'tool_use', name: 'tool_search', input: { query: 'agents' } }] },
      {
        content: [{ type: 'tool_result', content: 'These tools can be called now: agents__spawn' }],
      },
    ]);
    await ask([head, head, USER]);
    expect(app.calls.at(-1)?.request.tools).toHaveLength(2);
  });

  it('meets a spend cap with one clear refusal', async () => {
    const app = await createOpenAIApp({ onCall: script });
    const { key } = await app.issue({ scopes: ['ai:chat'], spendCap: { amount: 1, period: 'day' } });
    const headers = { Authorization: `Bearer ${key}` };
    const response = await app.send('POST', '/responses', toBody([USER]), headers);
    expect(response.status).toBe(429);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await response.json()).toMatchObject({ error: { code: 'insufficient_quota' } });
    expect(app.calls).toHaveLength(0);
  });

  it.each([true, false])(
    'works with the web search that it offers by default (host has one: %s)',
    async (has) => {
      const { web, queries } = createWebSearch();
      const app = await createOpenAIApp({
        web: has ? web : {},
        onCall: has ? sayInRounds([callSearch('c1', 'a')], [ANSWER]) : sayInRounds([ANSWER]),
      });
      const tools = [...TOOLS, { type: 'web_search', external_web_access: false }];
      const events = await readEvents(await app.send('POST', '/responses', { ...toBody([USER]), tools }));
      expect(events.at(-1)?.type).toBe('response.completed');
      expect(queries).toHaveLength(has ? 1 : 0);
      const items = events.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item] : []));
      // It removes the ids, and the fields that it does not know.
      const sent = (items as Readonly<Record<string, unknown>>[]).map(({ id: _, ...item }) => item);
      await readEvents(await app.send('POST', '/responses', { ...toBody([USER, ...sent, USER]), tools }));
      const history = JSON.stringify(app.calls.at(-1)?.request.messages);
      expect(history.includes(PAGES[0]?.snippet ?? '')).toBe(has);
    },
  );
});
