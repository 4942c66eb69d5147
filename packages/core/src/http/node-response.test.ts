import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createStreamedBody, untilAsked } from '../../test/streamed-body.ts';
import type { ApiResponse } from '../contract/message.ts';
import { breakOff, sendNodeResponse } from './node-response.ts';

/** A response on a connection that notes what is written to it. */
function setUp({ method = 'GET', minor = 1 } = {}) {
  const calls: string[] = [];
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  socket.write = (chunk: unknown) => calls.push(String(chunk)) > 0;
  const reset = () => {
    calls.push('reset');
    return socket;
  };
  Object.assign(socket, { resetAndDestroy: reset });
  const message = { method, headers: {}, httpVersionMajor: 1, httpVersionMinor: minor, socket };
  const incoming = message as unknown as IncomingMessage;
  const outgoing = new ServerResponse(incoming);
  outgoing.sendDate = false;
  outgoing.assignSocket(socket as unknown as Socket);
  const send = (response: Partial<ApiResponse>) =>
    sendNodeResponse({ status: 200, headers: {}, body: undefined, ...response }, incoming, outgoing);
  return { outgoing, calls, send, sent: () => calls.join('') };
}

describe('a response of node:http', () => {
  it('has its status, headers and body', () => {
    const { send, sent } = setUp();
    send({ status: 201, headers: { 'X-A': 'b' }, body: 'na\u00efve' });
    expect(sent()).toMatch(/^HTTP\/1.1 201 Created\r\nX-A: b\r\nContent-Length: 6\r\n.*\r\n\r\nna\u00efve$/s);
  });

  it.each([
    ['of HEAD', 'HEAD', { body: 'four' }, /^HTTP\/1.1 200 OK\r\nContent-Length: 4\r\n/],
    ['without content', 'GET', { status: 204, body: 'four' }, /^HTTP\/1.1 204 No Content\r\n/],
    ['of nothing', 'GET', {}, /^HTTP\/1.1 200 OK\r\nContent-Length: 0\r\n/],
  ])('has no body: %s', (_, method, response, head) => {
    const { send, sent, outgoing } = setUp({ method });
    let given: unknown[] = [];
    const end = outgoing.end.bind(outgoing);
    outgoing.end = (...parts: unknown[]) => {
      given = parts;
      return end();
    };
    send(response);
    expect(sent()).toMatch(head);
    expect(sent()).toMatch(/\r\n\r\n$/);
    // Frameworks and middleware see what is given to `end`.
    expect(given).toEqual([]);
    expect(outgoing.writableEnded).toBe(true);
  });

  it.each([
    ['HEAD', 200],
    ['GET', 204],
  ])('has no streamed body: %s, %d', (method, status) => {
    const { send, sent, outgoing } = setUp({ method });
    const { body, counts } = createStreamedBody();
    send({ status, headers: { 'X-A': 'b' }, body });
    expect(sent()).toMatch(/X-A: b\r\n.*\r\n\r\n$/s);
    expect([counts().returns, outgoing.writableEnded]).toEqual([1, true]);
  });

  it('is 500 if it has an invalid header', () => {
    const { send, sent } = setUp();
    const { body, counts } = createStreamedBody();
    send({ headers: { 'X-A': 'b\nc' }, body });
    expect(sent()).toMatch(/^HTTP\/1.1 500 .*\{"error":"Internal server error"\}$/s);
    expect(counts().returns).toBe(1);
  });

  it('ends the connection if its body is invalid', () => {
    const { send, outgoing } = setUp();
    send({ body: 5 as unknown as string });
    expect(outgoing.destroyed).toBe(true);
  });

  it.each([
    ['was sent', (outgoing: ServerResponse) => outgoing.writeHead(200).end()],
    ['is closed', (outgoing: ServerResponse) => outgoing.destroy()],
  ])('is not written if another one %s', (_, prepare) => {
    const { send, outgoing, calls } = setUp();
    prepare(outgoing);
    const before = { count: calls.length, isClosed: outgoing.destroyed, isSent: outgoing.headersSent };
    const { body, counts } = createStreamedBody();
    send({ body });
    expect([counts().returns, calls.length]).toEqual([1, before.count]);
    expect([outgoing.destroyed, outgoing.headersSent]).toEqual([before.isClosed, before.isSent]);
  });

  it('stops its body when the client leaves', () => {
    const { send, outgoing } = setUp();
    const { body, counts } = createStreamedBody();
    send({ body });
    expect(counts().returns).toBe(0);
    outgoing.destroy();
    outgoing.emit('close');
    expect(counts().returns).toBe(1);
  });
});

describe('the head of a streamed response', () => {
  it('is sent if the body does not begin in this tick', async () => {
    const { send, sent } = setUp();
    send({ headers: { 'X-A': 'b' }, body: createStreamedBody().body });
    expect(sent()).toBe('');
    await turn();
    expect(sent()).toMatch(/^HTTP\/1.1 200 OK\r\nX-A: b\r\n.*\r\n\r\n$/s);
  });

  it('is sent with the body if that begins in this tick', async () => {
    const { send, sent, outgoing } = setUp();
    let flushes = 0;
    outgoing.flushHeaders = () => {
      flushes += 1;
    };
    const body = async function* () {
      yield 'a';
    };
    send({ body: body() });
    await turn();
    expect(sent()).toMatch(/\r\n\r\n1\r\na\r\n/);
    expect(flushes).toBe(0);
  });

  it.each([
    ['in this tick', 0, 1],
    ['later', 1, 2],
  ])('leaves with a body that ends %s, in writes: %d + 1', async (_, turns, writes) => {
    const { send, sent, calls } = setUp();
    const streamed = createStreamedBody();
    send({ headers: { 'X-A': 'b' }, body: streamed.body });
    for (let count = 0; count < turns; count += 1) await turn();
    streamed.give('na\u00efve');
    await untilAsked(streamed);
    streamed.end();
    await turn();
    expect(sent()).toMatch(/^HTTP\/1.1 200 OK\r\nX-A: b\r\n.*\r\n\r\n6\r\nna\u00efve\r\n0\r\n\r\n$/s);
    expect(calls.filter((call) => call !== '')).toHaveLength(writes);
  });

  it.each(['write', 'end'] as const)('is left to middleware that replaces `%s`', async (method) => {
    const { send, sent, outgoing } = setUp();
    const streamed = createStreamedBody();
    const given: unknown[] = [];
    const original = outgoing[method].bind(outgoing) as (...parts: unknown[]) => never;
    Object.assign(outgoing, {
      [method]: (...parts: unknown[]) => {
        given.push(...parts);
        return original(...parts);
      },
    });
    send({ body: streamed.body });
    streamed.give('a');
    await untilAsked(streamed);
    streamed.end();
    await turn();
    expect(sent()).toMatch(/\r\n\r\n1\r\na\r\n0\r\n\r\n$/);
    expect(given).toEqual(method === 'end' ? ['a'] : []);
  });

  it('keeps the trailers of the host', async () => {
    const { send, sent, outgoing } = setUp();
    const streamed = createStreamedBody();
    outgoing.setHeader('Trailer', 'X-Sum');
    outgoing.addTrailers({ 'X-Sum': '1' });
    send({ body: streamed.body });
    streamed.give('a');
    await untilAsked(streamed);
    streamed.end();
    await turn();
    expect(sent()).toMatch(/\r\n\r\n1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n$/);
  });

  it('is not sent to a client that has left', async () => {
    const { send, outgoing } = setUp();
    let flushes = 0;
    outgoing.flushHeaders = () => {
      flushes += 1;
    };
    send({ body: createStreamedBody().body });
    outgoing.destroy();
    await turn();
    expect(flushes).toBe(0);
  });
});

describe('breaking off a response', () => {
  it.each([
    ['destroys the connection of a chunked one', 1, {}, []],
    ['resets the connection of one whose end is that of the connection', 0, {}, ['reset']],
    ['destroys the connection of one with a length', 1, { 'content-length': '9' }, []],
  ])('%s', async (_, minor, headers, resets) => {
    const { send, outgoing, calls } = setUp({ minor });
    const failing = async function* () {
      yield 'a';
      throw new Error('secret');
    };
    send({ headers, body: failing() });
    await turn();
    await turn();
    expect([calls.filter((call) => call === 'reset'), outgoing.destroyed]).toEqual([resets, true]);
    expect(calls.join('')).toContain('a');
  });

  it('destroys the connection of one whose host has set its length', async () => {
    const { outgoing, calls } = setUp();
    outgoing.setHeader('Content-Length', '9');
    outgoing.flushHeaders();
    breakOff(outgoing);
    expect(outgoing.destroyed).toBe(false);
    await turn();
    expect([calls.includes('reset'), outgoing.destroyed]).toEqual([false, true]);
  });

  it('closes a stream of HTTP/2 with an error', async () => {
    const codes: number[] = [];
    const { outgoing } = setUp();
    breakOff(Object.assign(outgoing, { stream: { close: (code: number) => codes.push(code) } }));
    await turn();
    expect(codes).toEqual([2]);
  });
});
