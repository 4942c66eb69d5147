import { expect, it } from 'vitest';
import { countTurns } from '../../../test/turns.ts';
import { plainTextExtractor } from './plain-text.ts';

const read = (content: string | readonly number[], mimeType = 'text/plain', name = 'a') =>
  plainTextExtractor.extract(typeof content === 'string' ? Buffer.from(content) : Buffer.from(content), {
    mimeType,
    name,
  });
const UNKNOWN = 'application/octet-stream';
const TAGGED = '---\ntags: red\n---\nHello';

it('reads JSON and Markdown of an unknown type by the name', async () => {
  expect(await read('{"a":1}', UNKNOWN, 'a.JSON')).toEqual({ text: 'a: 1' });
  expect(await read(TAGGED, UNKNOWN, 'a.md')).toEqual({ text: 'Hello', tags: ['red'] });
  expect(await read(TAGGED, UNKNOWN, 'a.markdown')).toEqual({ text: 'Hello', tags: ['red'] });
});

it('reads no tags of other texts', async () => {
  expect(await read(TAGGED)).toEqual({ text: TAGGED });
  expect(await read('Hello', 'text/markdown')).toEqual({ text: 'Hello', tags: [] });
  expect(await read('---\ntitle: x\n---\nHello', 'text/markdown')).toEqual({ text: 'Hello', tags: [] });
});

it.each([
  [1, 0],
  [4999, 0],
  [5000, 1],
  [10_000, 2],
])('yields after each 5,000 values of JSON: %i', async (values, turns) => {
  const json = JSON.stringify(new Array(values - 1).fill(1));
  expect(await countTurns(read(json, 'application/json'))).toBe(turns);
});
