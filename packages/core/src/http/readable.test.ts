import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { toReadable } from './readable.ts';

function setUp(chunks: readonly (string | Uint8Array)[] = [], failure?: Error) {
  const events: string[] = [];
  async function* create() {
    try {
      for (const chunk of chunks) {
        events.push('read');
        yield chunk;
      }
      if (failure !== undefined) throw failure;
      if (chunks.length === 0) await new Promise(() => undefined);
    } finally {
      events.push('closed');
    }
  }
  const outgoing = Object.assign(new EventEmitter(), {
    ...{ destroyed: false, writableFinished: false, writableEnded: false, chunkedEncoding: true, socket: {} },
    flushHeaders: () => events.push('head'),
    hasHeader: () => false,
    destroy: () => events.push('destroyed'),
  });
  const incoming = { socket: new EventEmitter() } as unknown as IncomingMessage;
  const readable = toReadable(create(), incoming, outgoing as unknown as ServerResponse);
  return { readable, outgoing, events };
}

describe('a body as a stream of Node', () => {
  it('has its chunks and ends', async () => {
    const { readable } = setUp(['a', 'b', new Uint8Array([99])]);
    let text = '';
    for await (const chunk of readable) text += Buffer.from(chunk).toString();
    expect(text).toBe('abc');
  });

  it('ends with the text of its last tick', async () => {
    const { readable } = setUp(['a', 'b']);
    const chunks: string[] = [];
    for await (const chunk of readable) chunks.push(String(chunk));
    expect(chunks).toEqual(['ab']);
  });

  it('ends without a chunk after the last one', async () => {
    const { readable } = setUp([new Uint8Array([97])]);
    const chunks: string[] = [];
    for await (const chunk of readable) chunks.push(Buffer.from(chunk).toString());
    expect(chunks).toEqual(['a']);
  });

  it('is read once it is asked for, and not beyond its buffer', async () => {
    const large = 'x'.repeat(16_384);
    const { readable, events } = setUp([large, large, large, large]);
    await turn();
    expect(events).toEqual([]);
    readable.read(0);
    await turn();
    await turn();
    const count = events.length;
    expect(count).toBeLessThan(4);
    let length = 0;
    for await (const chunk of readable) length += (chunk as Buffer).length;
    expect(length).toBe(4 * 16_384);
    expect(events.filter((event) => event === 'read')).toHaveLength(4);
  });

  it('lets the head be sent if it does not begin in this tick', async () => {
    const { readable, events } = setUp();
    readable.read(0);
    await turn();
    expect(events).toEqual(['head']);
    const other = setUp(['a']);
    other.readable.read(0);
    await turn();
    expect(other.events).not.toContain('head');
  });

  it('breaks off the response, and does not fail, if its source fails', async () => {
    const { readable, events } = setUp(['a'], new Error('secret'));
    const errors: unknown[] = [];
    readable.on('error', (error) => errors.push(error));
    readable.read(0);
    await turn();
    await turn();
    expect(events).toContain('destroyed');
    expect([errors, readable.destroyed]).toEqual([[], false]);
  });

  it('stops its source when it is destroyed', async () => {
    const { readable, events } = setUp(['a'.repeat(20_000), 'b']);
    readable.read(0);
    await turn();
    readable.destroy();
    await turn();
    expect(readable.closed).toBe(true);
    expect(events).toEqual(['read', 'closed']);
  });

  it('is destroyed when the client leaves', async () => {
    const { readable, outgoing } = setUp(['a']);
    outgoing.emit('close');
    await turn();
    expect([readable.destroyed, readable.closed]).toEqual([true, true]);
  });
});
