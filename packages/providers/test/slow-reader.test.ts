import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { drain, failure, hello, readParts } from './collect.ts';
import { openAI, openAIAt, rawServer } from './set-up.ts';

describe('slow reader of a provider', () => {
  it('applies backpressure to the provider and receives everything', async () => {
    const text = 'x'.repeat(1000);
    const steps = Array.from({ length: 40_000 }, () => ({ text }));
    const { provider, upstream } = await openAI({ steps, separate: true });
    const iterator = (await provider.generate(hello, {}))[Symbol.asyncIterator]();
    let size = 0;
    const take = async () => {
      const { value, done } = await iterator.next();
      for (const part of value === undefined ? [] : readParts(value)) {
        if (part.type === 'text') size += part.text.length;
      }
      return done !== true;
    };
    await take();
    const [request] = upstream.requests;
    // The server writes until the connection is full; the kernel buffers the difference.
    while (request?.blocked !== true) await new Promise((resolve) => setImmediate(resolve));
    expect(request.written).toBeLessThan(16_000_000);
    while (await take());
    expect(size).toBe(40_000_000);
  });

  it('receives the data that arrived before a connection breaks', async () => {
    for (const framing of ['connection: close', 'transfer-encoding: chunked']) {
      let socket: Socket | undefined;
      const event = `data: {"choices":[{"delta":{"content":"${'x'.repeat(1000)}"}}]}\n\n`;
      // Slightly above the buffer limit: reading stops with nothing left unread, so that the break is
      // detected at once.
      const body = event.repeat(66);
      const address = await rawServer((connection) => {
        socket = connection;
        connection.once('data', () => {
          connection.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n${framing}\r\n\r\n`);
          const chunked = framing.startsWith('transfer');
          connection.write(chunked ? `${body.length.toString(16)}\r\n${body}\r\n` : body);
        });
      });
      const stream = await openAIAt(`http://${address}/v1`).generate(hello, {});
      const closed = new Promise((resolve) => socket?.once('close', resolve));
      // Everything arrives before the first read: backpressure applies where possible.
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      socket?.resetAndDestroy();
      await closed;
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      expect((await failure(drain(stream))).kind).toBe('failed');
    }
  });

  it('fails at a limit when backpressure does not reach the provider', async () => {
    const event = `data: {"choices":[{"delta":{"content":"${'x'.repeat(100_000)}"}}]}\n\n`;
    const address = await rawServer((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n');
        for (let count = 0; count < 300; count += 1) socket.write(event);
      });
      socket.once('close', () => left());
    });
    let left: () => void = () => {};
    const gone = new Promise<void>((resolve) => {
      left = resolve;
    });
    const stream = await openAIAt(`http://${address}/v1`).generate(hello, {});
    await gone;
    expect((await failure(drain(stream))).kind).toBe('failed');
  });

  it('aborts at once while backpressure is applied', async () => {
    const steps = Array.from({ length: 40_000 }, () => ({ text: 'x'.repeat(1000) }));
    const { provider, upstream } = await openAI({ steps, separate: true });
    const leaving = new AbortController();
    const stream = await provider.generate(hello, { signal: leaving.signal });
    const request = await upstream.request(0);
    while (!request.blocked) await new Promise((resolve) => setImmediate(resolve));
    leaving.abort(new Error('left'));
    await request.disconnected;
    await expect(drain(stream)).rejects.toThrow('left');
  });
});
