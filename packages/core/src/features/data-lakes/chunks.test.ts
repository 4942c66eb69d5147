import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHUNK_LIMITS, countTokens, splitText } from './chunks.ts';
import { plainTextExtractor } from './plain-text.ts';

const small = { tokens: 20, overlap: 6 };

describe('chunking of a text', () => {
  test('splits at the ends of sentences, and each chunk begins with the end of the previous one', async () => {
    const text =
      'One is here. Two is there. Three is far away from it all. Four ends it. Five is over it. Six is last.';
    const chunks = await splitText(text, { limits: small });
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks[0]).toBe('One is here. Two is there. Three is far away from it all. Four ends it.');
    expect(chunks[1]).toBe('Four ends it. Five is over it. Six is last.');
  });

  test('does not split a short text, and returns nothing for an empty one', async () => {
    expect(await splitText('Short.\n')).toEqual(['Short.']);
    for (const nothing of ['', ' \n\t', '--- ... !?']) expect(await splitText(nothing)).toEqual([]);
  });

  test('splits between words, or within an overlong word', async () => {
    const words = await splitText('word '.repeat(100), { limits: small });
    for (const chunk of words) expect(chunk).toMatch(/^word( word)*$/);
    const letters = await splitText('x'.repeat(1000), { limits: small });
    expect(letters.join('').length).toBeGreaterThanOrEqual(1000);
    const signs = await splitText('𐀀'.repeat(100), { limits: small });
    expect(signs.join('').length).toBeGreaterThanOrEqual(200);
    for (const chunk of [...letters, ...signs]) {
      expect(countTokens(chunk)).toBeLessThanOrEqual(small.tokens);
    }
  });

  test('exceeds no maximum, loses no word, and always splits at the same positions', async () => {
    const sentence = fc.oneof(
      fc.lorem(),
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.constantFrom('东京很大。', 'Was? Ja!', '\n\n', '3.14 e.g. x'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(sentence, { maxLength: 30 }), async (sentences) => {
        const text = sentences.join(' ');
        const chunks = await splitText(text, { limits: small });
        expect(await splitText(text, { limits: small })).toEqual(chunks);
        for (const chunk of chunks) expect(countTokens(chunk)).toBeLessThanOrEqual(small.tokens + 1);
        let from = 0;
        for (const chunk of chunks) {
          const at = text.indexOf(chunk.slice(0, 8), Math.max(0, from - 400));
          expect(at).toBeGreaterThanOrEqual(0);
          from = at;
        }
        const whole = new Set(chunks.join(' ').match(/[a-z]{2,30}/g) ?? []);
        for (const word of text.match(/(?<![^\s.])[a-z]{2,30}(?![^\s.])/g) ?? [])
          expect(whole).toContain(word);
      }),
      { numRuns: 200 },
    );
  });

  test('splits a line of megabytes', async () => {
    for (const endless of ['x', 'word ', 'e.g.x', '😀a']) {
      const text = endless.repeat(Math.ceil(2 ** 23 / endless.length));
      const chunks = await splitText(text, { most: 100 });
      expect(chunks).toHaveLength(101);
      expect(text.startsWith(chunks[0] ?? '-')).toBe(true);
    }
  });

  test('yields to other tasks, and stops at the requested number', async () => {
    const book = 'One sentence of a long book. '.repeat(50_000);
    let turns = 0;
    let isDone = false;
    const cutting = splitText(book).then((chunks) => {
      isDone = true;
      return chunks.length;
    });
    while (!isDone) {
      await turn();
      turns += 1;
    }
    expect(turns).toBeGreaterThanOrEqual(Math.floor((await cutting) / 100));
    expect(await splitText(book, { most: 7 })).toHaveLength(8);
    const stopping = AbortSignal.abort(new Error('enough'));
    await expect(splitText(book, { signal: stopping })).rejects.toThrow('enough');
  });

  test('estimates about as many tokens as models count', () => {
    expect(countTokens('four')).toBe(1);
    expect(countTokens('Größe')).toBe(2);
    expect(countTokens('东京')).toBe(2);
    expect(CHUNK_LIMITS.overlap).toBeLessThan(CHUNK_LIMITS.tokens / 2);
  });
});

describe('plain text of a file', () => {
  const read = (text: string | Uint8Array, mimeType: string, name = 'a') =>
    plainTextExtractor.extract(typeof text === 'string' ? Buffer.from(text) : text, { mimeType, name });

  test('is detected by type, and for a generic type by name', () => {
    const reads = (mimeType: string, name = 'a') => plainTextExtractor.reads({ mimeType, name });
    expect([
      reads('text/plain'),
      reads('text/markdown'),
      reads('text/csv'),
      reads('application/json'),
    ]).toEqual(new Array(4).fill(true));
    expect([reads('application/octet-stream', 'a.MD'), reads('application/octet-stream', 'md')]).toEqual([
      true,
      false,
    ]);
    expect([reads('image/png', 'a.txt'), reads('text/html')]).toEqual([false, false]);
  });

  test('has the tags of the Markdown front matter', async () => {
    for (const head of [
      'tags: [red, "dark blue"]',
      'tags: red, dark blue',
      'title: x\ntags:\n  - red\n  - dark blue',
    ]) {
      expect(await read(`---\n${head}\n---\n# Hello`, 'text/markdown')).toEqual({
        text: '# Hello',
        tags: ['red', 'dark blue'],
      });
    }
    expect(await read('# Hello\n---\ntags: a\n---', 'text/markdown')).toMatchObject({ tags: [] });
  });

  test('has a line for each value of JSON', async () => {
    const json = JSON.stringify({ name: 'Ada', born: { year: 1815 }, works: ['notes', null] });
    expect((await read(json, 'application/json')).text).toBe(
      'name: Ada\nborn.year: 1815\nworks.0: notes\nworks.1: null',
    );
    const wide = JSON.stringify(new Array(200_000).fill(1));
    expect((await read(wide, 'application/json')).text.slice(0, 9)).toBe('0: 1\n1: 1');
    expect((await read('{broken', 'application/json')).text).toBe('{broken');
    expect((await read('[]'.repeat(0) + '['.repeat(50_000), 'application/json')).text).toHaveLength(50_000);
  });

  test('is the original JSON if lines would be thousands of times its size', async () => {
    for (const json of [
      `[${'1,'.repeat(10_000_000)}1]`,
      JSON.stringify({ ['x'.repeat(10_000)]: new Array(100_000).fill(1) }),
      `${'{"a":'.repeat(50_000)}[${'1,'.repeat(50_000)}1]${'}'.repeat(50_000)}`,
    ]) {
      expect((await read(json, 'application/json')).text === json).toBe(true);
    }
  });

  test('is read in the encoding of its mark', async () => {
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('Größe', 'utf16le')]);
    expect((await read(utf16, 'text/plain')).text).toBe('Größe');
    expect((await read('\uFEFFGröße\r\nzwei\0', 'text/plain')).text).toBe('Größe\nzwei');
  });
});
