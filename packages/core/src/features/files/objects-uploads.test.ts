import { Readable } from 'node:stream';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { settle } from '../../../test/delayed.ts';
import { createMemoryObjects } from '../../memory/objects.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { ObjectStore } from '../../ports/objects.ts';
import { badLink, checkLength, takeUpload } from './objects-uploads.ts';

const TERMS = { key: 'uploads/1', contentType: 'text/plain', size: 5 };

function setUp(change: Partial<ObjectStore> = {}) {
  const objects = createMemoryObjects();
  const clock = createFakeClock();
  const arrived: string[] = [];
  const watch = { prefix: 'uploads', isOpen: async () => true };
  const transfers = createMemoryStore();
  const take = async (
    body: AsyncIterable<Uint8Array>,
    { terms = TERMS, isOpen = watch.isOpen, signal = new AbortController().signal } = {},
  ) => {
    const watches = [
      {
        ...watch,
        isOpen,
        arrived: async (key: string) => {
          await settle();
          arrived.push(key);
        },
      },
    ];
    const services = { store: transfers, clock, ids: createFakeIds(), uploadWatches: watches };
    await takeUpload({ ...services, objects: { ...objects, ...change } }, terms, body, signal);
  };
  return { objects, arrived, take };
}

async function* send(...parts: readonly string[]) {
  for (const part of parts) yield Buffer.from(part);
}

/** An object store that reads a body to its end and fails in a way of its own. */
const failing: Partial<ObjectStore> = {
  async put(_key, body) {
    try {
      for await (const _part of body as AsyncIterable<Uint8Array>);
    } catch {
      // It says so below.
    }
    throw new Error('the disk is full');
  },
};

describe('an upload', () => {
  it('is stored in pieces and reported', async () => {
    const { objects, arrived, take } = setUp();
    await take(send('he', 'llo'));
    expect(await objects.head('uploads/1')).toMatchObject({ size: 5, contentType: 'text/plain' });
    expect(arrived).toEqual(['uploads/1']);
  });

  it.each([
    [413, ['hello', '!'], { maxSize: 5 }],
    [400, ['hell'], undefined],
  ] as const)('is refused with %i for %j', async (status, parts, extra) => {
    const { objects, arrived, take } = setUp();
    await expect(take(send(...parts))).rejects.toMatchObject({ status, ...(extra && { extra }) });
    expect(await objects.head('uploads/1')).toBeUndefined();
    expect(arrived).toEqual([]);
  });

  it('is refused if its body breaks off', async () => {
    const { take } = setUp();
    async function* broken() {
      yield Buffer.from('he');
      throw new Error('the sender left');
    }
    await expect(take(broken())).rejects.toMatchObject({
      ...{ status: 400, message: 'the body could not be read to its end' },
      cause: new Error('the sender left'),
    });
  });

  it('fails for its body before it fails for the store', async () => {
    const { take } = setUp(failing);
    await expect(take(send('hello!'))).rejects.toMatchObject({ status: 413 });
    const error = await take(send('hello')).catch((given: unknown) => given);
    expect(error).toEqual(new Error('the disk is full'));
  });

  it('is refused at a closed address before its body is read', async () => {
    const { take } = setUp();
    let isRead = false;
    async function* watched() {
      isRead = true;
      yield Buffer.from('hello');
    }
    await expect(take(watched(), { isOpen: async () => false })).rejects.toMatchObject({ status: 403 });
    const inProgress = take(Readable.from([]), { isOpen: async () => true });
    inProgress.catch(() => undefined);
    await expect(take(watched(), { isOpen: async () => false })).rejects.toMatchObject({ status: 403 });
    await expect(inProgress).rejects.toMatchObject({ status: 400 });
    const answers = [true, false];
    const isOpen = async () => answers.shift() === true;
    await expect(take(watched(), { isOpen })).rejects.toMatchObject({ status: 403 });
    expect(isRead).toBe(false);
  });

  it('to an address that no feature watches is stored', async () => {
    const { objects, arrived, take } = setUp();
    await take(send('hello'), { terms: { ...TERMS, key: 'uploads2/1' }, isOpen: async () => false });
    expect(await objects.head('uploads2/1')).toMatchObject({ size: 5 });
    expect(arrived).toEqual([]);
  });

  it('has its size and type in the store', async () => {
    const given: unknown[] = [];
    const { take } = setUp({
      async put(key, _body, about) {
        given.push(key, about);
        return { key, size: 5, contentType: '', etag: '' };
      },
    });
    await take(send('hello'));
    expect(given).toEqual(['uploads/1', { contentType: 'text/plain', size: 5 }]);
  });

  it('ends with its signal', async () => {
    const { objects, take } = setUp();
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(take(send('hello'), { signal })).rejects.toThrow();
    expect(await objects.head('uploads/1')).toBeUndefined();
  });
});

it('checks a length that is sent ahead', () => {
  const check = (headers: Record<string, string>) => checkLength({ headers } as never, 5);
  expect(check({})).toBeUndefined();
  expect(check({ 'content-length': '5' })).toBeUndefined();
  expect(() => check({ 'content-length': '6' })).toThrow(
    expect.objectContaining({ status: 413, extra: { maxSize: 5 } }),
  );
  expect(() => check({ 'content-length': '4' })).toThrow(expect.objectContaining({ status: 400 }));
});

it('says the same of links that are invalid, expired and used', () => {
  expect(badLink()).toMatchObject({
    ...{ status: 403, message: 'This link is invalid, has expired or was already used' },
  });
});
