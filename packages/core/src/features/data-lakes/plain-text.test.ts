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

it.each<[readonly number[], string]>([
  [[0xff, 0xfe, 0x41, 0], 'A'],
  [[0xfe, 0xff, 0, 0x41], 'A'],
  [[0xff, 0x41], 'ÿA'],
  [[0xfe, 0x41], 'þA'],
  [[0x41, 0xfe], 'Aþ'],
  [[0x41, 0xff], 'Aÿ'],
  [[0xfe, 0xfe], 'þþ'],
  [[0xff, 0xff], 'ÿÿ'],
])('decodes %j by its mark', async (bytes, text) => {
  expect((await read(bytes)).text).toBe(text);
});

const bytesOf = (...parts: readonly (string | number)[]): number[] =>
  parts.flatMap((part) => (typeof part === 'string' ? [...Buffer.from(part)] : [part]));

it.each<[string, readonly number[], string]>([
  ['a spreadsheet', [...Buffer.from('Größe;Café\r\n5;3', 'latin1')], 'Größe;Café\n5;3'],
  ['a spreadsheet with signs', bytesOf(0x93, '5 ', 0x80, 0x94), '“5 €”'],
])('decodes %s that is not in UTF-8', async (_title, bytes, text) => {
  expect((await read(bytes)).text).toBe(text);
});

it.each<[string, readonly number[], string]>([
  ['is cut in a letter', bytesOf('Größe €', 0xc3), 'Größe €\ufffd'],
  ['has as many letters as errors', bytesOf(0xff, 'a', 'é'), '\ufffdaé'],
  ['has its letters before and after the error', bytesOf('é', 'a'.repeat(2 ** 19 - 1), 0xff, 'a'), '\ufffda'],
  ['has its letters after the error', bytesOf(0xff, 'a'.repeat(2 ** 19 - 2), 'é'), 'é'],
])('keeps UTF-8 that %s', async (_title, bytes, end) => {
  expect((await read(bytes)).text.endsWith(end)).toBe(true);
});

it('decides about the encoding by a mebibyte around the first error', async () => {
  expect((await read(bytesOf('é', 'a'.repeat(2 ** 19), 0xff))).text.slice(0, 3)).toBe('Ã©a');
  expect((await read(bytesOf(0xff, 'a'.repeat(2 ** 19 - 1), 'é'))).text.slice(-2)).toBe('Ã©');
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
