import { describe, expect, it } from 'vitest';
import type { WholeItem } from '../responses/contract-items.ts';
import { packServerCall } from '../responses/server-items.ts';
import { findMessage, readItems, toContext, toKeptItems, toListed, withoutItem } from './items.ts';

const SOURCE = '0123456789abcdef01234567';
const said = (content: unknown, role = 'user'): WholeItem =>
  ({ type: 'message', role, content }) as unknown as WholeItem;

const RECORD = packServerCall({
  ...{ id: 'c', name: 'look', arguments: '{}', content: 'Found.', isError: false },
} as Parameters<typeof packServerCall>[0]);

/** Items by their types. A call of the server is `mcp_call`; a `record` is the reasoning that keeps its result. */
const keep = (...types: string[]) =>
  types.map((type, index) => {
    const item = type === 'record' ? { type: 'reasoning', encrypted_content: RECORD } : { type };
    return { id: `i${index}`, item: item as unknown as WholeItem };
  });
const delete_ = (types: readonly string[], place: number) =>
  withoutItem(keep(...types), `i${place}`)?.map(({ id }) => Number(id.slice(1)));

describe('items of a conversation', () => {
  it('have the ids of their places', () => {
    const item = said('x');
    expect(toKeptItems(SOURCE, [item, item])).toEqual([
      { id: `msg_${SOURCE}_in0`, item },
      { id: `msg_${SOURCE}_in1`, item },
    ]);
    const content = { type: 'items', items: toKeptItems(SOURCE, [item]) };
    expect(readItems({ source: SOURCE, content } as never)).toEqual(content.items);
  });

  it('of an answer are written with the tools and the fields of its request', () => {
    const context = toContext({ tools: [], include: ['x'] });
    expect(JSON.parse(context)).toEqual({ tools: [], include: ['x'] });
    const output = { parts: [{ type: 'text', text: 'Hi' }], finishReason: 'stop' };
    const [item, ...others] = readItems({
      source: SOURCE,
      content: { type: 'answer', context, output },
    } as never);
    expect(others).toEqual([]);
    expect(item).toMatchObject({ id: `msg_${SOURCE}_0`, item: { type: 'message', role: 'assistant' } });
    expect(item && toListed(item)).toMatchObject({ id: `msg_${SOURCE}_0`, status: 'completed' });
  });

  it.each([
    [['message', 'message'], 1, [0]],
    [['message'], 0, []],
    [['message', 'reasoning', 'message', 'message'], 2, [0, 3]],
    [['message', 'reasoning', 'reasoning', 'function_call', 'message'], 3, [0, 4]],
    [['reasoning', 'message', 'reasoning', 'message'], 3, [0, 1]],
    [['reasoning', 'message'], 0, [1]],
    [['mcp_call', 'message'], 0, [1]],
    [['mcp_call', 'record', 'message'], 0, [2]],
    [['mcp_call', 'record', 'message'], 1, [0, 2]],
    [['mcp_call', 'record', 'message'], 2, [0, 1]],
    [['reasoning', 'mcp_call', 'record', 'reasoning', 'message'], 1, [3, 4]],
    [['reasoning', 'mcp_call', 'record', 'reasoning', 'message'], 4, [0, 1, 2]],
    [['function_call', 'record'], 0, [1]],
    [['message'], 1, undefined],
  ])('%j without the one at %i are those at %j', (types, place, left) => {
    expect(delete_(types, place)).toEqual(left);
  });
});

describe('message of a conversation', () => {
  it.each<[readonly WholeItem[], string]>([
    [[], ''],
    [[said('Be brief.', 'system'), said('Hi'), said('Bye')], 'Hi'],
    [[said('Hi', 'assistant')], ''],
    [[{ type: 'reasoning' } as unknown as WholeItem, said('Hi')], 'Hi'],
    [[said([{ type: 'input_image' }, { type: 'input_text', text: 'A' }])], 'A'],
    [[said([{ type: 'text', text: 'B' }])], 'B'],
    [[said([{ type: 'input_image' }]), said('C')], 'C'],
    [[said([]), said([])], ''],
  ])('of %j is %j', (items, message) => {
    expect(findMessage(items)).toBe(message);
  });
});
