import { packThinking } from '@questline/core/internal';
import type { AnswerPart } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { ItemWriter, type ItemWriterOptions } from './items.ts';

type Event = readonly [type: string, fields: Readonly<Record<string, unknown>>];

/** Writes parts with a flush after each, and returns the events and the items. */
function write(
  parts: readonly AnswerPart[],
  options: Partial<ItemWriterOptions> = {},
  end?: 'completed' | 'incomplete',
) {
  const events: Event[] = [];
  const writer = new ItemWriter({
    id: 'r',
    tools: { find: () => undefined },
    includesReasoning: false,
    include: [],
    sink: (type, fields) => events.push([type.replace('response.', ''), fields]),
    ...options,
  });
  for (const part of parts) {
    writer.add(part);
    writer.flush();
  }
  writer.close(...(end === undefined ? [] : [end]));
  return { events, output: writer.output, types: events.map(([type]) => type) };
}

const text = (value: string): AnswerPart => ({ type: 'text', text: value });
const think = (value: string): AnswerPart => ({ type: 'thinking_delta', text: value });
const block = (fields: object = {}): AnswerPart => ({
  type: 'thinking',
  block: { type: 'thinking', ...fields },
});
const call = (id: string): AnswerPart => ({ type: 'tool_use', id, name: 'f', arguments: '{}' });
const message = (place: number, value: string, status = 'completed', annotations: unknown[] = []) => ({
  id: `msg_r_${place}`,
  type: 'message',
  status,
  role: 'assistant',
  content: [{ type: 'output_text', text: value, annotations, logprobs: [] }],
});
const reasoning = (place: number, summary: string | undefined, more: object = {}) => ({
  id: `rs_r_${place}`,
  type: 'reasoning',
  summary: summary === undefined ? [] : [{ type: 'summary_text', text: summary }],
  ...more,
});
const fnCall = (place: number, id: string) => ({
  id: `fc_r_${place}`,
  type: 'function_call',
  call_id: id,
  name: 'f',
  status: 'completed',
  arguments: '{}',
});

describe('items of a response', () => {
  it('are messages, with every piece of their text', () => {
    const { events, output } = write([text('a'), text(''), text('b')]);
    const place = { item_id: 'msg_r_0', output_index: 0, content_index: 0 };
    const empty = { type: 'output_text', text: '', annotations: [], logprobs: [] };
    expect(events).toEqual([
      [
        'output_item.added',
        { output_index: 0, item: { ...message(0, ''), status: 'in_progress', content: [] } },
      ],
      ['content_part.added', { ...place, part: empty }],
      ['output_text.delta', { ...place, delta: 'a', logprobs: [] }],
      ['output_text.delta', { ...place, delta: 'b', logprobs: [] }],
      ['output_text.done', { ...place, text: 'ab', logprobs: [] }],
      ['content_part.done', { ...place, part: { ...empty, text: 'ab' } }],
      ['output_item.done', { output_index: 0, item: message(0, 'ab') }],
    ]);
    expect(output).toEqual([message(0, 'ab')]);
    expect(write([text('a')], {}, 'incomplete').output).toEqual([message(0, 'a', 'incomplete')]);
  });

  it('are reasoning, with every piece of its summary', () => {
    const { events, output } = write([think('h'), think(''), think('m'), block()]);
    const place = { item_id: 'rs_r_0', output_index: 0, summary_index: 0 };
    expect(events).toEqual([
      ['output_item.added', { output_index: 0, item: reasoning(0, undefined) }],
      ['reasoning_summary_part.added', { ...place, part: { type: 'summary_text', text: '' } }],
      ['reasoning_summary_text.delta', { ...place, delta: 'h' }],
      ['reasoning_summary_text.delta', { ...place, delta: 'm' }],
      ['reasoning_summary_text.done', { ...place, text: 'hm' }],
      ['reasoning_summary_part.done', { ...place, part: { type: 'summary_text', text: 'hm' } }],
      ['output_item.done', { output_index: 0, item: reasoning(0, 'hm') }],
    ]);
    expect(output).toEqual([reasoning(0, 'hm')]);
  });

  it('are calls, with their arguments at once', () => {
    const { events, output } = write([call('c')]);
    const place = { item_id: 'fc_r_0', output_index: 0 };
    expect(events).toEqual([
      [
        'output_item.added',
        { output_index: 0, item: { ...fnCall(0, 'c'), status: 'in_progress', arguments: '' } },
      ],
      ['function_call_arguments.delta', { ...place, delta: '{}' }],
      ['function_call_arguments.done', { ...place, name: 'f', arguments: '{}' }],
      ['output_item.done', { output_index: 0, item: fnCall(0, 'c') }],
    ]);
    expect(output).toEqual([fnCall(0, 'c')]);
  });

  it.each<[string, AnswerPart[], object[]]>([
    ['nothing', [{ type: 'usage', usage: {} }, { type: 'finish', reason: 'stop' }, text(''), think('')], []],
    [
      'text, a call and text',
      [text('a'), call('c'), text('b')],
      [message(0, 'a'), fnCall(1, 'c'), message(2, 'b')],
    ],
    [
      'reasoning and text',
      [think('hm'), text('a'), think('x')],
      [reasoning(0, 'hm'), message(1, 'a'), reasoning(2, 'x')],
    ],
    [
      'reasoning whose block has its text',
      [block({ thinking: 'hm' }), text('a')],
      [reasoning(0, 'hm'), message(1, 'a')],
    ],
    ['reasoning without a text', [block(), text('a')], [message(0, 'a')]],
    ['two thoughts', [think('a'), block(), think('b'), block()], [reasoning(0, 'a'), reasoning(1, 'b')]],
    [
      'a thought that was shown and one that was not',
      [think('a'), block(), block({ thinking: 'b' })],
      [reasoning(0, 'a'), reasoning(1, 'b')],
    ],
    [
      'reasoning that was shown before its block',
      [think('hm'), text('a'), block({ thinking: 'hm' })],
      [reasoning(0, 'hm'), message(1, 'a')],
    ],
  ])('are in the order of the parts: %s', (_title, parts, expected) => {
    expect(write(parts).output).toEqual(expected);
  });

  it('have their reasoning encrypted if that is included', () => {
    const sealed = (thinking?: string) => ({
      encrypted_content: packThinking({ type: 'thinking', ...(thinking !== undefined && { thinking }) }),
    });
    const options = { includesReasoning: true };
    expect(write([think('hm'), block(), text('a')], options).output).toEqual([
      reasoning(0, 'hm', sealed()),
      message(1, 'a'),
    ]);
    expect(write([block({ thinking: 'hm' })], options).output).toEqual([reasoning(0, 'hm', sealed('hm'))]);
    expect(write([think('hm')], options).output).toEqual([reasoning(0, 'hm')]);
    const { output, events } = write([think('hm'), text('a'), block({ thinking: 'hm' }), text('b')], options);
    expect(output).toEqual([
      reasoning(0, 'hm'),
      message(1, 'a'),
      reasoning(2, undefined, sealed('hm')),
      message(3, 'b'),
    ]);
    expect(events).toContainEqual(['output_item.added', { output_index: 2, item: reasoning(2, undefined) }]);
  });
});

describe('items of tools that the server runs', () => {
  const page = { type: 'page', url: 'https://a.example', title: 'A' } as const;
  const passage = { type: 'file', fileId: 'f1', name: 'a.pdf', score: 0.5, text: 'x' } as const;
  const target = { server: 's', tool: 't' };
  const start = (name: string, fields: object = {}) =>
    ({ type: 'server_tool_call', id: 'c', name, arguments: '{"query":"q"}', ...fields }) as AnswerPart;
  const end = (fields: object = {}) =>
    ({
      type: 'server_tool_result',
      id: 'c',
      name: 'web_search',
      arguments: '{"query":"q"}',
      content: 'found',
      isError: false,
      sources: [],
      ...fields,
    }) as AnswerPart;
  const web = (status: string, more: object = {}) => ({
    id: 'ws_r_0',
    type: 'web_search_call',
    status,
    action: { type: 'search', query: 'q', queries: ['q'], ...more },
  });
  const file = (status: string, results: unknown = null) => ({
    id: 'fs_r_0',
    type: 'file_search_call',
    status,
    queries: ['q'],
    results,
  });
  const mcp = (status: string, more: object = {}) => ({
    id: 'mcp_r_0',
    type: 'mcp_call',
    status,
    server_label: 's',
    name: 't',
    arguments: '{"query":"q"}',
    approval_request_id: null,
    output: null,
    error: null,
    ...more,
  });
  const place = (id: string) => ({ item_id: id, output_index: 0 });

  it('are searches of the web', () => {
    const { events } = write([start('web_search'), end({ sources: [page] })]);
    expect(events).toEqual([
      ['output_item.added', { output_index: 0, item: web('in_progress') }],
      ['web_search_call.in_progress', place('ws_r_0')],
      ['web_search_call.searching', place('ws_r_0')],
      ['web_search_call.completed', place('ws_r_0')],
      ['output_item.done', { output_index: 0, item: web('completed') }],
    ]);
  });

  it('are calls of tool servers, with their arguments', () => {
    const { events } = write([start('s__t', { target }), end({ target })]);
    const begun = mcp('in_progress');
    expect(events).toEqual([
      ['output_item.added', { output_index: 0, item: { ...begun, arguments: '' } }],
      ['mcp_call.in_progress', place('mcp_r_0')],
      ['mcp_call_arguments.delta', { ...place('mcp_r_0'), delta: begun.arguments }],
      ['mcp_call_arguments.done', { ...place('mcp_r_0'), arguments: begun.arguments }],
      ['mcp_call.completed', place('mcp_r_0')],
      ['output_item.done', { output_index: 0, item: mcp('completed', { output: 'found' }) }],
    ]);
  });

  it.each<[string, AnswerPart[], string[], object]>([
    ['a web search that failed', [start('web_search'), end({ isError: true })], [], web('failed')],
    ['a web search that goes on', [start('web_search')], [], web('failed')],
    [
      'the pages of a web search',
      [start('web_search'), end({ sources: [page, passage] })],
      ['web_search_call.action.sources'],
      web('completed', { sources: [{ type: 'url', url: page.url }] }),
    ],
    [
      'a file search',
      [start('file_search'), end({ sources: [passage] })],
      ['web_search_call.action.sources'],
      file('completed'),
    ],
    [
      'the passages of a file search',
      [start('file_search'), end({ sources: [page, passage] })],
      ['file_search_call.results'],
      file('completed', [{ file_id: 'f1', filename: 'a.pdf', score: 0.5, text: 'x', attributes: {} }]),
    ],
    [
      'a search without a query',
      [start('web_search', { arguments: '{"query":7}' }), end()],
      [],
      web('completed', { query: '', queries: [''] }),
    ],
    ...['null', '[]', '{"'].map((json): [string, AnswerPart[], string[], object] => [
      `a search with the arguments ${json}`,
      [start('web_search', { arguments: json }), end()],
      [],
      web('completed', { query: '', queries: [''] }),
    ]),
    [
      'a call that was approved',
      [start('s__t', { target: { ...target, approvalId: 'a1' } }), end()],
      [],
      mcp('completed', { output: 'found', approval_request_id: 'a1' }),
    ],
    [
      'a call that failed',
      [start('s__t', { target }), end({ isError: true })],
      [],
      mcp('failed', {
        error: { type: 'mcp_tool_execution_error', content: [{ type: 'text', text: 'found' }] },
      }),
    ],
    [
      'a call that the protocol failed',
      [start('s__t', { target }), end({ isError: true, failure: { type: 'protocol', code: -32_600 } })],
      [],
      mcp('failed', { error: { type: 'mcp_protocol_error', code: -32_600, message: 'found' } }),
    ],
    [
      'a call that a server failed',
      [start('s__t', { target }), end({ isError: true, failure: { type: 'http', code: 500 } })],
      [],
      mcp('failed', { error: { type: 'http_error', code: 500, message: 'found' } }),
    ],
  ])('are %s', (_title, parts, include, item) => {
    expect(write(parts, { include }).output).toEqual([item]);
  });

  it('report a failure only of calls of tool servers', () => {
    expect(write([start('web_search'), end({ isError: true })]).types).not.toContain(
      'web_search_call.completed',
    );
    expect(write([start('web_search'), end({ isError: true })]).types).not.toContain(
      'web_search_call.failed',
    );
    expect(write([start('s__t', { target }), end({ isError: true })]).types).toContain('mcp_call.failed');
    expect(write([end()]).events).toEqual([]);
    const late = write([start('web_search'), text('a'), end(), text('b')]);
    expect(late.output).toEqual([web('failed'), message(1, 'ab')]);
  });

  it('end the text before them', () => {
    const requested = {
      type: 'server_tool_approval',
      id: 'x',
      name: 's__t',
      arguments: '{}',
      target,
    } as AnswerPart;
    const listed = { type: 'server_tool_list', server: 's', tools: [] } as AnswerPart;
    for (const part of [start('web_search'), requested, listed, call('c')]) {
      expect(write([text('a'), part]).output[0]).toEqual(message(0, 'a'));
    }
  });

  it('have a record of their result, so that the client can return it', () => {
    const approved = { ...target, approvalId: 'a1' };
    const { output, events } = write(
      [start('s__t', { target: approved }), end({ name: 's__t', target: approved })],
      {
        includesReasoning: true,
      },
    );
    const record = {
      type: 'questline_server_tool',
      id: 'c',
      name: 's__t',
      input: { query: 'q' },
      content: 'found',
      isError: false,
      approvalId: 'a1',
    };
    expect(output[1]).toEqual(reasoning(1, undefined, { encrypted_content: packThinking(record) }));
    expect(events.at(-2)).toEqual(['output_item.added', { output_index: 1, item: reasoning(1, undefined) }]);
    expect(events.at(-1)).toEqual(['output_item.done', { output_index: 1, item: output[1] }]);
  });

  it('are the tools of a tool server', () => {
    const tool = { name: 't', description: 'T', parameters: { type: 'object' }, isReadOnly: true };
    const list = (more: object = {}) =>
      write([{ type: 'server_tool_list', server: 's', tools: [tool], ...more } as AnswerPart]);
    const item = {
      id: 'mcpl_r_0',
      type: 'mcp_list_tools',
      server_label: 's',
      tools: [
        { name: 't', description: 'T', input_schema: { type: 'object' }, annotations: { read_only: true } },
      ],
    };
    expect(list().events).toEqual([
      ['output_item.added', { output_index: 0, item: { ...item, tools: [] } }],
      ['mcp_list_tools.in_progress', place('mcpl_r_0')],
      ['mcp_list_tools.completed', place('mcpl_r_0')],
      ['output_item.done', { output_index: 0, item }],
    ]);
    expect(list({ error: 'Oh' }).types).toContain('mcp_list_tools.failed');
    expect(list({ error: 'Oh' }).output).toEqual([{ ...item, error: 'Oh' }]);
  });

  it('are requests for approval', () => {
    const part = {
      type: 'server_tool_approval',
      id: 'x',
      name: 's__t',
      arguments: '{}',
      target,
    } as AnswerPart;
    const item = {
      id: 'mcpr_r_0',
      type: 'mcp_approval_request',
      server_label: 's',
      name: 't',
      arguments: '{}',
    };
    expect(write([part]).events).toEqual([
      ['output_item.added', { output_index: 0, item }],
      ['output_item.done', { output_index: 0, item }],
    ]);
  });

  it('are cited by the text after them', () => {
    const found = [start('web_search'), end({ sources: [page] })];
    const { output, events } = write([...found, text('See [A](https://a.example).')]);
    const citation = { type: 'url_citation', url: page.url, title: 'A', start_index: 4, end_index: 26 };
    expect(output[1]).toEqual(message(1, 'See [A](https://a.example).', 'completed', [citation]));
    expect(events).toContainEqual([
      'output_text.annotation.added',
      { item_id: 'msg_r_1', output_index: 1, content_index: 0, annotation_index: 0, annotation: citation },
    ]);
  });
});
