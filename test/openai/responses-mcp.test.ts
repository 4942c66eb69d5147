import { createOpenAI } from '@ai-sdk/openai';
import { QUESTS } from '@questline/core/internal';
import type { ModelPart } from '@questline/core/ports';
import { generateText } from 'ai';
import type { Tool } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import type { ModelCall } from '../support/model.ts';
import { createOpenAIApp, type OpenAIApp, readError } from './support.ts';
import { callNotes, createToolServer, NOTES_URL, type ScriptedToolServer, toOffer } from './support-mcp.ts';
import { BOTH, FUNCTIONS, QUESTION, readEvents } from './support-responses.ts';
import { sayInRounds } from './support-server-tools.ts';

const NOTES: Tool.Mcp = { type: 'mcp', server_label: 'notes', require_approval: 'never' };
const DONE: ModelPart = { type: 'text', text: 'Done.' };

/** An approved call that has not run. */
const DECISION = [
  { type: 'mcp_approval_request', id: 'mcpr_1', server_label: 'notes', name: 'write', arguments: '{}' },
  { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
];

interface NotesApp extends OpenAIApp {
  readonly server: ScriptedToolServer;
}

async function createNotesApp(
  onCall: (call: ModelCall) => void | Promise<void>,
  options: Parameters<typeof createOpenAIApp>[0] = {},
): Promise<NotesApp> {
  const server = createToolServer();
  const app = await createOpenAIApp({ onCall, ...options, settings: { tools: [server.registry] } });
  return { ...app, server };
}

/** A tool server that answers never. `is`: its call was aborted. */
function awaitAbort(server: ScriptedToolServer, onCall = (): void => undefined): { readonly is: boolean } {
  const state = { is: false };
  server.answer = (_call, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        state.is = true;
        reject(signal.reason);
      });
      onCall();
    });
  return state;
}

/** The items of a response without reasoning. */
const withoutReasoning = <I extends { type: string }>(items: readonly I[]): I[] =>
  items.filter(({ type }) => type !== 'reasoning');

const toolsOf = (call: ModelCall | undefined): string[] =>
  (call?.request.tools ?? []).map(({ name }) => name);

describe.each(BOTH)('a tool server in a response that is %s', (_title, question) => {
  it('is listed and called, with the sum of all usage and exact credits', async () => {
    const app = await createNotesApp(sayInRounds([callNotes('c1', 'write')], [DONE]));
    const response = await app.client.responses.create({ ...question, tools: [NOTES] });
    expect(withoutReasoning(response.output)).toEqual([
      {
        id: expect.stringMatching(/^mcpl_/),
        type: 'mcp_list_tools',
        server_label: 'notes',
        tools: app.server.tools.map(({ name, isReadOnly, offer }) => ({
          name,
          description: offer.schema.description,
          input_schema: offer.schema.parameters,
          annotations: { read_only: isReadOnly },
        })),
      },
      {
        id: expect.stringMatching(/^mcp_/),
        type: 'mcp_call',
        status: 'completed',
        server_label: 'notes',
        name: 'write',
        arguments: '{"text":"x"}',
        approval_request_id: null,
        output: 'notes__write: {"text":"x"}',
        error: null,
      },
      expect.objectContaining({ type: 'message' }),
    ]);
    expect(response).toMatchObject({
      status: 'completed',
      tools: [NOTES],
      usage: { input_tokens: 20, output_tokens: 10, total_tokens: 30 },
      credits: { used: 0.3 },
    });
    const owner = app.account.replace(/^user:/, '');
    expect(app.server.calls).toEqual([{ userId: owner, tool: 'notes__write', input: { text: 'x' } }]);
    expect(app.calls[1]?.request.messages.at(-1)?.content).toEqual([
      {
        type: 'tool_result',
        toolUseId: 'c1',
        toolName: 'notes__write',
        content: 'notes__write: {"text":"x"}',
        isError: false,
      },
    ]);
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ amount }) => amount)).toEqual([150_000, 150_000]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('streams its items and its events in order, without gaps', async () => {
    const app = await createNotesApp(sayInRounds([callNotes('c1', 'read')], [DONE]));
    const body = { ...question, tools: [NOTES], stream: true };
    const events = await readEvents(await app.send('POST', '/responses', body));
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    const types = events.map(({ type }) => type.replace('response.', ''));
    const place = types.indexOf('output_item.added');
    expect(types.slice(place, place + 10)).toEqual([
      'output_item.added',
      'mcp_list_tools.in_progress',
      'mcp_list_tools.completed',
      'output_item.done',
      'output_item.added',
      'mcp_call.in_progress',
      'mcp_call_arguments.delta',
      'mcp_call_arguments.done',
      'mcp_call.completed',
      'output_item.done',
    ]);
    const { output = [] } = (events.at(-1)?.response ?? {}) as { output?: unknown[] };
    expect(events.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item)).toEqual(
      output,
    );
  });

  it('offers only the allowed tools', async () => {
    const app = await createNotesApp(sayInRounds([DONE]));
    for (const allowed_tools of [['read'], { read_only: true }, { tool_names: ['read', 'burn'] }]) {
      await app.client.responses.create({ ...question, tools: [{ ...NOTES, allowed_tools }] });
    }
    expect(app.calls.map(toolsOf)).toEqual([['notes__read'], ['notes__read'], ['notes__read']]);
  });

  it('waits for an approval, then runs the call once before the model goes on', async () => {
    const app = await createNotesApp(
      sayInRounds([{ type: 'text', text: 'Let me see. ' }, callNotes('c1', 'write')], [DONE]),
    );
    const tools: Tool[] = [{ ...NOTES, require_approval: 'always' }];
    const first = await app.client.responses.create({ ...question, tools });
    expect(first.status).toBe('completed');
    const request = first.output.at(-1);
    expect(request).toEqual({
      id: expect.stringMatching(/^mcpr_/),
      type: 'mcp_approval_request',
      server_label: 'notes',
      name: 'write',
      arguments: '{"text":"x"}',
    });
    expect(app.server.calls).toEqual([]);
    const id = String(request?.id);
    const answer = { type: 'mcp_approval_response' as const, approval_request_id: id, approve: true };
    const asked = { role: 'user' as const, content: QUESTION.input };
    const history = [asked, ...(first.output as never[])];
    const second = await app.client.responses.create({ ...question, tools, input: [...history, answer] });
    expect(withoutReasoning(second.output)).toMatchObject([
      { type: 'mcp_call', status: 'completed', approval_request_id: id, name: 'write' },
      { type: 'message' },
    ]);
    expect(app.server.calls).toHaveLength(1);
    expect(app.calls).toHaveLength(2);
    const output = 'notes__write: {"text":"x"}';
    expect(app.calls[1]?.request.messages.slice(1)).toMatchObject([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me see. ' },
          { type: 'tool_use', id, name: 'notes__write', input: { text: 'x' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', toolUseId: id, content: output, isError: false }] },
    ]);
    // The next answer knows the result, and the call does not run again.
    const input = [...history, answer, ...(second.output as never[]), asked];
    await app.client.responses.create({ ...question, tools, input });
    expect(app.server.calls).toHaveLength(1);
    expect(app.calls[2]?.request.messages.slice(0, 3)).toEqual(app.calls[1]?.request.messages);
    const charges = await app.ledger.charges({ account: app.account }, 10);
    const paid = charges.filter(({ status }) => status === 'settled');
    expect(paid.map(({ amount }) => amount)).toEqual([150_000, 150_000, 150_000]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('reports to the model that the user has refused a call, and why', async () => {
    const app = await createNotesApp(sayInRounds([callNotes('c1', 'write')], [DONE]));
    const tools: Tool[] = [{ ...NOTES, require_approval: null }];
    const first = await app.client.responses.create({ ...question, tools });
    const approval_request_id = String(first.output.at(-1)?.id);
    const answer = { type: 'mcp_approval_response', approval_request_id, approve: false, reason: 'too late' };
    const second = await app.client.responses.create({
      ...question,
      tools,
      input: [{ role: 'user', content: 'Hi' }, ...(first.output as never[]), answer as never],
    });
    expect(second.output.map(({ type }) => type)).toEqual(['message']);
    expect(app.server.calls).toEqual([]);
    expect(JSON.stringify(app.calls[1]?.request.messages.at(-1))).toContain('refused this call');
    expect(JSON.stringify(app.calls[1]?.request.messages.at(-1))).toContain('too late');
  });

  it.each([
    ['always', 'read', true],
    [{ never: { tool_names: ['read'] } }, 'read', false],
    [{ never: { tool_names: ['read'] } }, 'write', true],
    [{ never: { read_only: true } }, 'read', false],
    [{ always: { tool_names: ['write'] }, never: { read_only: true } }, 'write', true],
    [{ always: { tool_names: ['read'] }, never: { tool_names: ['read'] } }, 'read', true],
    [{}, 'read', true],
  ] as const)('with require_approval %j asks about %s: %s', async (approval, tool, isAsked) => {
    const app = await createNotesApp(sayInRounds([callNotes('c1', tool)], [DONE]));
    const tools = [{ ...NOTES, require_approval: approval as Tool.Mcp.McpToolApprovalFilter }];
    const { output } = await app.client.responses.create({ ...question, tools });
    expect(output.some(({ type }) => type === 'mcp_approval_request')).toBe(isAsked);
    expect(app.server.calls).toHaveLength(isAsked ? 0 : 1);
  });

  it('runs what needs no approval in the same round, and keeps both for the next response', async () => {
    const app = await createNotesApp(
      sayInRounds([callNotes('c1', 'read'), callNotes('c2', 'write')], [DONE]),
    );
    const tools: Tool[] = [{ ...NOTES, require_approval: { never: { read_only: true } } }];
    const first = await app.client.responses.create({ ...question, tools });
    expect(withoutReasoning(first.output).map(({ type }) => type)).toEqual([
      'mcp_list_tools',
      'mcp_call',
      'mcp_approval_request',
    ]);
    const id = String(first.output.at(-1)?.id);
    const answer = { type: 'mcp_approval_response' as const, approval_request_id: id, approve: true };
    const input = [{ role: 'user' as const, content: 'Hi' }, ...(first.output as never[]), answer];
    await app.client.responses.create({ ...question, tools, input });
    expect(app.server.calls.map(({ tool }) => tool)).toEqual(['notes__read', 'notes__write']);
    const [assistant, results] = app.calls[1]?.request.messages.slice(1) ?? [];
    expect(assistant?.content).toMatchObject([{ id: 'c1' }, { id }]);
    expect(results?.content).toMatchObject([{ toolUseId: 'c1' }, { toolUseId: id }]);
  });

  it.each([
    [undefined, { type: 'mcp_tool_execution_error', content: [{ type: 'text', text: 'No ink.' }] }],
    [
      { type: 'protocol' as const, code: -32_602 },
      { type: 'mcp_protocol_error', code: -32_602, message: 'No ink.' },
    ],
    [
      { type: 'http' as const, code: 504 },
      { type: 'http_error', code: 504, message: 'No ink.' },
    ],
  ])('has the error of a call in its item: %j', async (failure, error) => {
    const app = await createNotesApp(sayInRounds([callNotes('c1', 'write')], [DONE]));
    app.server.answer = async () => ({ content: 'No ink.', isError: true, ...(failure && { failure }) });
    const events = await readEvents(
      await app.send('POST', '/responses', { ...question, tools: [NOTES], stream: true }),
    );
    expect(events.map(({ type }) => type)).toContain('response.mcp_call.failed');
    const response = events.at(-1)?.response as { output: { type: string }[] };
    const call = response.output.find(({ type }) => type === 'mcp_call');
    expect(call).toMatchObject({ status: 'failed', error, output: null });
    expect(app.calls[1]?.request.messages.at(-1)?.content).toMatchObject([
      { content: 'No ink.', isError: true },
    ]);
  });

  it('is left out when it cannot list its tools, with the error in its item', async () => {
    const app = await createNotesApp(sayInRounds([DONE]));
    app.server.error = 'The tool server could not be reached.';
    const events = await readEvents(
      await app.send('POST', '/responses', { ...question, tools: [NOTES, ...FUNCTIONS], stream: true }),
    );
    expect(events.map(({ type }) => type)).toContain('response.mcp_list_tools.failed');
    const response = events.at(-1)?.response as { status: string; output: unknown[] };
    expect(response.status).toBe('completed');
    expect(response.output[0]).toMatchObject({ tools: [], error: app.server.error });
    expect(toolsOf(app.calls[0])).toEqual(['weather', 'time']);
  });

  it('counts its calls for max_tool_calls', async () => {
    const app = await createNotesApp(sayInRounds([callNotes('c1', 'read'), callNotes('c2', 'read')], [DONE]));
    await app.client.responses.create({ ...question, tools: [NOTES], max_tool_calls: 1 });
    expect(app.server.calls).toHaveLength(1);
    expect(app.calls[1]?.request.toolChoice).toBe('none');
  });

  it('fails when the credit ends between two rounds, and charges the first', async () => {
    let held = 0;
    const body = { ...question, tools: [NOTES], stream: true, max_output_tokens: 50 };
    const rich = await createNotesApp(async (call) => {
      held ||= (await rich.ledger.balance(rich.account)).held;
      sayInRounds([DONE])(call);
    });
    await rich.send('POST', '/responses', body);
    const onCall = sayInRounds([callNotes('c1', 'read')]);
    const app = await createNotesApp(onCall, { credits: held / 1_000_000 + 0.1 });
    const events = await readEvents(await app.send('POST', '/responses', body));
    expect(events.map(({ type }) => type).slice(-2)).toEqual(['response.failed', 'error']);
    expect(events.at(-2)?.response).toMatchObject({ error: { code: 'insufficient_quota' } });
    expect(await app.ledger.charges({ account: app.account }, 10)).toMatchObject([{ amount: 150_000 }]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    expect(app.server.calls).toHaveLength(1);
  });

  it.each([
    ['that was approved', []],
    ['that needs no approval', [[callNotes('c1', 'write')]]],
  ])('is not repeated by SDKs when the model fails after a call %s', async (title, rounds) => {
    const first = sayInRounds(...rounds);
    const app = await createNotesApp((call) => {
      if (app.server.calls.length === 0) return first(call);
      call.say({ type: 'text', text: 'Do' });
      call.fail(new Error('cut'));
    });
    const hasDecision = title === 'that was approved';
    const client = app.connect({ maxRetries: 3 });
    const input = hasDecision ? [{ role: 'user', content: 'Hi' }, ...DECISION] : QUESTION.input;
    const asked = client.responses.create({ ...question, tools: [NOTES], input: input as string });
    await expect(asked).rejects.toMatchObject({ status: 502 });
    expect(app.server.calls).toHaveLength(1);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('runs no approved call for an account without credit', async () => {
    const app = await createNotesApp(sayInRounds([DONE]), { credits: 0 });
    const input = [{ role: 'user', content: 'Hi' }, ...DECISION];
    const refused = await app.send('POST', '/responses', { ...question, tools: [NOTES], input });
    expect(refused.status).toBe(429);
    expect(await readError(refused)).toMatchObject({ code: 'insufficient_quota' });
    expect(app.server.calls).toEqual([]);
    expect(await app.ledger.charges({ account: app.account }, 10)).toEqual([]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });
});

describe('the tool mcp of @ai-sdk/openai', () => {
  it('calls a configured server by its address, and asks the user', async () => {
    const app = await createNotesApp(
      sayInRounds([callNotes('c1', 'read'), callNotes('c2', 'write')], [DONE]),
    );
    const openai = createOpenAI({ baseURL: app.baseURL, apiKey: app.key });
    const options = {
      model: openai('scripted'),
      tools: {
        mcp: openai.tools.mcp({
          serverLabel: 'notes',
          serverUrl: NOTES_URL,
          requireApproval: { never: { toolNames: ['read'] } },
        }),
      },
    };
    const asked = { role: 'user' as const, content: 'Write it down.' };
    const first = await generateText({ ...options, messages: [asked] });
    const request = first.content.find(({ type }) => type === 'tool-approval-request');
    const approvalId = request?.type === 'tool-approval-request' ? request.approvalId : '';
    expect(approvalId).toMatch(/^mcpr_/);
    expect(app.server.calls.map(({ tool }) => tool)).toEqual(['notes__read']);
    const second = await generateText({
      ...options,
      messages: [
        asked,
        ...first.response.messages,
        {
          role: 'tool',
          content: [{ type: 'tool-approval-response', approvalId, approved: true, providerExecuted: true }],
        },
      ],
    });
    expect(second.text).toBe('Done.');
    expect(app.server.calls.map(({ tool }) => tool)).toEqual(['notes__read', 'notes__write']);
    const result = second.content.find(({ type }) => type === 'tool-result');
    expect(result).toMatchObject({ toolName: 'mcp.write', output: { output: 'notes__write: {"text":"x"}' } });
  });
});

describe('a tool server', () => {
  it.each([
    ['tools[0].server_label', [{ type: 'mcp' }], 'is required'],
    ['tools[0].server_label', [{ ...NOTES, server_label: 'other' }], 'no tool server of this name'],
    [
      'tools[0].server_url',
      [{ ...NOTES, server_url: 'http://169.254.169.254/mcp' }],
      'its host has configured',
    ],
    ['tools[0].server_url', [{ ...NOTES, server_label: 'mine', server_url: NOTES_URL }], 'configured'],
    ['tools[0].connector_id', [{ ...NOTES, connector_id: 'connector_gmail' }], 'its host has configured'],
    ['tools[0].tunnel_id', [{ ...NOTES, tunnel_id: 't' }], 'its host has configured'],
    ['tools[1].type', [NOTES, NOTES], 'offers mcp notes twice'],
    ['tools[0]', [NOTES, { type: 'function', name: 'notes__read' }], 'another tool has the name'],
    ['tools[0].require_approval', [{ ...NOTES, require_approval: 'sometimes' }], ''],
  ])('is refused at %s of %j', async (param, tools, message) => {
    const app = await createNotesApp(sayInRounds([DONE]));
    const response = await app.send('POST', '/responses', { ...QUESTION, tools });
    expect(response.status).toBe(400);
    expect(await readError(response)).toMatchObject({ param, message: expect.stringContaining(message) });
    expect(app.calls).toHaveLength(0);
  });

  it('may be sent with the address that the host has configured, as clients of the vendor do', async () => {
    const app = await createNotesApp(sayInRounds([DONE]));
    const tools = [{ ...NOTES, server_url: NOTES_URL }];
    expect((await app.client.responses.create({ ...QUESTION, tools })).tools).toEqual(tools);
  });

  it.each(['authorization', 'headers'])('never stores nor repeats %s', async (field) => {
    const app = await createNotesApp(sayInRounds([DONE]));
    const secret = 'Bearer of-ada-secret';
    const mcp = { ...NOTES, [field]: field === 'headers' ? { 'X-Key': secret } : secret };
    const { id: conversation } = await app.client.conversations.create();
    const added = { type: 'additional_tools', role: 'developer', tools: [mcp] };
    const answers = await Promise.all([
      app.send('POST', '/responses', { ...QUESTION, tools: [mcp] }),
      app.send('POST', '/responses', { ...QUESTION, input: [{ role: 'user', content: 'Hi' }, added] }),
      app.send('POST', '/responses', { ...QUESTION, conversation, tools: [mcp] }),
      app.send('POST', `/conversations/${conversation}/items`, { items: [added] }),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(400);
      const text = await answer.text();
      expect(text).toContain(field);
      expect(text).not.toContain(secret);
    }
    expect(app.calls).toHaveLength(0);
  });

  it.each([
    [
      { type: 'mcp', server_label: 'notes', name: 'read' },
      { name: 'notes__read' },
      ['notes__read', 'notes__write', 'weather', 'time'],
    ],
    [{ type: 'mcp', server_label: 'notes' }, 'required', ['notes__read', 'notes__write']],
    [
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'mcp', server_label: 'notes', name: 'write' }] },
      'auto',
      ['notes__write'],
    ],
  ] as const)('is chosen by %j', async (tool_choice, expected, offered) => {
    const app = await createNotesApp(sayInRounds([DONE]));
    const body = { ...QUESTION, tools: [NOTES, ...FUNCTIONS], tool_choice };
    expect((await app.send('POST', '/responses', body)).status).toBe(200);
    expect(app.calls[0]?.request.toolChoice).toEqual(expected);
    expect(toolsOf(app.calls[0]).sort()).toEqual([...offered].sort());
  });

  it('cannot be chosen where the request does not offer it', async () => {
    const app = await createNotesApp(sayInRounds([DONE]));
    for (const choice of [{ server_label: 'other' }, { server_label: 'notes', name: 'burn' }, {}]) {
      const body = { ...QUESTION, tools: [NOTES], tool_choice: { type: 'mcp', ...choice } };
      expect((await app.send('POST', '/responses', body)).status).toBe(400);
    }
  });

  it('is not listed again by a response that continues, until its tools change', async () => {
    const app = await createNotesApp(sayInRounds([DONE]));
    const body = { ...QUESTION, tools: [NOTES] };
    const first = await app.client.responses.create(body);
    const second = await app.client.responses.create({ ...body, previous_response_id: first.id });
    expect(second.output.map(({ type }) => type)).toEqual(['message']);
    expect(toolsOf(app.calls[1])).toEqual(['notes__read', 'notes__write']);
    const { data } = await app.client.responses.inputItems.list(second.id, { order: 'asc' });
    expect(data.map(({ type }) => type)).toEqual(['message', 'mcp_list_tools', 'message', 'message']);
    expect(data[1]).toEqual(first.output[0]);
    app.server.tools.push(toOffer('burn', false));
    const third = await app.client.responses.create({ ...body, previous_response_id: second.id });
    expect(third.output[0]).toMatchObject({ type: 'mcp_list_tools', tools: [{}, {}, { name: 'burn' }] });
  });

  it.each(['previous_response_id', 'conversation'])('waits for an approval over %s', async (field) => {
    const app = await createNotesApp(sayInRounds([callNotes('c1', 'write')], [DONE]));
    const tools: Tool[] = [{ ...NOTES, require_approval: 'always' }];
    const { id: conversation } = await app.client.conversations.create();
    const continues = (previous_response_id: string) =>
      field === 'conversation' ? { conversation } : { previous_response_id };
    const first = await app.client.responses.create({
      ...QUESTION,
      tools,
      ...(field === 'conversation' && { conversation }),
    });
    const approval_request_id = String(first.output.at(-1)?.id);
    const answer = { type: 'mcp_approval_response' as const, approval_request_id, approve: true };
    const second = await app.client.responses.create({
      ...QUESTION,
      tools,
      ...continues(first.id),
      input: [answer],
    });
    expect(second.output[0]).toMatchObject({ type: 'mcp_call', approval_request_id });
    const third = await app.client.responses.create({ ...QUESTION, tools, ...continues(second.id) });
    expect(third.output.map(({ type }) => type)).toEqual(['message']);
    expect(app.server.calls).toHaveLength(1);
    expect(app.calls[2]?.request.messages.slice(0, 3)).toEqual(app.calls[1]?.request.messages);
    if (field !== 'conversation') return;
    // The deletion of its result does not make the call run again.
    await app.client.conversations.items.delete(String(second.output[0]?.id), {
      conversation_id: conversation,
    });
    await app.client.responses.create({ ...QUESTION, tools, conversation });
    expect(app.server.calls).toHaveLength(1);
  });

  it('refuses a decision about an unknown call, and about a tool that is not offered', async () => {
    const app = await createNotesApp(sayInRounds([DONE]));
    const ask = (items: readonly unknown[], tools: readonly unknown[] = [NOTES]) =>
      app.send('POST', '/responses', {
        ...QUESTION,
        tools,
        input: [{ role: 'user', content: 'Hi' }, ...items],
      });
    const request = {
      type: 'mcp_approval_request',
      id: 'mcpr_1',
      server_label: 'notes',
      name: 'write',
      arguments: '{}',
    };
    const decision = { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true };
    const answers = await Promise.all([
      ask([decision]),
      ask([request, decision], []),
      ask([request, decision], [{ ...NOTES, allowed_tools: ['read'] }]),
    ]);
    expect(await Promise.all(answers.map(readError))).toMatchObject([
      { param: 'input[1].approval_request_id' },
      { param: 'input[2].approval_request_id' },
      { param: 'input[2].approval_request_id' },
    ]);
    expect(app.server.calls).toEqual([]);
  });

  it.each([
    ['in a round', QUESTION.input, 1],
    ['that was approved', [{ role: 'user', content: 'Hi' }, ...DECISION], 0],
  ])('is stopped by the cancellation of its response during a call %s', async (_title, input, rounds) => {
    const app = await createNotesApp(sayInRounds([callNotes('c1', 'write')], [DONE]));
    const aborted = awaitAbort(app.server);
    const body = { ...QUESTION, tools: [NOTES], input, background: true };
    const { id } = (await (await app.send('POST', '/responses', body)).json()) as { id: string };
    for (let count = 0; count < 50 && app.server.calls.length === 0; count += 1) await app.settle();
    expect(await app.client.responses.cancel(id)).toMatchObject({ status: 'cancelled' });
    for (let count = 0; count < 50 && !aborted.is; count += 1) await app.settle();
    await app.settle();
    expect(aborted.is).toBe(true);
    const events = await readEvents(await app.send('GET', `/responses/${id}?stream=true`));
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.at(-1)?.response).toMatchObject({ status: 'cancelled' });
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.filter(({ status }) => status === 'settled')).toHaveLength(rounds);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
    expect(app.calls).toHaveLength(rounds);
  });

  it.each([
    ['in a round', QUESTION.input, 1],
    ['that was approved', [{ role: 'user', content: 'Hi' }, ...DECISION], 0],
  ])('stops with its client during a call %s', async (_title, input, rounds) => {
    const app = await createNotesApp(sayInRounds([callNotes('c1', 'write')], [DONE]));
    const leaving = new AbortController();
    const aborted = awaitAbort(app.server, () => leaving.abort());
    const body = {
      ...QUESTION,
      tools: [NOTES],
      input: input as string,
      store: false as const,
      stream: true as const,
    };
    await expect(
      (async () => {
        const stream = await app.client.responses.create(body, { signal: leaving.signal });
        for await (const _event of stream);
        leaving.signal.throwIfAborted();
      })(),
    ).rejects.toThrow();
    await expect.poll(() => aborted.is).toBe(true);
    await expect.poll(async () => (await app.ledger.balance(app.account)).held).toBe(0);
    expect(app.calls).toHaveLength(rounds);
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.filter(({ status }) => status === 'settled')).toHaveLength(rounds);
  });

  it('is in the record of its response before an approved call runs, so that a crash does not repeat it', async () => {
    const app = await createNotesApp(sayInRounds([DONE]));
    const seen: unknown[] = [];
    app.server.answer = async (_call, { sessionId }) => {
      const quest = await app.services.store.collection(QUESTS).get(sessionId);
      const events = (await app.services.eventLog.read(sessionId, 0)) ?? [];
      seen.push(quest?.text, JSON.stringify(events).includes('server_tool_call'));
      return { content: 'Written.', isError: false };
    };
    const input = [{ role: 'user', content: 'Hi' }, ...DECISION];
    const answer = await app.send('POST', '/responses', { ...QUESTION, tools: [NOTES], input });
    expect(answer.status).toBe(200);
    expect(seen).toEqual([' ', true]);
  });

  it('is read from the items of a client that does not return reasoning', async () => {
    const app = await createNotesApp(sayInRounds([callNotes('c1', 'read')], [DONE]));
    const first = await app.client.responses.create({ ...QUESTION, store: false, tools: [NOTES] });
    expect(first.output.map(({ type }) => type)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
    const input = [{ role: 'user' as const, content: 'Hi' }, ...(first.output as never[])];
    await app.client.responses.create({ ...QUESTION, store: false, tools: [NOTES], input });
    const id = first.output[1]?.id;
    expect(app.calls[2]?.request.messages.slice(1)).toMatchObject([
      { content: [{ type: 'tool_use', id, name: 'notes__read' }] },
      { content: [{ type: 'tool_result', toolUseId: id, content: 'notes__read: {"text":"x"}' }] },
      { content: [{ type: 'text', text: 'Done.' }] },
    ]);
  });

  it('stays in a stored response: retrieved and resumed', async () => {
    const app = await createNotesApp(sayInRounds([callNotes('c1', 'read')], [DONE]));
    const body = { ...QUESTION, tools: [NOTES], stream: true };
    const events = await readEvents(await app.send('POST', '/responses', body));
    const id = String(events.at(-1)?.response?.id);
    expect(await app.client.responses.retrieve(id)).toMatchObject({
      output: events.at(-1)?.response?.output,
    });
    const rest = await readEvents(await app.send('GET', `/responses/${id}?stream=true&starting_after=4`));
    expect(rest).toEqual(events.slice(5));
  });
});
