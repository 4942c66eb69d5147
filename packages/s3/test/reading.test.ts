import type { ObjectContent } from '@questline/core/ports';
import { expect, it } from 'vitest';
import { createS3Objects } from '../src/index.ts';
import { OPTIONS, storeWith, stubService } from './service.ts';

const HEADERS = { 'content-length': '6', 'content-type': 'text/plain', etag: 'W/"abc"' };
const INFO = { key: 'a/b', size: 6, contentType: 'text/plain', etag: 'abc' };

async function read(content: ObjectContent | undefined): Promise<string> {
  let text = '';
  for await (const part of content?.body ?? []) text += Buffer.from(part).toString();
  return text;
}

it('reads a whole object with its type, size and tag', async () => {
  const { objects, received } = storeWith(200, 'abcdef', HEADERS);
  const content = await objects.get('a/b');
  expect(content).toMatchObject(INFO);
  expect(await read(content)).toBe('abcdef');
  expect(received.map(({ method, url }) => [method, url.href])).toEqual([
    ['GET', 'https://s3.example.com/things/here/a/b'],
  ]);
  expect(received[0]?.headers.get('range')).toBeNull();
});

it.each([
  { start: 0, end: 0 },
  { start: 2, end: 3 },
])('requests the bytes $start to $end and gives the size of the whole object', async (range) => {
  const { objects, received } = storeWith(206, 'cd', {
    ...HEADERS,
    'content-length': '2',
    'content-range': 'bytes 2-3/12',
  });
  const content = await objects.get('a/b', range);
  expect(content?.size).toBe(12);
  expect(await read(content)).toBe('cd');
  expect(received[0]?.headers.get('range')).toBe(`bytes=${range.start}-${range.end}`);
});

it.each([
  { start: -1, end: 3 },
  { start: 3, end: 2 },
])('refuses the range $start to $end without a request', async (range) => {
  const { objects, received } = storeWith(200, 'abcdef', HEADERS);
  await expect(objects.get('a', range)).rejects.toThrow(new RangeError(`bytes ${range.start}-${range.end}`));
  expect(received).toEqual([]);
});

it('refuses a range behind the end of the object', async () => {
  const { objects } = storeWith(416, '<Code>InvalidRange</Code>');
  await expect(objects.get('a', { start: 7, end: 9 })).rejects.toThrow(new RangeError('bytes 7-9'));
});

it('finds no object where the service has none', async () => {
  const { objects } = storeWith(404, '<Code>NoSuchKey</Code>');
  expect(await objects.get('a')).toBeUndefined();
  expect(await objects.head('a')).toBeUndefined();
  await objects.remove('a');
});

it('describes an object without its bytes', async () => {
  const { objects, received } = storeWith(200, null, HEADERS);
  expect(await objects.head('a/b')).toEqual(INFO);
  expect(received.map(({ method }) => method)).toEqual(['HEAD']);
});

it('describes an object without a type or tag as bytes', async () => {
  const { objects } = storeWith(200, null, { 'content-length': '0' });
  const content = await objects.get('a');
  expect(content).toMatchObject({ size: 0, contentType: 'application/octet-stream', etag: '' });
  expect(await read(content)).toBe('');
});

it('removes an object', async () => {
  const { objects, received } = storeWith(204);
  await objects.remove('a/b');
  expect(received.map(({ method, url }) => [method, url.pathname])).toEqual([['DELETE', '/things/here/a/b']]);
});

it.each(['get', 'head', 'remove'] as const)('gives %s the signal of the caller', async (name) => {
  const leaving = new AbortController();
  const { signal } = leaving;
  stubService(({ signal: given }) => {
    leaving.abort(new Error('left'));
    return given?.aborted === true ? Promise.reject(given.reason) : new Response('');
  });
  const objects = createS3Objects(OPTIONS);
  const call = name === 'get' ? objects.get('a', undefined, { signal }) : objects[name]('a', { signal });
  await expect(call).rejects.toThrow('left');
});
