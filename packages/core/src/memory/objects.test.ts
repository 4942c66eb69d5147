import { expect, it } from 'vitest';
import { assertObjectKey, createMemoryObjects } from './objects.ts';

const TYPE = { contentType: 'text/plain' };
const toBytes = (length: number) => new Uint8Array(length).map((_, at) => at % 251);

async function read(body: AsyncIterable<Uint8Array>) {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return { lengths: parts.map(({ length }) => length), bytes: Buffer.concat(parts) };
}

async function* inParts(...parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

it('keeps the bytes of a body in parts, with their size, type and a tag of their content', async () => {
  const objects = createMemoryObjects();
  const whole = toBytes(300);
  const info = await objects.put('a/b', inParts(whole.subarray(0, 100), whole.subarray(100)), TYPE);
  expect(info).toEqual({ key: 'a/b', size: 300, contentType: 'text/plain', etag: expect.any(String) });
  expect(info.etag).toMatch(/^[0-9a-f]{32}$/);
  expect(await objects.head('a/b')).toEqual(info);
  const { body, ...found } = (await objects.get('a/b')) ?? { body: inParts() };
  expect([found, (await read(body)).bytes.equals(whole)]).toEqual([info, true]);
  expect((await objects.put('other', whole, TYPE)).etag).toBe(info.etag);
  expect((await objects.put('other', toBytes(299), TYPE)).etag).not.toBe(info.etag);
});

it('keeps a copy of the bytes', async () => {
  const objects = createMemoryObjects();
  const given = toBytes(3);
  await objects.put('a', given, TYPE);
  given.fill(9);
  const first = await read((await objects.get('a'))?.body ?? inParts());
  first.bytes.fill(9);
  expect([...(await read((await objects.get('a'))?.body ?? inParts())).bytes]).toEqual([0, 1, 2]);
});

it('reads ranges, in parts of 64 KiB', async () => {
  const objects = createMemoryObjects();
  const whole = toBytes(150_000);
  await objects.put('a', whole, TYPE);
  const range = async (start: number, end: number) =>
    read((await objects.get('a', { start, end }))?.body ?? inParts());
  expect((await range(0, 149_999)).lengths).toEqual([65_536, 65_536, 18_928]);
  expect((await range(5, 7)).bytes.equals(whole.subarray(5, 8))).toBe(true);
  expect((await range(149_999, 200_000)).bytes.equals(whole.subarray(149_999))).toBe(true);
  expect((await range(3, 3)).lengths).toEqual([1]);
  for (const [start, end] of [
    [-1, 2],
    [150_000, 150_001],
    [5, 4],
  ] as const)
    await expect(objects.get('a', { start, end })).rejects.toThrow(RangeError);
});

it('has no object that was not stored, or is removed', async () => {
  const objects = createMemoryObjects();
  await objects.put('empty', toBytes(0), TYPE);
  expect((await read((await objects.get('empty'))?.body ?? inParts(toBytes(1)))).lengths).toEqual([]);
  await objects.remove('empty');
  await objects.remove('none');
  expect([await objects.get('empty'), await objects.head('empty'), await objects.get('none')]).toEqual(
    Array(3).fill(undefined),
  );
});

it('stores nothing of a body whose size differs from the declared one', async () => {
  const objects = createMemoryObjects();
  await objects.put('fits', inParts(toBytes(2), toBytes(1)), { ...TYPE, size: 3 });
  await expect(objects.put('a', toBytes(2), { ...TYPE, size: 3 })).rejects.toThrow(
    'the object has 2 bytes or more, not 3',
  );
  let reads = 0;
  const endless = async function* () {
    for (; reads < 100; reads += 1) yield toBytes(2);
  };
  await expect(objects.put('a', endless(), { ...TYPE, size: 3 })).rejects.toThrow(RangeError);
  expect([reads, (await objects.head('fits'))?.size, await objects.head('a')]).toEqual([1, 3, undefined]);
});

it.each(['a', 'a/b', '0_-z/9'])('takes the key %j', (key) => {
  expect(() => assertObjectKey(key)).not.toThrow();
});

it.each(['', '/a', 'a/', 'a//b', '../a', 'A', 'a b', 'a\n'])('refuses the key %j', async (key) => {
  expect(() => assertObjectKey(key)).toThrow(TypeError);
  await expect(createMemoryObjects().put(key, toBytes(1), TYPE)).rejects.toThrow(TypeError);
});

it('does nothing for a signal that is aborted, also while a body is read', async () => {
  const objects = createMemoryObjects();
  await objects.put('a', toBytes(1), TYPE);
  const options = { signal: AbortSignal.abort(new Error('left')) };
  for (const call of [
    objects.put('b', toBytes(1), TYPE, options),
    objects.get('a', undefined, options),
    objects.head('a', options),
    objects.remove('a', options),
  ])
    await expect(call).rejects.toThrow('left');
  let isRead = false;
  const unread = async function* () {
    isRead = true;
    yield toBytes(1);
  };
  await expect(objects.put('b', unread(), TYPE, options)).rejects.toThrow('left');
  expect([isRead, (await objects.head('a'))?.size, await objects.head('b')]).toEqual([false, 1, undefined]);
  for (const parts of [1, 2]) {
    const leaving = new AbortController();
    let given = 0;
    const body = async function* () {
      for (; given < 5; given += 1) {
        if (given === parts) leaving.abort(new Error('left'));
        yield toBytes(1);
      }
    };
    await expect(objects.put('b', body(), TYPE, { signal: leaving.signal })).rejects.toThrow('left');
    expect([given, await objects.head('b')]).toEqual([parts, undefined]);
  }
  const last = new AbortController();
  const ending = async function* () {
    yield toBytes(1);
    last.abort(new Error('left'));
  };
  await expect(objects.put('b', ending(), TYPE, { signal: last.signal })).rejects.toThrow('left');
});
