import { type MediaLoader, packThinking } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { type Approvals, readApprovals } from './approvals.ts';
import { createResponse } from './contract.ts';
import type { WholeItem } from './contract-items.ts';
import { toModelMessages } from './input.ts';
import type { EarlierItems } from './item-path.ts';

const text = (value: string) => ({ type: 'text', text: value }) as const;
const media: MediaLoader = {
  image: async (url, path) => text(`image ${url} at ${path}`),
  document: async (url, name, path) => text(`${name} ${url} at ${path}`),
  inline: async (url, name, path) => text(`inline ${name} ${url} at ${path}`),
  sent: async () => text(''),
  stored: async (id, path) => [text(`stored ${id} at ${path}`)],
};
const OWN: EarlierItems = { count: 0, field: 'previous_response_id' };

function read(items: readonly object[]): readonly WholeItem[] {
  const { input } = createResponse.input.body.parse({ model: 'm', input: items });
  return input as readonly WholeItem[];
}

function convert(items: readonly object[], earlier = OWN, instructions?: string) {
  const given = read(items);
  const approvals: Approvals = readApprovals(given, earlier);
  return toModelMessages(instructions, given, { media, provider: 'vendor', earlier, approvals });
}

const user = (...content: object[]) => ({ role: 'user', content });
const said = (content: unknown) => ({ role: 'assistant', content });
const call = (call_id: string, more: object = {}) => ({
  type: 'function_call',
  call_id,
  name: 'f',
  arguments: '{"a":1}',
  ...more,
});
const output = (call_id: string, value: unknown = 'seen') => ({
  type: 'function_call_output',
  call_id,
  output: value,
});
const reasoning = (encrypted_content?: unknown) => ({ type: 'reasoning', summary: [], encrypted_content });
const BLOCK = { type: 'thinking', thinking: 'hm', signature: 's' };
const THOUGHT = { type: 'thinking', block: BLOCK };
const thought = reasoning(packThinking(BLOCK));
const packed = (fields: object = {}) =>
  packThinking({
    type: 'questline_server_tool',
    id: 'w1',
    name: 'web_search',
    input: { query: 'q' },
    content: 'found',
    isError: false,
    ...fields,
  });
const record = (fields: object = {}) => reasoning(packed(fields));
const foreign = reasoning(packed().replace('questline.', 'elsewhere.'));
const SEARCH = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
const mcp = (more: object = {}) => ({
  type: 'mcp_call',
  id: 'mcp_1',
  server_label: 's',
  name: 't',
  arguments: '{"a":1}',
  output: 'done',
  ...more,
});
const request = {
  type: 'mcp_approval_request',
  id: 'a1',
  server_label: 's',
  name: 't',
  arguments: '{"a":1}',
};
const decide = (approve: boolean, reason?: string) => ({
  type: 'mcp_approval_response',
  approval_request_id: 'a1',
  approve,
  reason,
});

const use = (id: string, name = 'f', input: unknown = { a: 1 }) => ({ type: 'tool_use', id, name, input });
const result = (toolUseId: string, content = 'seen', toolName = 'f', isError = false) => ({
  type: 'tool_result',
  toolUseId,
  toolName,
  content,
  isError,
});
const asked = (...content: object[]) => ({ role: 'user', content });
const answered = (...content: object[]) => ({ role: 'assistant', content });

describe('items of a request', () => {
  it.each<[string, object[], object[]]>([
    ['texts', [{ role: 'user', content: 'Hi' }], [asked(text('Hi'))]],
    ['parts', [user({ type: 'input_text', text: 'a' }, text('b'))], [asked(text('a'), text('b'))]],
    [
      'no empty messages',
      [user(), { role: 'system', content: '' }, said(''), { role: 'user', content: 'a' }],
      [asked(text('a'))],
    ],
    [
      'system texts',
      [{ role: 'developer', content: [text('a'), text('b')] }],
      [{ role: 'system', content: [text('a\nb')] }],
    ],
    [
      'images and files',
      [
        user(
          { type: 'input_image', image_url: 'u', file_id: 'x' },
          { type: 'input_image', file_id: 'f1' },
          { type: 'input_file', file_url: 'u', file_id: 'x' },
          { type: 'input_file', file_url: 'u', filename: 'n' },
          { type: 'input_file', file_id: 'f2' },
          { type: 'input_file', file_data: 'data:application/pdf;base64,cGRm', file_url: 'u' },
          { type: 'input_file', file_data: 'data:application/pdf;base64,cGRm', filename: 'n' },
        ),
      ],
      [
        asked(
          text('image u at input.0.content.0.image_url'),
          text('stored f1 at input.0.content.1.file_id'),
          text('file u at input.0.content.2.file_url'),
          text('n u at input.0.content.3.file_url'),
          text('stored f2 at input.0.content.4.file_id'),
          text('inline file data:application/pdf;base64,cGRm at input.0.content.5.file_data'),
          text('inline n data:application/pdf;base64,cGRm at input.0.content.6.file_data'),
        ),
      ],
    ],
    [
      'an answer as one message',
      [
        thought,
        said('a'),
        said([
          { type: 'output_text', text: 'b' },
          { type: 'refusal', refusal: 'No.' },
          { type: 'output_text', text: '' },
        ]),
      ],
      [answered(THOUGHT, text('a'), text('b'), text('No.'))],
    ],
    ['no reasoning alone', [thought, { role: 'user', content: 'a' }], [asked(text('a'))]],
    [
      'no reasoning without content',
      [reasoning(), reasoning(null), reasoning(''), said('a')],
      [answered(text('a'))],
    ],
    [
      'reasoning of the vendor as it came',
      [reasoning('theirs'), said('a')],
      [
        answered(
          {
            type: 'thinking',
            block: { type: 'responses_reasoning', provider: 'vendor', item: reasoning('theirs') },
          },
          text('a'),
        ),
      ],
    ],
    [
      'calls, with their results behind them in the order of the calls',
      [
        said('a'),
        call('c1'),
        call('c2', { name: 'g', namespace: 'n', arguments: '' }),
        { role: 'user', content: 'x' },
        output('c2', 'two'),
        output('c1', 'one'),
      ],
      [
        answered(text('a'), use('c1'), use('c2', 'n__g', {})),
        asked(result('c1', 'one'), result('c2', 'two', 'n__g')),
        asked(text('x')),
      ],
    ],
    [
      'calls of the same id after each other',
      [call('c1'), output('c1', 'one'), call('c1'), output('c1', 'two')],
      [answered(use('c1')), asked(result('c1', 'one')), answered(use('c1')), asked(result('c1', 'two'))],
    ],
    [
      'calls of the same id, whose results come together',
      [call('c1'), { role: 'user', content: 'x' }, call('c1'), output('c1', 'one'), output('c1', 'two')],
      [
        answered(use('c1')),
        asked(result('c1', 'one')),
        asked(text('x')),
        answered(use('c1')),
        asked(result('c1', 'two')),
      ],
    ],
    [
      'calls of custom tools, and of the search for tools',
      [
        { type: 'custom_tool_call', call_id: 'c1', name: 'c', input: 'x' },
        { type: 'tool_search_call', call_id: 'c2', arguments: { q: 1 } },
        { type: 'custom_tool_call_output', call_id: 'c1', output: 'seen' },
        {
          type: 'tool_search_output',
          call_id: 'c2',
          tools: [
            { type: 'function', name: 'f' },
            { type: 'custom', name: 'g' },
          ],
        },
      ],
      [
        answered(use('c1', 'c', { input: 'x' }), use('c2', 'tool_search', { q: 1 })),
        asked(result('c1', 'seen', 'c'), result('c2', 'These tools can be called now: f, g', 'tool_search')),
      ],
    ],
    [
      'a search that found no tools',
      [
        { type: 'tool_search_call', call_id: 'c2', arguments: {} },
        { type: 'tool_search_output', call_id: 'c2', tools: [] },
        { type: 'additional_tools', tools: [] },
      ],
      [answered(use('c2', 'tool_search', {})), asked(result('c2', 'No tools were found.', 'tool_search'))],
    ],
    [
      'the media of results behind all results',
      [
        call('c1'),
        call('c2'),
        output('c1', [
          { type: 'input_text', text: 'a' },
          { type: 'input_image', image_url: 'u' },
          { type: 'input_file', file_id: 'f1' },
        ]),
        output('c2'),
      ],
      [
        answered(use('c1'), use('c2')),
        asked(
          result('c1', 'a\n[image: follows the results]\n[file: follows the results]'),
          result('c2'),
          text('The image of the result of f:'),
          text('image u at input.2.output.1.image_url'),
          text('The file of the result of f:'),
          text('stored f1 at input.2.output.2.file_id'),
        ),
      ],
    ],
    [
      'no records of tools of the vendor',
      [{ type: 'code_interpreter_call', id: 'x' }, said('a')],
      [answered(text('a'))],
    ],
    [
      'a search of the server with its result',
      [thought, SEARCH, record(), said('a')],
      [
        answered(THOUGHT, use('w1', 'web_search', { query: 'q' })),
        asked(result('w1', 'found', 'web_search')),
        answered(text('a')),
      ],
    ],
    [
      'two searches of one round',
      [SEARCH, record(), SEARCH, record({ id: 'w2', isError: true }), thought, said('a')],
      [
        answered(use('w1', 'web_search', { query: 'q' }), use('w2', 'web_search', { query: 'q' })),
        asked(result('w1', 'found', 'web_search'), result('w2', 'found', 'web_search', true)),
        answered(THOUGHT, text('a')),
      ],
    ],
    [
      'no search without its result, nor its reasoning',
      [said('a'), thought, thought, SEARCH, said('b')],
      [answered(text('a'), text('b'))],
    ],
    [
      'no search whose record came from another server, nor its reasoning',
      [said('a'), thought, SEARCH, foreign, said('b')],
      [
        answered(
          text('a'),
          {
            type: 'thinking',
            block: { type: 'responses_reasoning', provider: 'vendor', item: foreign },
          },
          text('b'),
        ),
      ],
    ],
    [
      'no file search without its result, nor its reasoning',
      [said('a'), thought, { ...SEARCH, type: 'file_search_call' }, said('b')],
      [answered(text('a'), text('b'))],
    ],
    [
      'calls whose request for approval is not known',
      [mcp({ approval_request_id: 'lost' }), said('a'), record({ approvalId: 'lost' })],
      [
        answered(use('mcp_1', 's__t')),
        asked(result('mcp_1', 'done', 's__t')),
        answered(text('a'), use('w1', 'web_search', { query: 'q' })),
        asked(result('w1', 'found', 'web_search')),
      ],
    ],
    [
      'a request for approval once',
      [request, request, mcp({ approval_request_id: 'a1' })],
      [answered(use('a1', 's__t')), asked(result('a1', 'done', 's__t'))],
    ],
    [
      'a search beside a call of the client as one round',
      [SEARCH, record(), call('c1'), said('a'), output('c1')],
      [
        answered(use('w1', 'web_search', { query: 'q' }), use('c1'), text('a')),
        asked(result('w1', 'found', 'web_search'), result('c1')),
      ],
    ],
    [
      'a call of a tool server with its output',
      [mcp(), said('a')],
      [answered(use('mcp_1', 's__t')), asked(result('mcp_1', 'done', 's__t')), answered(text('a'))],
    ],
    [
      'a call of a tool server without output',
      [mcp({ output: null })],
      [answered(use('mcp_1', 's__t')), asked(result('mcp_1', 'The call has not run.', 's__t', true))],
    ],
    ...[
      ['Oh', 'Oh'],
      [{ message: 'Oh' }, 'Oh'],
      [{ content: [{ text: 'O' }, null, {}, { text: 'h' }] }, 'O\nh'],
      [{}, 'The tool failed.'],
    ].map(([error, content]): [string, object[], object[]] => [
      `a call of a tool server that failed with ${JSON.stringify(error)}`,
      [mcp({ error })],
      [answered(use('mcp_1', 's__t')), asked(result('mcp_1', String(content), 's__t', true))],
    ]),
    [
      'names that every model takes',
      [mcp({ server_label: 'a.b', name: 'x'.repeat(70), arguments: '[]' })],
      [
        answered(use('mcp_1', `a_b__${'x'.repeat(59)}`, {})),
        asked(result('mcp_1', 'done', `a_b__${'x'.repeat(59)}`)),
      ],
    ],
    ...['"ab"', '[1]', '7', 'null', '{"a'].map((json): [string, object[], object[]] => [
      `a call of a tool server without input, for arguments that are no object: ${json}`,
      [mcp({ arguments: json })],
      [answered(use('mcp_1', 's__t', {})), asked(result('mcp_1', 'done', 's__t'))],
    ]),
    [
      'a call of a tool server once, if its record follows',
      [mcp(), record({ id: 'm1', name: 's__t' })],
      [answered(use('m1', 's__t', { query: 'q' })), asked(result('m1', 'found', 's__t'))],
    ],
    [
      'a call that was not decided',
      [request, { role: 'user', content: 'x' }],
      [
        answered(use('a1', 's__t')),
        asked(result('a1', 'The user has not approved this call. It has not run.', 's__t', true)),
        asked(text('x')),
      ],
    ],
    [
      'a call that was refused',
      [request, decide(false, 'Too late.')],
      [
        answered(use('a1', 's__t')),
        asked(
          result('a1', 'The user has refused this call. It has not run. Reason: Too late.', 's__t', true),
        ),
      ],
    ],
    [
      'a call that was refused first',
      [request, decide(false), decide(true)],
      [
        answered(use('a1', 's__t')),
        asked(result('a1', 'The user has refused this call. It has not run.', 's__t', true)),
      ],
    ],
    [
      'a call that waits for its turn',
      [request, decide(true)],
      [answered(use('a1', 's__t')), asked(result('a1', 'The call has not run.', 's__t', true))],
    ],
    [
      'an approved call at the place of its request',
      [
        request,
        decide(true),
        mcp({ approval_request_id: 'a1' }),
        record({ approvalId: 'a1', content: 'recorded' }),
        said('a'),
      ],
      [answered(use('a1', 's__t')), asked(result('a1', 'recorded', 's__t')), answered(text('a'))],
    ],
    [
      'an approved call without a record',
      [request, decide(true), mcp({ approval_request_id: 'a1' })],
      [answered(use('a1', 's__t')), asked(result('a1', 'done', 's__t'))],
    ],
  ])('are %s', async (_title, items, messages) => {
    expect(await convert(items)).toEqual(messages);
  });

  it('follow the instructions', async () => {
    expect(await convert([user(text('a'))], OWN, 'Be brief.')).toEqual([
      { role: 'system', content: [text('Be brief.')] },
      asked(text('a')),
    ]);
    expect(await convert([said('')], OWN, 'Be brief.')).toHaveLength(1);
    await expect(convert([said('')], OWN, '')).rejects.toMatchObject({
      message: 'input: no item has content',
    });
  });

  it.each<[string, object[], string]>([
    ['a call without its result', [call('c1'), user(text('a'))], 'input.0'],
    ['a call with its result before it', [output('c1'), call('c1')], 'input.0.call_id'],
    ['a result without its call', [output('c1')], 'input.0.call_id'],
    [
      'a result of a custom tool without its call',
      [{ ...output('c1'), type: 'custom_tool_call_output' }],
      'input.0.call_id',
    ],
    [
      'a result of a search for tools without its call',
      [{ type: 'tool_search_output', call_id: 'c1', tools: [] }],
      'input.0.call_id',
    ],
    ['a refusal of the user', [user({ type: 'refusal', refusal: 'No.' })], 'input.0.content.0'],
    ['a file of the assistant', [said([{ type: 'input_file', file_id: 'f' }])], 'input.0.content.0'],
    ['two results of one call', [call('c1'), output('c1'), output('c1')], 'input.2.call_id'],
    ['two open calls of one id', [call('c1'), call('c1'), output('c1')], 'input.1.call_id'],
    ['arguments that are no object', [call('c1', { arguments: '[]' }), output('c1')], 'input.0.arguments'],
    ['changed reasoning', [reasoning(packThinking(BLOCK).slice(0, -5))], 'input.0.encrypted_content'],
    ['a changed record', [record({ content: 7 })], 'input.0.encrypted_content'],
    ['an unknown item', [said('a'), { type: 'compaction', id: 'x' }], 'input.1.type'],
    ['an image without a source', [user({ type: 'input_image' })], 'input.0.content.0'],
    ['a file without a source', [user({ type: 'input_file' })], 'input.0.content.0'],
    [
      'a text of the assistant in a message of the user',
      [user({ type: 'output_text', text: 'a' })],
      'input.0.content.0',
    ],
    [
      'an image in a message of the assistant',
      [said([text('a'), { type: 'input_image', image_url: 'u' }])],
      'input.0.content.1',
    ],
    ['a decision about an unknown call', [decide(true)], 'input.0.approval_request_id'],
  ])('are refused with %s, with their place', async (_title, items, path) => {
    await expect((async () => convert(items))()).rejects.toMatchObject({ status: 400, details: [{ path }] });
  });

  it('of the system are only text', async () => {
    const withImage = {
      ...media,
      image: async () => ({ type: 'image', mediaType: 'image/png', data: '' }) as const,
    };
    const items = read([{ role: 'system', content: [{ type: 'input_image', image_url: 'u' }] }]);
    const options = {
      media: withImage,
      provider: 'vendor',
      earlier: OWN,
      approvals: readApprovals(items, OWN),
    };
    await expect(toModelMessages('', items, options)).rejects.toMatchObject({
      message: 'input[0]: messages of the role system have only text',
    });
  });

  it('of earlier responses are named by the field that refers to them', async () => {
    const earlier: EarlierItems = { count: 1, field: 'conversation' };
    await expect(convert([call('c1'), said('a')], earlier)).rejects.toMatchObject({
      details: [{ path: 'conversation' }],
    });
    await expect(convert([said('a'), call('c1')], earlier)).rejects.toMatchObject({
      details: [{ path: 'input.0' }],
    });
  });

  it('say which source a part needs', async () => {
    await expect(convert([user({ type: 'input_image' })])).rejects.toThrow('expected image_url or file_id');
    await expect(convert([user({ type: 'input_file' })])).rejects.toThrow(
      'expected file_data, file_url or file_id',
    );
  });

  it('name what to do instead of sending an item', async () => {
    await expect(convert([{ type: 'compaction' }])).rejects.toThrow('only the vendor can read it');
    await expect(convert([{ type: 'toString' }])).rejects.toThrow('items of this type cannot be read here');
    await expect(convert([{ type: 'x'.repeat(150) }])).rejects.toThrow(`: ${'x'.repeat(100)}: items of`);
  });
});
