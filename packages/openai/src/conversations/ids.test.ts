import { toEntryId } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import type { ResponseBody } from '../responses/contract.ts';
import type { WholeItem } from '../responses/contract-items.ts';
import { readItemOwner, readResponseId, toInputItemId, toResponseId } from '../responses/ids.ts';
import { getConversationId, readConversationId, readEntryId, toConversationId } from './ids.ts';

const ID = '0123456789abcdef01234567';

describe.each([
  ['conversation', 'conv', toConversationId, readConversationId],
  ['response', 'resp', toResponseId, readResponseId],
])('id of a %s', (_name, prefix, toWire, read) => {
  it('has a prefix', () => {
    expect(toWire(ID)).toBe(`${prefix}_${ID}`);
    expect(read(toWire(ID))).toBe(ID);
  });

  it.each([
    ID,
    `xxxx_${ID}`,
    `${prefix}_${ID}0`,
    `${prefix}_${ID.slice(1)}`,
    `${prefix}_`,
    '',
    `${prefix}-${ID}`,
  ])('is not %j', (text) => {
    expect(read(text)).toBeUndefined();
  });
});

describe('id of an item', () => {
  it.each([
    [`msg_${ID}_0`, ID, toEntryId(ID, undefined)],
    [`msg_${ID}_in0`, ID, toEntryId(ID, 0)],
    [`fc_${ID}_in12`, ID, toEntryId(ID, 12)],
    [`ctco_${ID}_in250`, ID, toEntryId(ID, 250)],
    [`mcpl_${ID}_999999`, ID, toEntryId(ID, undefined)],
    [`m_${ID}_0`, undefined, undefined],
    [`MSG_${ID}_0`, undefined, undefined],
    [`xmsg1_${ID}_0`, undefined, undefined],
    [`msg_${ID}`, undefined, undefined],
    [`msg_${ID}_`, undefined, undefined],
    [`msg_${ID}_in`, undefined, undefined],
    [`msg_${ID}_0x`, undefined, undefined],
    [`msg_${ID.slice(1)}_0`, undefined, undefined],
    [`msg_${ID}_${'0'.repeat(200)}`, ID, undefined],
    [`${'x'.repeat(200)}msg_${ID}_0`, undefined, undefined],
  ])('%s belongs to the response %s and the entry %s', (itemId, owner, entry) => {
    expect([readItemOwner(itemId), readEntryId(itemId)]).toEqual([owner, entry]);
  });

  it('of a request names its kind and its place', () => {
    const toItemId = (type: string) => toInputItemId({ type } as WholeItem, ID, 3);
    expect(['message', 'function_call', 'reasoning', 'other'].map(toItemId)).toEqual(
      ['msg', 'fc', 'rs', 'it'].map((prefix) => `${prefix}_${ID}_in3`),
    );
    expect(readItemOwner(toItemId('mcp_approval_response'))).toBe(ID);
  });
});

it.each([
  [{}, undefined],
  [{ conversation: null }, undefined],
  [{ conversation: 'conv_1' }, 'conv_1'],
  [{ conversation: { id: 'conv_2' } }, 'conv_2'],
])('reads the conversation of %j', (body, id) => {
  expect(getConversationId(body as ResponseBody)).toBe(id);
});
