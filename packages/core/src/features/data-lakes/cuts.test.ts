import { expect, it } from 'vitest';
import { countTurns } from '../../../test/turns.ts';
import { countTokens, splitText } from './chunks.ts';

const split = (text: string, tokens: number, overlap = 0) => splitText(text, { limits: { tokens, overlap } });

it('counts four Latin letters, or one other letter, as a token', () => {
  expect(['\u024f', '\u0250'].map((letter) => countTokens(letter.repeat(4)))).toEqual([1, 4]);
});

it('fills each chunk up to its maximum', async () => {
  const lines = ['one one', 'two two', 'six six', 'ten ten', 'red red'].map((line) => `${line}\n`);
  expect(await split(lines.join(''), 4)).toEqual(['one one\ntwo two', 'six six\nten ten', 'red red']);
});

it('fills each part of a long sentence up to its maximum', async () => {
  expect(await split('a b c d e f g h i', 2)).toEqual(['a b c d', 'e f g h', 'i']);
});

it('begins a chunk with a sentence that is just as long as the overlap', async () => {
  const [first, last, next] = [40, 24, 32].map((length) => `${'word '.repeat(9).slice(0, length - 1)}\n`);
  const chunks = await split(`${first}${last}${next}`, 20, 6);
  expect(chunks).toEqual([`${first}${last}`.trim(), `${last}${next}`.trim()]);
});

it.each([
  [2, 1],
  [6, 3],
])('cuts a word of letters with two tokens each into chunks of %i tokens', async (tokens, letters) => {
  expect(await split('𐀀'.repeat(6), tokens)).toEqual(Array(6 / letters).fill('𐀀'.repeat(letters)));
});

it.each([
  [1, 0],
  [99, 0],
  [100, 1],
  [199, 1],
  [200, 2],
])('yields after each hundred chunks: %i', async (count, turns) => {
  const text = Array.from({ length: count }, () => 'abc').join('\n');
  expect(await split(text, 1)).toHaveLength(count);
  expect(await countTurns(split(text, 1))).toBe(turns);
});
