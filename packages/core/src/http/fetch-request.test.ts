import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { FetchInfo } from './fetch.ts';
import { FetchRequest } from './fetch-request.ts';

function create(init: RequestInit = {}, info: FetchInfo = {}, target = '/a?b=1') {
  const request = new Request('http://host/ai/a?b=1', init);
  return { request, asked: new FetchRequest(request, target, '/ai', info) };
}

/** A body of chunks, which notes how much of it is read. */
function createBody(chunks: readonly string[]) {
  const left = [...chunks];
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = left.shift();
        if (chunk === undefined) controller.close();
        else controller.enqueue(Buffer.from(chunk));
      },
      cancel() {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, left, isCancelled: () => cancelled };
}

const toInit = (
  body: string | ReadableStream<Uint8Array>,
  headers: Record<string, string> = {},
): RequestInit => ({ method: 'POST', body, headers, duplex: 'half' }) as RequestInit;
const toText = async (bytes: Promise<Uint8Array>): Promise<string> => Buffer.from(await bytes).toString();

function read(request: FetchRequest) {
  const { method, path, query, headers, mountPath, params, remoteAddress, protocol } = request;
  return { method, path, query, headers, mountPath, params, remoteAddress, protocol };
}

describe('a fetch request', () => {
  it('has the parts of its request', () => {
    const { asked } = create({ method: 'PUT', headers: { 'X-A': 'b' } }, { remoteAddress: '10.0.0.1' });
    expect(read(asked)).toEqual({
      ...{ method: 'PUT', path: '/a', query: 'b=1', mountPath: '/ai', params: undefined },
      ...{ headers: { 'x-a': 'b' }, remoteAddress: '10.0.0.1', protocol: 'http' },
    });
    expect(read(create({}, { params: { id: '1' } }, '/a').asked)).toMatchObject({
      ...{ path: '/a', query: '', params: { id: '1' }, remoteAddress: undefined },
    });
    expect(read(create({}, {}, '?a').asked)).toMatchObject({ path: '', query: 'a' });
    expect(new FetchRequest(new Request('https://host'), '/', '', {}).protocol).toBe('https');
    expect(asked.headers).toBe(asked.headers);
    expect(asked.body).toBe(asked.body);
  });

  it('stops when the client leaves', () => {
    const leaving = new AbortController();
    const { asked } = create({ signal: leaving.signal });
    const { signal } = asked;
    expect(asked.signal).toBe(signal);
    expect(signal.aborted).toBe(false);
    leaving.abort();
    expect(signal.aborted).toBe(true);
    // A request that is asked for its signal later.
    expect(create({ signal: leaving.signal }).asked.signal.aborted).toBe(true);
    const other = create().asked;
    other.leave();
    expect(other.signal.aborted).toBe(false);
    other.leave();
    expect(other.signal.aborted).toBe(true);
  });
});

describe('the bytes of a fetch body', () => {
  it('are all of its chunks', async () => {
    const { body } = createBody(['ab', 'cd']);
    const { asked } = create(toInit(body));
    const bytes = asked.body.bytes(4);
    expect(asked.body.bytes(4)).toBe(bytes);
    expect(await toText(bytes)).toBe('abcd');
    expect(await toText(create(toInit('ab')).asked.body.bytes(2))).toBe('ab');
    expect(await create().asked.body.bytes(0)).toHaveLength(0);
  });

  it('are not copied if they come in one chunk', async () => {
    const chunk = Buffer.from('ab');
    const { asked } = create(toInit(ReadableStream.from([chunk]) as ReadableStream<Uint8Array>));
    expect(await asked.body.bytes(2)).toBe(chunk);
  });

  it('are refused beyond the limit, and the rest is let through', async () => {
    const { body, left, isCancelled } = createBody(['ab', 'cd', 'ef', 'gh']);
    const { asked } = create(toInit(body));
    await expect(asked.body.bytes(3)).rejects.toMatchObject({ name: 'BodyTooLarge', limit: 3 });
    await turn();
    expect([left.length, isCancelled()]).toEqual([0, false]);
  });

  it('are refused by their announced length before they are read', async () => {
    const { body, left } = createBody(['ab', 'cd']);
    const { asked } = create(toInit(body, { 'content-length': '4' }));
    await expect(asked.body.bytes(3)).rejects.toMatchObject({ name: 'BodyTooLarge', limit: 3 });
    expect(left).toHaveLength(2);
  });

  it('are those of the host if it has read them', async () => {
    const read = async (info: FetchInfo, headers: Record<string, string> = {}, limit = 2) => {
      const { request, asked } = create(toInit('ab', headers), info);
      await request.text();
      expect(asked.body.parsed).toBe(info.parsed);
      return asked.body.bytes(limit);
    };
    const chunked = { 'transfer-encoding': 'chunked' };
    expect(await toText(read({ parsed: 'ab' }, { 'content-length': '2' }))).toBe('ab');
    expect(await toText(read({ parsed: 'ab' }, chunked))).toBe('ab');
    await expect(read({ parsed: 'ab' }, chunked, 1)).rejects.toMatchObject({ name: 'BodyTooLarge' });
    await expect(read({ parsed: {} }, chunked)).rejects.toThrow('kept no bytes');
    expect(await read({ parsed: {} })).toHaveLength(0);
  });
});

describe('the stream of a fetch body', () => {
  const collect = async (stream: AsyncIterable<Uint8Array>) => {
    const chunks: string[] = [];
    for await (const chunk of stream) chunks.push(Buffer.from(chunk).toString());
    return chunks;
  };

  it('has its chunks', async () => {
    expect(await collect(create(toInit(createBody(['ab', 'cd']).body)).asked.body.stream())).toEqual([
      'ab',
      'cd',
    ]);
    expect(await collect(create().asked.body.stream())).toEqual([]);
  });

  it('has the bytes of the host if it has read them', async () => {
    const { request, asked } = create(toInit('ab', { 'content-length': '2' }), { parsed: 'ab' });
    await request.text();
    expect(await collect(asked.body.stream())).toEqual(['ab']);
  });

  it('lets the rest through when its reader stops', async () => {
    const { body, left, isCancelled } = createBody(['ab', 'cd', 'ef']);
    for await (const _ of create(toInit(body)).asked.body.stream()) break;
    await turn();
    expect([left.length, isCancelled()]).toEqual([0, false]);
  });

  it('fails as its source does, and leaves no failure unhandled', async () => {
    const failing = () => {
      let count = 0;
      return new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            count += 1;
            if (count === 1) controller.enqueue(Buffer.from('ab'));
            else controller.error(new Error('reset'));
          },
        },
        { highWaterMark: 0 },
      );
    };
    await expect(collect(create(toInit(failing())).asked.body.stream())).rejects.toThrow('reset');
    for await (const _ of create(toInit(failing())).asked.body.stream()) break;
    await turn();
  });
});
