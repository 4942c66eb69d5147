import { isStorageUnavailable } from '@questline/core/ports';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createS3Objects, lookAtBucket } from '../src/index.ts';
import { hangUntilAborted, OPTIONS, storeWith, stubService } from './service.ts';

beforeEach(() => {
  const random = vi.spyOn(Math, 'random').mockReturnValue(0);
  return () => random.mockRestore();
});

describe('a request that the service fails', () => {
  it.each([500, 503, 429])('is repeated twice after status %s', async (status) => {
    const received = stubService(
      (_, count) => new Response(count < 3 ? 'busy' : '', { status: count < 3 ? status : 200 }),
    );
    await createS3Objects(OPTIONS).put('a', Buffer.from('abc'), { contentType: 'text/plain' });
    expect(received.map(({ method, body }) => [method, body.toString()])).toEqual([
      ['PUT', 'abc'],
      ['PUT', 'abc'],
      ['PUT', 'abc'],
    ]);
  });

  it('is not repeated a third time', async () => {
    const { objects, received } = storeWith(503, '<Code>SlowDown</Code>');
    const error: unknown = await objects.get('a').catch((reason: unknown) => reason);
    expect(isStorageUnavailable(error)).toBe(true);
    expect(error).toMatchObject({
      message: 'the object store answered GET with 503 (SlowDown)',
      cause: { name: 'S3Failure', status: 503 },
    });
    expect(received).toHaveLength(3);
  });

  it.each([
    ['<Code>AccessDenied</Code>', 'the object store answered GET with 403 (AccessDenied)'],
    ['<Code>Access Denied</Code>', 'the object store answered GET with 403'],
    ['', 'the object store answered GET with 403'],
  ])('is not repeated when it is refused with %j', async (text, message) => {
    const { objects, received } = storeWith(403, text);
    const error: unknown = await objects.get('a').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'S3Failure', message, status: 403 });
    expect(received).toHaveLength(1);
  });

  it('has a reason even when the answer breaks off', async () => {
    const body = new ReadableStream({ start: (stream) => stream.error(new Error('reset')) });
    stubService(() => new Response(body, { status: 403 }));
    await expect(createS3Objects(OPTIONS).get('a')).rejects.toThrow('the object store answered GET with 403');
  });
});

describe('the time of a request', () => {
  it.each([
    ['20 seconds', undefined, 0, 20_000],
    ['the configured time', 5000, 0, 5000],
    ['a second more for each 100 KB', undefined, 1_000_000, 30_000],
  ])('is %s', async (_, timeoutMs, bytes, expected) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let arrive: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    stubService((request) => {
      arrive();
      return hangUntilAborted(request);
    });
    const objects = createS3Objects({ ...OPTIONS, ...(timeoutMs !== undefined && { timeoutMs }) });
    let ended: unknown;
    const put = objects.put('a', new Uint8Array(bytes), { contentType: 'text/plain' }).catch((error) => {
      ended = error;
    });
    await arrived;
    await vi.advanceTimersByTimeAsync(expected - 1);
    expect(ended).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    await put;
    expect(isStorageUnavailable(ended)).toBe(true);
    expect(ended).toMatchObject({ message: 'the object store did not answer in time' });
  });

  it('ends with the answer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await storeWith(404).objects.head('a');
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 3_600_001])('is not %s ms', (timeoutMs) => {
    expect(() => createS3Objects({ ...OPTIONS, timeoutMs })).toThrow(
      new RangeError(`timeoutMs: expected 1 to 3600000 milliseconds, got ${timeoutMs}`),
    );
  });

  it.each([1, 3_600_000])('may be %s ms', (timeoutMs) => {
    expect(() => createS3Objects({ ...OPTIONS, timeoutMs })).not.toThrow();
  });
});

it('says that a service which cannot be reached is unreachable', async () => {
  const cause = new TypeError('fetch failed');
  stubService(() => Promise.reject(cause));
  const error: unknown = await createS3Objects(OPTIONS)
    .head('a')
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ message: 'the object store is unreachable', cause });
});

it('sends nothing for a caller who has left', async () => {
  const { objects, received } = storeWith(200);
  await expect(objects.head('a', { signal: AbortSignal.abort(new Error('left')) })).rejects.toThrow('left');
  expect(received).toEqual([]);
});

describe('lookAtBucket', () => {
  it.each([
    [200, 'there'],
    [301, 'elsewhere'],
    [307, 'elsewhere'],
    [400, 'elsewhere'],
    [401, 'refused'],
    [403, 'refused'],
    [404, 'missing'],
  ])('takes status %s of the bucket itself as %s', async (status, state) => {
    const { received } = storeWith(status);
    expect(await lookAtBucket(OPTIONS)).toBe(state);
    expect(received.map(({ method, url }) => [method, url.href])).toEqual([
      ['HEAD', 'https://s3.example.com/things/'],
    ]);
  });

  it('rejects an answer of another kind', async () => {
    storeWith(418);
    await expect(lookAtBucket(OPTIONS)).rejects.toThrow('the object store answered HEAD with 418');
  });

  it('stops when the caller leaves', async () => {
    const leaving = new AbortController();
    stubService((request) => {
      leaving.abort(new Error('left'));
      return request.signal?.aborted === true ? hangUntilAborted(request) : new Response('');
    });
    await expect(lookAtBucket(OPTIONS, { signal: leaving.signal })).rejects.toThrow('left');
  });
});
