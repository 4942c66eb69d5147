import { describe, expect, it } from 'vitest';
import { openArchive } from '../src/zip.ts';
import { makeZip, type ZipOptions } from './make.ts';

const TEXTS = { first: 'The first part', größe: 'The second part, with other words', last: '' };

async function unpack(archive: Buffer, name: string, max = 1000): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of openArchive(archive, max).unpack(name)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** A copy of the archive with other bytes at the place of the last such text. */
function change(archive: Buffer, text: string, replacement: string): Buffer {
  const copy = Buffer.from(archive);
  copy.write(replacement, copy.lastIndexOf(text, undefined, 'latin1'), 'latin1');
  return copy;
}

describe('ZIP archive', () => {
  it.each<[string, ZipOptions]>([
    ['are stored', {}],
    ['are compressed', { method: 8 }],
    ['have extra fields and comments', { method: 8, hasExtras: true }],
    ['declare another size', { method: 8, claimedSize: 1 }],
  ])('has parts that %s', async (_, options) => {
    const archive = makeZip(TEXTS, options);
    for (const [name, text] of Object.entries(TEXTS)) expect(await unpack(archive, name)).toBe(text);
    const { has } = openArchive(archive, 0);
    expect([has('first'), has('größe'), has('last'), has('none')]).toEqual([true, true, true, false]);
  });

  it('has no parts when it is empty', () => {
    expect(openArchive(makeZip({}), 0).has('')).toBe(false);
  });

  it('may end with a comment of 65,535 bytes', async () => {
    const end = (bytes: number) => Buffer.concat([makeZip(TEXTS), Buffer.alloc(bytes)]);
    expect(await unpack(end(65_535), 'first')).toBe(TEXTS.first);
    expect(() => openArchive(end(65_536), 0)).toThrow('not a ZIP archive');
  });

  it('may unpack to so many bytes as its limit, over all parts', async () => {
    const archive = makeZip({ a: 'abc', b: 'de' });
    const unpackAll = async (max: number) => {
      const { unpack: open } = openArchive(archive, max);
      for (const name of ['a', 'b'])
        for await (const piece of open(name)) expect(piece.length).toBeGreaterThan(1);
    };
    await unpackAll(5);
    await expect(unpackAll(4)).rejects.toMatchObject({ name: 'ExcessError', excess: 'decoded' });
  });

  it('may have 20,000 parts', () => {
    const make = (count: number) =>
      makeZip(Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}`, ''])));
    expect(openArchive(make(20_000), 0).has('19999')).toBe(true);
    expect(() => openArchive(make(20_001), 0)).toThrow(expect.objectContaining({ excess: 'decoded' }));
  });

  it('is refused when it is broken', async () => {
    const archive = makeZip(TEXTS);
    expect(() => openArchive(Buffer.from('PK'), 0)).toThrow('not a ZIP archive');
    expect(() => openArchive(change(archive, 'PK\u0005\u0006', 'PK\u0005\u0007'), 0)).toThrow(
      'not a ZIP archive',
    );
    expect(() => openArchive(change(archive, 'PK\u0001\u0002', 'PK\u0001\u0003'), 0)).toThrow(
      'a broken directory',
    );
    await expect(unpack(archive, 'none')).rejects.toThrow('the archive has no part none');
    await expect(unpack(makeZip(TEXTS, { method: 9 }), 'first')).rejects.toThrow('packed in an unknown way');
    const cut = makeZip({ a: Buffer.from('ff', 'hex') }, { method: 8 });
    await expect(unpack(change(cut, 'PK\u0003\u0004', 'PK\u0003\u0004\u0000'), 'a')).resolves.toBe('\ufffd');
  });
});
