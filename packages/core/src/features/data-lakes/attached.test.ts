import { describe, expect, it } from 'vitest';
import { makeFile, toId } from '../../../test/lakes.ts';
import type { DocumentReader, ReadOutcome } from '../files/documents.ts';
import type { FileLibrary } from '../files/library.ts';
import type { FileRecord } from '../files/records.ts';
import { createAttachedReader } from './attached.ts';

const ID = toId(1);

/** Files by their number, with their texts. */
function setUp(texts: Readonly<Record<number, string | ReadOutcome>>) {
  const outcomes: Record<string, string | ReadOutcome> = {};
  for (const [number, text] of Object.entries(texts)) outcomes[toId(Number(number))] = text;
  const calls: unknown[] = [];
  const library = {
    async getAll(userId, ids) {
      calls.push(['all', userId, ids.length]);
      const known = ids.filter((id) => outcomes[id] !== undefined);
      return new Map(known.map((id) => [id, makeFile({ id, name: `${Number(id)}.txt` })]));
    },
    async readFound(file: FileRecord, limit: number, options: unknown) {
      calls.push(['found', Number(file.id), limit, options]);
      return Buffer.from('');
    },
  } as Partial<FileLibrary> as FileLibrary;
  const documents: DocumentReader = {
    async read(file, load, options) {
      calls.push(['read', Number(file.id), options]);
      await load({});
      const outcome = outcomes[file.id] ?? '';
      return typeof outcome === 'string' ? { status: 'read', text: outcome } : outcome;
    },
    readBytes: async () => ({ status: 'unsupported' }),
  };
  const read = createAttachedReader({ library, documents });
  const reads = () => calls.filter((call) => (call as string[])[0] === 'read').length;
  return { outcomes, calls, read, reads };
}

/** A chunk of its own: one word, many times. */
const fill = (word: string) => `${`${word} `.repeat(300)}.\n`;

describe('the files of a session', () => {
  it('are read as the user, and only once', async () => {
    const { calls, read, reads } = setUp({ 1: 'one', 2: 'two' });
    const chosen = [
      { fileId: toId(2), fileName: '2.txt', place: 0, text: 'two' },
      { fileId: ID, fileName: '1.txt', place: 0, text: 'one' },
    ];
    expect(await read('ada', [toId(2), ID, toId(3), ID], 'one')).toEqual({ chosen, left: [] });
    expect(calls).toEqual([
      ['all', 'ada', 3],
      ['read', 2, { owner: 'ada' }],
      ['found', 2, 30 * 2 ** 20, {}],
      ['read', 1, { owner: 'ada' }],
      ['found', 1, 30 * 2 ** 20, {}],
    ]);
    expect((await read('ada', [ID], '')).chosen).toHaveLength(1);
    expect(reads()).toBe(2);
  });

  it('are at most 20', async () => {
    const { calls, read } = setUp({});
    await read(
      'ada',
      Array.from({ length: 21 }, (_, at) => toId(at)),
      '',
    );
    expect(calls).toEqual([['all', 'ada', 20]]);
  });

  it('are skipped if they have no text, and tried again if they were unavailable', async () => {
    const { outcomes, read, reads } = setUp({
      1: { status: 'unavailable', cause: 'x' },
      2: { status: 'gone' },
    });
    expect(await read('ada', [ID, toId(2)], '')).toEqual({ chosen: [], left: [] });
    outcomes[ID] = 'one';
    outcomes[toId(2)] = 'two';
    expect((await read('ada', [ID, toId(2)], '')).chosen.map(({ text }) => text)).toEqual(['one']);
    expect(reads()).toBe(3);
  });

  it('are cut to what fits, by the words of the question, in the order of the texts', async () => {
    const words = Array.from({ length: 30 }, (_, at) => `w${at}`);
    const { read } = setUp({ 1: words.map(fill).join(''), 2: fill('last') });
    const { chosen, left } = await read('ada', [ID, toId(2)], 'Last w29 w28?');
    const places = chosen.map(({ fileId, place }) => `${Number(fileId)}:${place}`);
    const last = places.at(-1);
    expect(last).toBe('2:0');
    expect(chosen.at(-2)?.text).toContain('w29');
    expect(chosen.at(-3)?.text).toContain('w28');
    expect(chosen[0]?.text).toContain('w0');
    expect(left.map(({ fileName }) => fileName)).toEqual(['1.txt']);
    const lines = left[0]?.text.split('\n') ?? [];
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.length + chosen.length).toBeGreaterThanOrEqual(31);
  });

  it('are cut without repetitions', async () => {
    const sentences = Array.from({ length: 150 }, (_, at) => `This is number ${at} of all.`);
    const { read } = setUp({ 1: sentences.join('\n') });
    const { chosen } = await read('ada', [ID], '');
    expect(chosen.length).toBeGreaterThan(1);
    expect(chosen.map(({ text }) => text).join('\n')).toBe(sentences.join('\n'));
  });

  it('are cut into chunks of at most 400 tokens', async () => {
    const line = (letter: string, tokens: number) => `${letter.repeat(4 * tokens - 2)}.\n`;
    const cut = async (...lines: readonly string[]) => {
      const { chosen } = await setUp({ 1: lines.join('') }).read('ada', [ID], '');
      return chosen.map(({ text }) => text.length);
    };
    expect(await cut(line('x', 200), line('y', 201))).toEqual([799, 803]);
    expect(await cut(line('x', 200), line('y', 200))).toEqual([1599]);
    expect(await cut(line('x', 399), line('y', 1), line('z', 399))).toEqual([1599, 1595]);
  });

  it('have 8,000 tokens in all', async () => {
    // One chunk of 400 tokens each.
    const chunk = (letter: string) => `${letter.repeat(1598)}.\n`;
    const { read } = setUp({ 1: [...'abcdefghijklmnopqrst'].map(chunk).join(''), 2: 'x' });
    const all = await read('ada', [ID], '');
    const count = all.chosen.length;
    expect([count, all.left]).toEqual([20, []]);
    const more = await read('ada', [ID, toId(2)], '');
    expect([more.chosen.length, more.left]).toEqual([20, [{ fileName: '2.txt', text: 'x' }]]);
  });
});
