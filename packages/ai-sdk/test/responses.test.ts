import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOpenAI } from '@ai-sdk/openai';
import type { GenerateRequest, ModelContent, ModelPart } from '@questline/core/ports';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAiSdkProvider } from '../src/index.ts';
import { getChunks, hello } from './scripted.ts';

/** An answer of OpenAI's responses protocol: reasoning, text and a call. */
const events = [
  { type: 'response.created', response: { id: 'resp_1', created_at: 1_741_570_283, model: 'gpt-5-test' } },
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: null },
  },
  { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index: 0 },
  {
    type: 'response.reasoning_summary_text.delta',
    item_id: 'rs_1',
    summary_index: 0,
    delta: 'They want a sum.',
  },
  { type: 'response.reasoning_summary_part.done', item_id: 'rs_1', summary_index: 0 },
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'They want a sum.' }],
      encrypted_content: 'ENCRYPTED',
    },
  },
  {
    type: 'response.output_item.added',
    output_index: 1,
    item: { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] },
  },
  {
    type: 'response.output_text.delta',
    item_id: 'msg_1',
    output_index: 1,
    content_index: 0,
    delta: 'I add.',
  },
  {
    type: 'response.output_item.done',
    output_index: 1,
    item: {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'I add.', annotations: [] }],
    },
  },
  {
    type: 'response.output_item.added',
    output_index: 2,
    item: {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_1',
      name: 'sum',
      arguments: '',
      status: 'in_progress',
    },
  },
  { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 2, delta: '{"a":1}' },
  { type: 'response.function_call_arguments.done', item_id: 'fc_1', output_index: 2, arguments: '{"a":1}' },
  {
    type: 'response.output_item.done',
    output_index: 2,
    item: {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_1',
      name: 'sum',
      arguments: '{"a":1}',
      status: 'completed',
    },
  },
  {
    type: 'response.completed',
    response: {
      id: 'resp_1',
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60 },
        output_tokens: 50,
        output_tokens_details: { reasoning_tokens: 30 },
      },
    },
  },
];

let server: Server;
const bodies: Record<string, unknown>[] = [];

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    bodies.push(JSON.parse(body) as Record<string, unknown>);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test('returns encrypted thoughts to OpenAI Responses and stores nothing there', async () => {
  const { port } = server.address() as AddressInfo;
  const openai = createOpenAI({ apiKey: 'sk-test', baseURL: `http://127.0.0.1:${port}/v1` });
  const provider = createAiSdkProvider({
    id: 'openai-bridge',
    models: [{ id: 'm', model: openai.responses('gpt-5'), contextWindow: 8000, maxOutputTokens: 1000 }],
  });
  const ask = async (request: Partial<GenerateRequest>) => {
    const stream = await provider.generate({ ...hello, reasoningEffort: 'low', ...request }, {});
    return (await getChunks(stream)).flat() as ModelPart[];
  };

  const parts = await ask({});
  const kept = parts.filter((part) => part.type === 'thinking');
  expect(parts.filter((part) => part.type !== 'thinking')).toEqual([
    { type: 'thinking_delta', text: 'They want a sum.' },
    { type: 'text', text: 'I add.' },
    { type: 'tool_use_delta', index: 0, id: 'call_1', name: 'sum', arguments: '' },
    { type: 'tool_use_delta', index: 0, arguments: '{"a":1}' },
    { type: 'tool_use', id: 'call_1', name: 'sum', arguments: '{"a":1}' },
    { type: 'usage', usage: { input: 40, cachedInput: 60, output: 20, reasoning: 30 } },
    { type: 'finish', reason: 'tool_use', model: 'gpt-5-test' },
  ]);
  expect(bodies[0]).toMatchObject({
    store: false,
    include: ['reasoning.encrypted_content'],
    max_output_tokens: 50,
    reasoning: { effort: 'low' },
  });

  const answer: ModelContent[] = [
    ...kept,
    { type: 'text', text: 'I add.' },
    { type: 'tool_use', id: 'call_1', name: 'sum', input: { a: 1 } },
  ];
  await ask({
    messages: [
      ...hello.messages,
      { role: 'assistant', content: answer },
      {
        role: 'user',
        content: [
          { type: 'tool_result', toolUseId: 'call_1', toolName: 'sum', content: '2', isError: false },
        ],
      },
    ],
  });
  const input = bodies[1]?.input as Record<string, unknown>[];
  expect(input.map((item) => item.type ?? item.role)).toEqual([
    'user',
    'reasoning',
    'assistant',
    'function_call',
    'function_call_output',
  ]);
  expect(input[1]).toMatchObject({
    encrypted_content: 'ENCRYPTED',
    summary: [{ type: 'summary_text', text: 'They want a sum.' }],
  });
  expect(JSON.stringify(input)).not.toContain('item_reference');
});
