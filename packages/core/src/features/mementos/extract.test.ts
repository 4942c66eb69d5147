import { describe, expect, it } from 'vitest';
import { buildExtraction, mementosIn } from './extract.ts';
import { splitWords } from './words.ts';

describe('question for the mementos of a message', () => {
  const read = (message: string) => {
    const [system, user] = buildExtraction(message);
    expect([system?.role, user?.role]).toEqual(['system', 'user']);
    const [part] = user?.content ?? [];
    return part?.type === 'text' ? part.text : undefined;
  };

  it.each([
    ['a short text', 'Hello', 'Hello'],
    ['6,000 characters', `b${'a'.repeat(5999)}`, `b${'a'.repeat(5999)}`],
    ['the beginning of a longer text', `b${'a'.repeat(6000)}`, `b${'a'.repeat(5999)}`],
    ['whole characters of two units', '😀'.repeat(6001), '😀'.repeat(6000)],
  ])('has %s', (_name, message, text) => {
    expect(read(message)).toBe(`<text>\n${text}\n</text>`);
  });
});

describe('mementos of an answer', () => {
  const find = (...mementos: readonly unknown[]) => mementosIn(JSON.stringify({ mementos }));

  it('are texts, or texts that may stand', () => {
    expect(find('A', { text: 'B', standing: true }, { text: 'C', standing: 'x' }, { text: 'D' })).toEqual([
      { text: 'A', isStanding: false },
      { text: 'B', isStanding: true },
      { text: 'C', isStanding: false },
      { text: 'D', isStanding: false },
    ]);
  });

  it('are lines without control characters, up to 300 characters long', () => {
    const long = '😀'.repeat(300);
    expect(find(' a\n\u0007 b ', ' \n', long, `${long}x`).map(({ text }) => text)).toEqual(['a b', long]);
  });

  it('are five at most', () => {
    expect(find('a', '', 'b', 'c', 'd', 'e', 'f').map(({ text }) => text)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it.each(['', 'no', '{"mementos": 5}', '{"mementos": [5]}'])('are absent in %j', (said) => {
    expect(mementosIn(said)).toEqual([]);
  });
});

describe('words of a text', () => {
  it.each([
    ['Vitamin C, 5 of 12', ['vitam', '5', '12']],
    ['x', []],
    ['we go', ['go']],
    ['水', ['水']],
    ['水火', ['水火']],
    ['水火木', ['水火', '火木']],
    ['gas cats', ['gas', 'cat']],
  ])('%j are %j', (text, words) => {
    expect([...splitWords(text)]).toEqual(words);
  });
});
