import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { NodeBody, readByHost } from './node-body.ts';
import type { HostRequest } from './node-request.ts';

const CHUNKED = { 'transfer-encoding': 'chunked' };

function setUp(
  headers: object = CHUNKED,
  { host, version = 1 }: { host?: HostRequest; version?: number } = {},
) {
  // As a request, which stays open until its response ends.
  const source = new PassThrough({ autoDestroy: false });
  const incoming = { headers, httpVersionMajor: version } as unknown as IncomingMessage;
  return { source, body: new NodeBody(incoming, source, host) };
}

/** As a body parser of the host reads the source. */
async function readAll(source: PassThrough): Promise<void> {
  for await (const _ of source);
}

const toText = async (bytes: Promise<Uint8Array>): Promise<string> => Buffer.from(await bytes).toString();

describe('the bytes of a body', () => {
  it('are all of its chunks', async () => {
    const { source, body } = setUp();
    const bytes = body.bytes(4);
    expect(body.bytes(4)).toBe(bytes);
    source.write('ab');
    await turn();
    source.end('cd');
    expect(await toText(bytes)).toBe('abcd');
    expect(['data', 'end', 'close'].map((name) => source.listenerCount(name))).toEqual([0, 0, 0]);
  });

  it('are not copied if they come in one chunk', async () => {
    const { source, body } = setUp();
    const chunk = Buffer.from('ab');
    source.end(chunk);
    expect(await body.bytes(2)).toBe(chunk);
  });

  it('are none if the headers announce none', async () => {
    for (const headers of [{}, { 'content-length': '0' }]) {
      const { source, body } = setUp(headers);
      expect(await body.bytes(0)).toHaveLength(0);
      expect(source.readableDidRead).toBe(false);
    }
  });

  it('need no header in HTTP/2', async () => {
    const { source, body } = setUp({}, { version: 2 });
    source.end('ab');
    expect(await toText(body.bytes(2))).toBe('ab');
  });

  it('are none of an empty stream', async () => {
    const { source, body } = setUp();
    source.end();
    expect(await body.bytes(0)).toHaveLength(0);
  });

  it.each([
    ['with its headers, read in one step', ['ab'], true],
    ['after its headers', ['', 'ab'], false],
    ['in two parts', ['a', 'b'], false],
  ])('are those of a body that arrives %s', async (_, parts, isOneStep) => {
    const reads: { text: string; isOneStep: boolean }[] = [];
    const server = createServer(async (incoming, outgoing) => {
      const text = await toText(new NodeBody(incoming, incoming, undefined).bytes(2));
      reads.push({ text, isOneStep: incoming.readableFlowing === null });
      outgoing.end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n${parts[0]}`);
    if (parts.length > 1) await once(server, 'request');
    for (const part of parts.slice(1)) client.write(part);
    await once(client, 'data');
    expect(reads).toEqual([{ text: 'ab', isOneStep }]);
    client.destroy();
    server.close();
  });

  it('are all of a stream that the host gives, also if its beginning has the announced length', async () => {
    const { source, body } = setUp({ 'content-length': '2' });
    source.write('ab');
    const bytes = body.bytes(4);
    await turn();
    source.end('cd');
    expect(await toText(bytes)).toBe('abcd');
  });

  it('are refused by their announced length before they are read', async () => {
    const { source, body } = setUp({ 'content-length': '3' });
    await expect(body.bytes(2)).rejects.toMatchObject({ name: 'BodyTooLarge', limit: 2 });
    expect(source.readableFlowing).toBeNull();
    const other = setUp({ 'content-length': '2' });
    other.source.end('ab');
    expect(await toText(other.body.bytes(2))).toBe('ab');
  });

  it('are refused beyond the limit, and the rest is let through', async () => {
    const { source, body } = setUp();
    const bytes = body.bytes(3);
    source.write('ab');
    await turn();
    source.write('cd');
    await expect(bytes).rejects.toMatchObject({ name: 'BodyTooLarge', limit: 3 });
    expect(['data', 'end', 'close'].map((name) => source.listenerCount(name))).toEqual([0, 0, 0]);
    source.end('more');
    await turn();
    expect(source.readableEnded).toBe(true);
  });

  it.each([
    ['while they are read', false],
    ['before', true],
  ])('are refused when the client breaks off: %s', async (_, isBefore) => {
    const { source, body } = setUp();
    if (isBefore) {
      source.on('error', () => undefined).destroy(new Error('reset'));
      await turn();
    }
    const bytes = body.bytes(10);
    if (!isBefore) source.destroy(new Error('reset'));
    await expect(bytes).rejects.toThrow('the client left before its body was complete');
    await turn();
  });
});

describe('a body that the host has read', () => {
  it('is the result of its parser', async () => {
    const { source, body } = setUp(CHUNKED, { host: { body: { a: 1 } } });
    expect(body.parsed).toBeUndefined();
    source.end('{"a":1}');
    await readAll(source);
    expect(body.parsed).toEqual({ a: 1 });
    await expect(body.bytes(10)).rejects.toThrow('the host has read the body and kept no bytes');
    expect(setUp().body.parsed).toBeUndefined();
  });

  it('has no result of a parser where the host gives the stream or reading has begun', async () => {
    const { source, body } = setUp(CHUNKED, { host: { body: { a: 1 } } });
    source.end('x');
    await body.bytes(1);
    expect(body.parsed).toBeUndefined();
    const stream = new PassThrough();
    const own = new NodeBody({ headers: CHUNKED } as unknown as IncomingMessage, stream, { body: stream });
    stream.end();
    await readAll(stream);
    expect(own.parsed).toBeUndefined();
    const alone = setUp();
    alone.source.end();
    await readAll(alone.source);
    expect(alone.body.parsed).toBeUndefined();
  });

  it('has the bytes that the parser has kept', async () => {
    const { source, body } = setUp(CHUNKED, { host: { body: 'ab' } });
    source.end('ab');
    await readAll(source);
    const chunks = [];
    for await (const chunk of body.stream()) chunks.push(Buffer.from(chunk).toString());
    expect(chunks).toEqual(['ab']);
    expect(await toText(body.bytes(2))).toBe('ab');
  });

  it('has bytes up to the limit', () => {
    expect(readByHost('\u00e4', 2)).toEqual(Buffer.from('\u00e4'));
    const bytes = new Uint8Array(2);
    expect(readByHost(bytes, 2)).toBe(bytes);
    expect(() => readByHost(bytes, 1)).toThrow('the body is larger than 1 bytes');
    expect(() => readByHost(undefined, 1)).toThrow('the host has read the body and kept no bytes');
  });
});

describe('the stream of a body', () => {
  it('has its chunks', async () => {
    const { source, body } = setUp();
    source.write('ab');
    source.end('cd');
    let text = '';
    for await (const chunk of body.stream()) text += Buffer.from(chunk).toString();
    expect(text).toBe('abcd');
  });

  it('lets the rest through when its reader stops', async () => {
    const { source, body } = setUp();
    source.write('ab');
    for await (const _ of body.stream()) break;
    expect(source.destroyed).toBe(false);
    source.end('cd');
    await turn();
    expect(source.readableEnded).toBe(true);
  });
});
