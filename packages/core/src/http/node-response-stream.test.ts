import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openResponse } from '../../test/node-answer.ts';
import { createStreamedBody } from '../../test/streamed-body.ts';
import { sendNodeResponse } from './node-response.ts';

describe('a streamed response of node:http', () => {
  it('writes a chunk of text as one frame', async () => {
    const { send, give, end, look } = openResponse();
    send();
    await give('a');
    expect(look().join('')).toMatch(/\r\n\r\n1\r\na\r\n$/);
    await give('na\u00efve, and more');
    expect(look()).toEqual(['10\r\nna\u00efve, and more\r\n']);
    await end();
    expect(look().join('')).toBe('0\r\n\r\n');
  });

  it('writes bytes as they are', async () => {
    const { send, give, look } = openResponse();
    send();
    await give('a');
    look();
    await give(new Uint8Array([98, 99]));
    expect(look().join('')).toBe('2\r\nbc\r\n');
  });

  it('ends with the text of its last tick', async () => {
    const { send, end, outgoing, look } = openResponse();
    let given: unknown[] = [];
    const original = outgoing.end.bind(outgoing);
    outgoing.end = ((...parts: unknown[]) => {
      given = parts;
      return original(...(parts as [string]));
    }) as typeof outgoing.end;
    send();
    await end('last');
    expect(given).toEqual(['last']);
    expect(look().join('')).toMatch(/\r\n\r\nlast$|4\r\nlast\r\n0\r\n\r\n$/);
    const empty = openResponse();
    empty.outgoing.end = ((...parts: unknown[]) => {
      given = parts;
      return empty.outgoing;
    }) as typeof outgoing.end;
    empty.send();
    await empty.end();
    expect(given).toEqual([]);
  });

  it.each([
    ['middleware has replaced `write`', 1, true],
    ['the client speaks HTTP/1.0', 0, false],
  ])('writes through the response if %s', async (_, minor, isReplaced) => {
    const { send, give, outgoing, look } = openResponse({ minor });
    const seen: unknown[] = [];
    const write = outgoing.write.bind(outgoing) as (chunk: unknown) => boolean;
    if (isReplaced) {
      outgoing.write = ((chunk: unknown) => {
        seen.push(chunk);
        return write(chunk);
      }) as typeof outgoing.write;
    }
    send();
    await give('a');
    look();
    await give('b');
    expect(look().join('')).toBe(minor === 0 ? 'b' : '1\r\nb\r\n');
    expect(seen).toEqual(isReplaced ? ['a', 'b'] : []);
  });

  it('is not read on while the connection is full, with one listener', async () => {
    const { send, give, outgoing, counts, slow } = openResponse();
    send();
    await give('a');
    slow(true);
    const before = counts().asked;
    await give('x'.repeat(20_000));
    await give('y');
    await give('z');
    expect(counts().asked).toBe(before + 2);
    // Still full: the chunk that waited goes out, and no other is asked for.
    outgoing.emit('drain');
    await turn();
    expect([counts().asked, outgoing.listenerCount('drain')]).toEqual([before + 2, 1]);
    slow(false);
    outgoing.emit('drain');
    await turn();
    expect(counts().asked).toBe(before + 3);
  });

  it('keeps its order behind what waits', async () => {
    const { send, give, calls, slow, outgoing } = openResponse();
    send();
    await give('a');
    slow(true);
    outgoing.write('b');
    await give('c');
    slow(false);
    await turn();
    expect(calls.join('')).toMatch(/1\r\na\r\n1\r\nb\r\n1\r\nc\r\n$/);
  });

  it('writes nothing more if the host has ended it', async () => {
    const { send, give, end, outgoing, look } = openResponse();
    const errors: unknown[] = [];
    outgoing.on('error', (error) => errors.push(error));
    send();
    await give('a');
    outgoing.end();
    look();
    await give('b');
    await give(Buffer.from('c'));
    await end('d');
    expect([look(), errors]).toEqual([[], []]);
  });

  it.each([
    ['text', 'b'],
    ['bytes', Buffer.from('b')],
  ])('writes no %s more if the host has destroyed it', async (_, chunk) => {
    const { send, give, outgoing, look } = openResponse();
    const errors: unknown[] = [];
    outgoing.on('error', (error) => errors.push(error));
    send();
    await give('a');
    look();
    outgoing.destroy();
    await give(chunk);
    expect([look(), errors]).toEqual([[], []]);
  });

  it('writes nothing more to a connection that is ended', async () => {
    const { send, give, socket, look } = openResponse();
    send();
    await give('a');
    look();
    socket.end();
    await give('b');
    expect(look()).toEqual([]);
  });

  it('breaks off if its body fails', async () => {
    const { send, give, fail, outgoing } = openResponse();
    send();
    await give('a');
    await fail();
    expect([outgoing.destroyed, outgoing.writableEnded]).toEqual([true, false]);
  });

  it('waits for a response before it on the connection', async () => {
    const { incoming, outgoing: first, socket } = openResponse();
    const { body, give } = createStreamedBody();
    const second = new ServerResponse(incoming);
    sendNodeResponse({ status: 200, headers: {}, body }, incoming, second);
    give('a');
    await turn();
    give('b');
    await turn();
    const written: string[] = [];
    socket.write = ((chunk: unknown) => written.push(String(chunk)) > 0) as typeof socket.write;
    first.detachSocket(socket as unknown as Socket);
    second.assignSocket(socket as unknown as Socket);
    (second as unknown as { _flush(): void })._flush();
    expect(written.join('')).toMatch(/1\r\na\r\n1\r\nb\r\n$/);
  });
});
