import { packThinking } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { readApprovals } from './approvals.ts';
import { createResponse } from './contract.ts';
import type { WholeItem } from './contract-items.ts';
import type { EarlierItems } from './item-path.ts';

const OWN: EarlierItems = { count: 0, field: 'previous_response_id' };

function read(items: readonly object[]): readonly WholeItem[] {
  const { input } = createResponse.input.body.parse({ model: 'm', input: items });
  return input as readonly WholeItem[];
}

const text = (value: string) => ({ type: 'text', text: value }) as const;
const user = (...content: object[]) => ({ role: 'user', content });
const said = (content: unknown) => ({ role: 'assistant', content });
const call = (call_id: string) => ({ type: 'function_call', call_id, name: 'f', arguments: '{"a":1}' });
const SEARCH = { type: 'web_search_call', id: 'ws_1', status: 'completed' };
const request = {
  type: 'mcp_approval_request',
  id: 'a1',
  server_label: 's',
  name: 't',
  arguments: '{"a":1}',
};
const decide = (approve: boolean) => ({
  type: 'mcp_approval_response',
  approval_request_id: 'a1',
  approve,
});
const mcp = (more: object = {}) => ({
  type: 'mcp_call',
  id: 'mcp_1',
  server_label: 's',
  name: 't',
  arguments: '{"a":1}',
  output: 'done',
  ...more,
});
const record = (approvalId: string) => ({
  type: 'reasoning',
  summary: [],
  encrypted_content: packThinking({
    type: 'questline_server_tool',
    id: 'w1',
    name: 's__t',
    input: {},
    content: 'found',
    isError: false,
    approvalId,
  }),
});

describe('approved calls that have not run', () => {
  const pending = (items: readonly object[], earlier = OWN) => readApprovals(read(items), earlier).pending;
  const waiting = { id: 'a1', server: 's', tool: 't', arguments: '{"a":1}' };

  it.each<[string, object[], object[]]>([
    ['after their decision', [request, decide(true)], [{ ...waiting, path: 'input.1' }]],
    [
      'also before a message of the user',
      [request, decide(true), user(text('a'))],
      [{ ...waiting, path: 'input.1' }],
    ],
    ['not without a decision', [request], []],
    ['not after a refusal', [request, decide(false), decide(true)], []],
    ['not after a later answer', [request, decide(true), said('a')], []],
    ...['function_call', 'custom_tool_call', 'tool_search_call'].map((type): [string, object[], object[]] => [
      `not after a later ${type}`,
      [
        request,
        decide(true),
        { ...call('c'), type, input: '', ...(type === 'tool_search_call' && { arguments: {} }) },
      ],
      [],
    ]),
    ['not after a later search', [request, decide(true), SEARCH], []],
    ['not after a later file search', [request, decide(true), { ...SEARCH, type: 'file_search_call' }], []],
    ['not after a later call', [request, decide(true), mcp()], []],
    ['not after their call', [request, mcp({ approval_request_id: 'a1' }), decide(true)], []],
    ['not after their record', [request, record('a1'), decide(true)], []],
  ])('wait %s', (_title, items, expected) => {
    expect(pending(items)).toEqual(expected);
  });

  it('have the result of their call, also without a decision', () => {
    const approvals = readApprovals(read([request, mcp({ approval_request_id: 'a1' })]), OWN);
    expect(approvals.getResult('a1')).toEqual({ content: 'done', isError: false });
    expect([approvals.has('a1'), approvals.has('a2')]).toEqual([true, false]);
  });

  it('of earlier responses wait no longer, unless the request decides them', () => {
    const earlier = (count: number): EarlierItems => ({ count, field: 'conversation' });
    expect(pending([request, decide(true)], earlier(1))).toEqual([{ ...waiting, path: 'input.0' }]);
    expect(pending([request, decide(true), user(text('a'))], earlier(3))).toEqual([]);
    // A conversation to which the decision was added.
    expect(pending([request, decide(true)], earlier(2))).toEqual([{ ...waiting, path: 'conversation' }]);
  });
});
