import { expect, it } from 'vitest';
import { createS3Objects } from '../src/index.ts';
import { OPTIONS, storeWith, stubService } from './service.ts';

const TEXT = { contentType: 'text/plain' };

async function* stream(...chunks: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

it('writes bytes with one request', async () => {
  const { objects, received } = storeWith(200, '', { etag: '"e1"' });
  expect(await objects.put('a/b', Buffer.from('abc'), { ...TEXT, size: 3 })).toEqual({
    key: 'a/b',
    size: 3,
    contentType: 'text/plain',
    etag: 'e1',
  });
  expect(received.map(({ method, url, body }) => [method, url.href, body.toString()])).toEqual([
    ['PUT', 'https://s3.example.com/things/here/a/b', 'abc'],
  ]);
  expect(received[0]?.headers.get('content-type')).toBe('text/plain');
});

it.each([
  ['small', ['ab', '', 'c'], 'abc'],
  ['empty', [], ''],
])('writes a %s stream with one request', async (_, chunks, text) => {
  const { objects, received } = storeWith(200, '', { etag: '"e1"' });
  const info = await objects.put('a', stream(...chunks), TEXT);
  expect(info).toEqual({ key: 'a', size: text.length, contentType: 'text/plain', etag: 'e1' });
  expect(received.map(({ method, body }) => [method, body.toString()])).toEqual([['PUT', text]]);
  expect(received[0]?.headers.get('content-type')).toBe('text/plain');
});

it.each(['', '/a', 'a/', 'a//b', 'A', 'a.b', '../a', 'a?b', 'a\n'])(
  'refuses the key %j without a request',
  async (key) => {
    const { objects, received } = storeWith(200);
    await expect(objects.put(key, new Uint8Array(1), TEXT)).rejects.toThrow(
      new TypeError('an object key of another form'),
    );
    expect(received).toEqual([]);
  },
);

it.each([2, 4])('refuses three bytes that were announced as %s', async (size) => {
  const { objects, received } = storeWith(200);
  const error = new RangeError(`the object has 3 bytes or more, not ${size}`);
  await expect(objects.put('a', Buffer.from('abc'), { ...TEXT, size })).rejects.toThrow(error);
  await expect(objects.put('a', stream('ab', 'c'), { ...TEXT, size })).rejects.toThrow(error);
  expect(received).toEqual([]);
});

it('takes a stream of the announced size', async () => {
  const { objects } = storeWith(200);
  expect(await objects.put('a', stream('ab', 'c'), { ...TEXT, size: 3 })).toMatchObject({ size: 3 });
});

it('stops reading a stream at the first byte that is too much', async () => {
  const { objects } = storeWith(200);
  let read = 0;
  let isClosed = false;
  async function* body() {
    try {
      for (; read < 9; read += 1) yield Buffer.from('ab');
    } finally {
      isClosed = true;
    }
  }
  await expect(objects.put('a', body(), { ...TEXT, size: 3 })).rejects.toThrow(RangeError);
  expect([read, isClosed]).toEqual([1, true]);
});

it('sends nothing for a caller who has left', async () => {
  const { objects, received } = storeWith(200);
  const signal = AbortSignal.abort(new Error('left'));
  await expect(objects.put('a', new Uint8Array(1), TEXT, { signal })).rejects.toThrow('left');
  let isRead = false;
  async function* body() {
    isRead = true;
    yield Buffer.from('ab');
  }
  await expect(objects.put('a', body(), TEXT, { signal })).rejects.toThrow('left');
  expect([received, isRead]).toEqual([[], false]);
});

it.each(['before its last bytes', 'at its end'])('sends nothing when the caller leaves %s', async (when) => {
  const { objects, received } = storeWith(200);
  const leaving = new AbortController();
  let isReadOn = false;
  async function* body() {
    yield Buffer.from('ab');
    leaving.abort(new Error('left'));
    if (when === 'at its end') return;
    yield Buffer.from('cd');
    isReadOn = true;
  }
  await expect(objects.put('a', body(), TEXT, { signal: leaving.signal })).rejects.toThrow('left');
  expect([received, isReadOn]).toEqual([[], false]);
});

it.each(['bytes', 'a stream'])('gives the request for %s the signal of the caller', async (kind) => {
  const leaving = new AbortController();
  stubService(({ signal }) => {
    leaving.abort(new Error('left'));
    return signal?.aborted === true ? Promise.reject(signal.reason) : new Response('');
  });
  const body = kind === 'bytes' ? Buffer.from('ab') : stream('ab');
  const put = createS3Objects(OPTIONS).put('a', body, TEXT, { signal: leaving.signal });
  await expect(put).rejects.toThrow('left');
});
