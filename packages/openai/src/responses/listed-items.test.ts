import { packThinking } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { findMessage, toKeptItems, toListed, withoutItem } from '../conversations/items.ts';
import { createResponse } from './contract.ts';
import type { WholeItem } from './contract-items.ts';
import { toListedItem } from './listed-items.ts';

function read(...items: readonly object[]): readonly WholeItem[] {
  const { input } = createResponse.input.body.parse({ model: 'm', input: items });
  return input as readonly WholeItem[];
}

function list(item: object): unknown {
  const [only] = read(item);
  if (only === undefined) throw new Error('expected an item');
  return toListedItem({ id: 'own', item: only });
}

const output = (text: string, more: object = {}) => ({
  type: 'output_text',
  text,
  annotations: [],
  logprobs: [],
  ...more,
});

describe('item of a list', () => {
  it.each<[object, object]>([
    [
      { role: 'user', content: 'Hi', id: 'theirs' },
      { type: 'message', status: 'completed', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
    ],
    [
      { role: 'assistant', content: 'Hi', status: 'incomplete', phase: 'commentary' },
      {
        type: 'message',
        status: 'incomplete',
        phase: 'commentary',
        role: 'assistant',
        content: [output('Hi')],
      },
    ],
    [
      {
        role: 'assistant',
        status: 'odd',
        phase: 'odd',
        content: [
          output('a', { annotations: [{ a: 1 }, null, 7], logprobs: 'none' }),
          { type: 'refusal', refusal: 'No.' },
        ],
      },
      {
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [output('a', { annotations: [{ a: 1 }] }), { type: 'refusal', refusal: 'No.' }],
      },
    ],
    [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a' },
          { type: 'input_text', text: 'b' },
          { type: 'input_file', file_id: 'f' },
        ],
      },
      {
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [output('a'), output('b'), { type: 'input_file', file_id: 'f' }],
      },
    ],
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'input_text', text: 'b' },
          { type: 'input_image', image_url: 'u', detail: 'low' },
          { type: 'input_image', image_url: 'u', detail: 'odd' },
          { type: 'input_file', file_id: 'f' },
        ],
      },
      {
        type: 'message',
        status: 'completed',
        role: 'user',
        content: [
          { type: 'input_text', text: 'a' },
          { type: 'input_text', text: 'b' },
          { type: 'input_image', image_url: 'u', detail: 'low' },
          { type: 'input_image', image_url: 'u', detail: 'auto' },
          { type: 'input_file', file_id: 'f' },
        ],
      },
    ],
    [
      { type: 'reasoning', summary: 'odd', encrypted_content: null, content: [] },
      { type: 'reasoning', summary: [] },
    ],
    [
      { type: 'reasoning', summary: [{ text: 'a' }, 7], encrypted_content: 'x' },
      { type: 'reasoning', summary: [{ text: 'a' }], encrypted_content: 'x' },
    ],
    [
      { type: 'tool_search_call', call_id: 'c', arguments: {} },
      { type: 'tool_search_call', call_id: 'c', arguments: {}, status: 'completed', execution: 'client' },
    ],
    [
      { type: 'tool_search_output', call_id: 'c', tools: [] },
      { type: 'tool_search_output', call_id: 'c', tools: [], status: 'completed', execution: 'client' },
    ],
    [
      { type: 'mcp_list_tools', server_label: 's', tools: [] },
      { type: 'mcp_list_tools', server_label: 's', tools: [] },
    ],
    [
      { type: 'mcp_approval_request', id: 'a', server_label: 's', name: 't', arguments: '{}' },
      { type: 'mcp_approval_request', server_label: 's', name: 't', arguments: '{}' },
    ],
    [
      { type: 'mcp_approval_response', approval_request_id: 'a', approve: true },
      { type: 'mcp_approval_response', approval_request_id: 'a', approve: true },
    ],
    ...[
      ['calling', 'calling'],
      ['failed', 'failed'],
      ['incomplete', 'incomplete'],
      ['odd', 'completed'],
    ].map(([status, listed]): [object, object] => [
      { type: 'mcp_call', id: 'a', server_label: 's', name: 't', arguments: '{}', status },
      { type: 'mcp_call', server_label: 's', name: 't', arguments: '{}', status: listed },
    ]),
    [
      { type: 'additional_tools', tools: [] },
      { type: 'additional_tools', tools: [], role: 'developer' },
    ],
    [
      { type: 'code_interpreter_call', a: 1 },
      { type: 'code_interpreter_call', a: 1 },
    ],
    [{ type: 'web_search_call' }, { type: 'web_search_call', status: 'completed' }],
    [
      { type: 'web_search_call', status: 'failed' },
      { type: 'web_search_call', status: 'failed' },
    ],
    [
      { type: 'function_call_output', call_id: 'c', output: 'a' },
      { type: 'function_call_output', call_id: 'c', output: 'a', status: 'completed' },
    ],
  ])('%j has the form of its type', (item, listed) => {
    expect(list(item)).toEqual({ id: 'own', ...listed });
  });
});

describe('item of a conversation', () => {
  const call = (call_id: string) => ({ type: 'function_call', call_id, name: 'f', arguments: '{}' });
  const thought = { type: 'reasoning', summary: [] };
  const record = {
    type: 'reasoning',
    summary: [],
    encrypted_content: packThinking({ type: 'questline_server_tool' }),
  };
  const SEARCH = { type: 'web_search_call' };
  const said = { role: 'assistant', content: 'a' };

  it('has an id of its place, and the form of the list', () => {
    const [message, second] = toKeptItems('s', read({ role: 'user', content: 'Hi' }, call('c')));
    expect([message?.id, second?.id]).toEqual(['msg_s_in0', 'fc_s_in1']);
    if (message === undefined) throw new Error('expected an item');
    expect(toListed(message)).toMatchObject({ id: 'msg_s_in0', type: 'message', status: 'completed' });
    expect(toListed({ ...message, listed: { id: 'x' } })).toEqual({ id: 'x' });
  });

  it.each<[string, object[], number, number[]]>([
    ['alone', [said, said, said], 1, [0, 2]],
    ['with the reasoning before it', [said, thought, thought, call('c'), said], 3, [0, 4]],
    ['without the record of another call before it', [SEARCH, record, call('c')], 2, [0, 1]],
    ['with its record', [thought, SEARCH, record, said], 1, [3]],
    ['without a record that is not its own', [said, record], 0, [1]],
    ['without what follows it', [SEARCH, said], 0, [1]],
    ['at the begin', [thought, said], 0, [1]],
  ])('is deleted %s', (_title, items, place, left) => {
    const kept = toKeptItems('s', read(...items));
    expect(withoutItem(kept, kept[place]?.id ?? '')).toEqual(left.map((index) => kept[index]));
    expect(withoutItem(kept, 'other')).toBeUndefined();
  });

  it.each<[object[], string]>([
    [[], ''],
    [[said, { role: 'system', content: 'x' }], ''],
    [[said, { role: 'user', content: 'Hi' }, { role: 'user', content: 'Ho' }], 'Hi'],
    [
      [
        { role: 'user', content: [{ type: 'input_image', image_url: 'u' }] },
        { role: 'user', content: [{ type: 'text', text: 'a' }] },
      ],
      'a',
    ],
    [
      [
        {
          role: 'user',
          content: [
            { type: 'input_file', file_id: 'f' },
            { type: 'input_text', text: 'b' },
          ],
        },
      ],
      'b',
    ],
  ])('names its conversation by the first words of the user: %j', (items, message) => {
    expect(findMessage(items.length === 0 ? [] : read(...items))).toBe(message);
  });
});
