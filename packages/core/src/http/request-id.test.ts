import { expect, it } from 'vitest';
import { getRequestId } from './request-id.ts';

const mint = () => 'minted';

it.each([
  ['the first name', { 'x-request-id': 'a-1', 'request-id': 'b' }, 'a-1'],
  ['the second name', { 'request-id': 'b.2_c' }, 'b.2_c'],
  ['a new id', {}, 'minted'],
  ['the longest id', { 'x-request-id': 'x'.repeat(128) }, 'x'.repeat(128)],
  ['the start of a longer id', { 'x-request-id': 'x'.repeat(129) }, 'x'.repeat(128)],
  ['the usable characters', { 'x-request-id': 'a b\r\nc' }, 'abc'],
  ['the second name, if the first has none', { 'x-request-id': '\u00e4', 'request-id': 'b' }, 'b'],
  ['a new id, if neither has any', { 'x-request-id': '', 'request-id': '\u00e4' }, 'minted'],
  ['the first of several', { 'x-request-id': ['a', 'b'] }, 'a'],
])('a request has %s', (_, headers, expected) => {
  expect(getRequestId(headers, mint)).toBe(expected);
});
