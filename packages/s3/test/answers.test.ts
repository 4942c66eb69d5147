import { isStorageUnavailable, type ObjectStore } from '@questline/core/ports';
import { expect, it } from 'vitest';
import { createS3Objects } from '../src/index.ts';
import { OPTIONS, stubService } from './service.ts';

const CALLS: readonly [name: string, status: number, call: (objects: ObjectStore) => Promise<unknown>][] = [
  ['a put', 200, (objects) => objects.put('a', new Uint8Array(1), { contentType: 'text/plain' })],
  ['a get without an object', 404, (objects) => objects.get('a')],
  ['a get behind the end', 416, (objects) => objects.get('a', { start: 7, end: 9 }).catch(() => undefined)],
  ['a removal', 200, (objects) => objects.remove('a')],
];

it.each(CALLS)(
  'reads the answer of %s to its end, so that its connection is free',
  async (_, status, call) => {
    const answer = new Response('text', { status });
    stubService(() => answer);
    await call(createS3Objects(OPTIONS));
    expect(answer.bodyUsed).toBe(true);
  },
);

it.each(CALLS.filter(([name]) => name !== 'a get behind the end'))(
  'is unavailable when the answer of %s breaks off',
  async (_, status, call) => {
    const body = new ReadableStream({ start: (stream) => stream.error(new Error('reset')) });
    stubService(() => new Response(body, { status }));
    const error = await call(createS3Objects(OPTIONS)).catch((reason: unknown) => reason);
    expect(isStorageUnavailable(error)).toBe(true);
    expect(error).toMatchObject({
      message: 'the object store broke off its answer',
      cause: { message: 'reset' },
    });
  },
);

it('is unavailable when the bytes of an object break off', async () => {
  let pulls = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(stream) {
      pulls += 1;
      if (pulls === 1) stream.enqueue(Buffer.from('be'));
      else stream.error(new Error('reset'));
    },
  });
  stubService(() => new Response(body, { headers: { 'content-length': '4' } }));
  const object = await createS3Objects(OPTIONS).get('a');
  const read: string[] = [];
  const reading = async () => {
    for await (const chunk of object?.body ?? []) read.push(Buffer.from(chunk).toString());
  };
  await expect(reading()).rejects.toMatchObject({ message: 'the object store broke off its answer' });
  expect(read).toEqual(['be']);
});

it('ends the answer of an object that is not read to its end', async () => {
  const cancelled: unknown[] = [];
  const body = new ReadableStream<Uint8Array>({
    pull: (stream) => stream.enqueue(Buffer.from('be')),
    cancel: (reason) => void cancelled.push(reason),
  });
  stubService(() => new Response(body));
  const object = await createS3Objects(OPTIONS).get('a');
  for await (const _ of object?.body ?? []) break;
  expect(cancelled).toHaveLength(1);
});
