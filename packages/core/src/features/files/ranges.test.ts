import { expect, it } from 'vitest';
import { parseRange } from './ranges.ts';

it.each([
  ['the bytes from a place to another', 'bytes=2-5', { start: 2, end: 5 }],
  ['one byte', 'bytes=0-0', { start: 0, end: 0 }],
  ['the last byte', 'bytes=9-', { start: 9, end: 9 }],
  ['a range that ends after the last byte', 'bytes=2-10', { start: 2, end: 9 }],
  ['the last bytes', 'bytes=-3', { start: 7, end: 9 }],
  ['all of the last bytes', 'bytes=-11', { start: 0, end: 9 }],
  ['a range between blanks', ' bytes=1-2 ', { start: 1, end: 2 }],
  ['a range from the end on', 'bytes=10-', 'unsatisfiable'],
  ['a range behind the end', 'bytes=11-12', 'unsatisfiable'],
  ['no last byte', 'bytes=-0', 'unsatisfiable'],
  ['no range', undefined, undefined],
  ['a range without numbers', 'bytes=-', undefined],
  ['a range that ends before its start', 'bytes=5-4', undefined],
  ['another unit', 'lines=1-2', undefined],
  ['several ranges', 'bytes=0-1,3-4', undefined],
  ['words before a range', 'some bytes=0-1', undefined],
])('reads %s', (_, header, range) => {
  expect(parseRange(header, 10)).toEqual(range);
});

it('finds no range in an empty object', () => {
  expect(parseRange('bytes=0-', 0)).toBe('unsatisfiable');
  expect(parseRange('bytes=-5', 0)).toBe('unsatisfiable');
});
