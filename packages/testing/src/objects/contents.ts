import { expect } from 'vitest';
import { about, getPieces, type ObjectsCase, read, readContent, toBytes } from './subject.ts';

const KEY = 'files/0123456789abcdef01234567';

export const contentCases: readonly ObjectsCase[] = [
  {
    name: 'returns an object as it was put',
    section: 'behaviour',
    async run({ objects }) {
      const bytes = toBytes(1000);
      const put = await objects.put(KEY, bytes, { contentType: 'image/png' });
      expect(put).toMatchObject({ key: KEY, size: 1000, contentType: 'image/png' });
      expect(put.etag).not.toBe('');
      expect(await objects.head(KEY)).toEqual(put);
      const content = await objects.get(KEY);
      expect(content).toMatchObject(put);
      expect(await readContent(content)).toEqual(bytes);
    },
  },
  {
    name: 'accepts a body in chunks, with or without its size',
    section: 'behaviour',
    async run({ objects }) {
      const bytes = toBytes(300_000);
      const put = await objects.put(KEY, getPieces(bytes, 70_001), { ...about, size: bytes.length });
      expect(put.size).toBe(300_000);
      expect(Buffer.from((await read(objects, KEY)) ?? []).equals(bytes)).toBe(true);
      const other = toBytes(1234, 9);
      await objects.put(`${KEY}/other`, getPieces(other, 100), about);
      expect(await read(objects, `${KEY}/other`)).toEqual(other);
    },
  },
  {
    name: 'accepts an empty object',
    section: 'behaviour',
    async run({ objects }) {
      await objects.put(KEY, new Uint8Array(0), about);
      expect(await objects.head(KEY)).toMatchObject({ size: 0 });
      expect(await read(objects, KEY)).toEqual(new Uint8Array(0));
    },
  },
  {
    name: 'returns undefined for an unknown key and removes it without an error',
    section: 'behaviour',
    async run({ objects }) {
      expect(await objects.get(KEY)).toBeUndefined();
      expect(await objects.get(KEY, { start: 0, end: 1 })).toBeUndefined();
      expect(await objects.head(KEY)).toBeUndefined();
      await objects.remove(KEY);
    },
  },
  {
    name: 'does not return a removed object',
    section: 'behaviour',
    async run({ objects }) {
      await objects.put(KEY, toBytes(10), about);
      await objects.put(`${KEY}1`, toBytes(10), about);
      await objects.remove(KEY);
      expect(await objects.get(KEY)).toBeUndefined();
      expect(await objects.head(KEY)).toBeUndefined();
      expect(await objects.head(`${KEY}1`)).toBeDefined();
    },
  },
  {
    name: 'replaces the object and its etag on a second put',
    section: 'behaviour',
    async run({ objects }) {
      const first = await objects.put(KEY, toBytes(500), about);
      const second = await objects.put(KEY, toBytes(500, 1), { contentType: 'text/plain' });
      expect(second.etag).not.toBe(first.etag);
      expect(await objects.head(KEY)).toEqual(second);
      expect(await read(objects, KEY)).toEqual(toBytes(500, 1));
      const third = await objects.put(KEY, toBytes(20), about);
      expect(third.size).toBe(20);
      expect(await read(objects, KEY)).toEqual(toBytes(20));
    },
  },
  {
    name: 'reads a range with both ends, at most to the end of the object',
    section: 'behaviour',
    async run({ objects }) {
      const bytes = toBytes(200_000);
      await objects.put(KEY, bytes, about);
      for (const [start, end] of [
        [0, 0],
        [0, 9],
        [10, 19],
        [65_530, 140_000],
        [199_999, 199_999],
        [199_990, 500_000],
        [0, 199_999],
      ] as const) {
        const content = await objects.get(KEY, { start, end });
        expect(content).toMatchObject({ key: KEY, size: 200_000, contentType: about.contentType });
        expect(Buffer.from((await readContent(content)) ?? []).equals(bytes.subarray(start, end + 1))).toBe(
          true,
        );
      }
    },
  },
  {
    name: 'rejects a range that starts behind the object',
    section: 'behaviour',
    async run({ objects }) {
      await objects.put(KEY, toBytes(10), about);
      await expect(objects.get(KEY, { start: 10, end: 20 })).rejects.toThrow(RangeError);
      await expect(objects.get(KEY, { start: 99, end: 100 })).rejects.toThrow(RangeError);
    },
  },
  {
    name: 'keeps an object when the caller changes bytes passed in or out',
    section: 'behaviour',
    async run({ objects }) {
      const bytes = toBytes(100);
      await objects.put(KEY, bytes, about);
      bytes.fill(0);
      for await (const part of (await objects.get(KEY))?.body ?? []) part.fill(0);
      expect(await read(objects, KEY)).toEqual(toBytes(100));
    },
  },
  {
    name: 'keeps the old object when a body fails or has another size',
    section: 'behaviour',
    async run({ objects }) {
      const old = await objects.put(KEY, toBytes(100), about);
      const failing = async function* () {
        yield toBytes(70_000);
        throw new Error('the uploader left');
      };
      await expect(objects.put(KEY, failing(), about)).rejects.toThrow();
      await expect(objects.put(KEY, failing(), { ...about, size: 100_000 })).rejects.toThrow();
      for (const size of [49, 51]) {
        await expect(objects.put(KEY, toBytes(50), { ...about, size })).rejects.toThrow();
        await expect(objects.put(KEY, getPieces(toBytes(50), 7), { ...about, size })).rejects.toThrow();
      }
      await expect(objects.put('new', getPieces(toBytes(50), 7), { ...about, size: 51 })).rejects.toThrow();
      expect(await objects.head(KEY)).toEqual(old);
      expect(await read(objects, KEY)).toEqual(toBytes(100));
      expect(await objects.head('new')).toBeUndefined();
    },
  },
  {
    name: 'accepts only keys in its format',
    section: 'behaviour',
    async run({ objects }) {
      const odd = [
        '',
        '/',
        '/a',
        'a/',
        'a//b',
        '../a',
        'a/../b',
        '..',
        '.',
        'a.b',
        'A',
        'a b',
        'a\\b',
        'a\u0000',
        '\u00e9',
      ];
      for (const key of odd) await expect(objects.put(key, toBytes(1), about), key).rejects.toThrow();
      for (const key of ['a', 'a-b_c/0', 'x/y/z']) {
        await objects.put(key, toBytes(1), about);
        expect(await objects.head(key)).toBeDefined();
      }
    },
  },
];
