import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { sendNodeResponse } from '../src/http/node-response.ts';
import { createStreamedBody, untilAsked } from './streamed-body.ts';

/** A response whose writes to its connection are noted, and are taken when the test says so. */
export function openResponse({ minor = 1 } = {}) {
  const calls: string[] = [];
  const waiting: (() => void)[] = [];
  let isSlow = false;
  const socket = new Duplex({
    read: () => undefined,
    highWaterMark: 10_000,
    write(_chunk, _encoding, done) {
      if (isSlow) waiting.push(done);
      else done();
    },
  });
  const write = socket.write.bind(socket) as (...parts: unknown[]) => boolean;
  socket.write = ((chunk: unknown, ...rest: unknown[]) => {
    calls.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk as Uint8Array).toString());
    return write(chunk, ...rest);
  }) as typeof socket.write;
  const message = { method: 'GET', headers: {}, httpVersionMajor: 1, httpVersionMinor: minor, socket };
  const incoming = message as unknown as IncomingMessage;
  const outgoing = new ServerResponse(incoming);
  outgoing.assignSocket(socket as unknown as Socket);
  const source = createStreamedBody();
  return {
    ...source,
    ...{ outgoing, socket, calls, incoming },
    async give(value: string | Uint8Array) {
      source.give(value);
      await turn();
    },
    async end(last?: string) {
      if (last !== undefined) source.give(last);
      await untilAsked(source);
      source.end();
      await turn();
    },
    async fail() {
      source.fail();
      await turn();
      await turn();
    },
    send: () => sendNodeResponse({ status: 200, headers: {}, body: source.body }, incoming, outgoing),
    /** Slows the connection down, or takes all that waits. */
    slow(next: boolean) {
      isSlow = next;
      while (!isSlow && waiting.length > 0) waiting.shift()?.();
    },
    /** What was written since the last look. */
    look: () => calls.splice(0),
  };
}
