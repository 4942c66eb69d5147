import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { NodeConnection, onLeave } from './node-connection.ts';

function setUp({ isQueued = false, ...state }: { isQueued?: boolean; destroyed?: boolean } = {}) {
  const socket = new EventEmitter();
  const outgoing = Object.assign(new EventEmitter(), {
    ...{ destroyed: false, writableFinished: false, writableEnded: false },
    socket: isQueued ? null : socket,
    ...state,
  });
  const messages = [{ socket } as unknown as IncomingMessage, outgoing as unknown as ServerResponse] as const;
  const calls: string[] = [];
  return { socket, outgoing, messages, calls, watch: () => onLeave(...messages, () => calls.push('left')) };
}

const FINISHED = { writableFinished: true, writableEnded: true };

describe('leaving', () => {
  it('is the close of a response before its end', () => {
    const { outgoing, watch, calls, socket } = setUp();
    watch();
    expect(calls).toEqual([]);
    socket.emit('close');
    expect(calls).toEqual([]);
    outgoing.emit('close');
    outgoing.emit('close');
    expect(calls).toEqual(['left']);
  });

  it.each([
    ['is complete', FINISHED, 0],
    ['is not sent', { writableFinished: false, writableEnded: true }, 1],
    ['of HTTP/2 has not ended', { writableFinished: true, writableEnded: false }, 1],
  ])('is, or is not, the close of a response that %s', (_, state, count) => {
    const { outgoing, watch, calls } = setUp();
    watch();
    Object.assign(outgoing, state);
    outgoing.emit('close');
    expect(calls).toHaveLength(count);
    const before = setUp({ destroyed: true, ...state });
    before.watch();
    expect(before.calls).toHaveLength(count);
    expect(before.outgoing.listenerCount('close')).toBe(0);
  });

  it('is the close of the connection while a response waits behind others', () => {
    const { socket, outgoing, watch, calls } = setUp({ isQueued: true });
    watch();
    socket.emit('close');
    expect(calls).toEqual(['left']);
    expect(outgoing.listenerCount('close')).toBe(1);
  });

  it('leaves no listener at a connection that serves other requests', () => {
    const { socket, outgoing, watch, calls } = setUp({ isQueued: true });
    watch();
    Object.assign(outgoing, FINISHED);
    outgoing.emit('close');
    expect([socket.listenerCount('close'), outgoing.listenerCount('close'), calls.length]).toEqual([0, 0, 0]);
  });
});

describe('the connection of a request', () => {
  it('calls its listeners when the client leaves', () => {
    const { outgoing, messages, calls } = setUp();
    const connection = new NodeConnection(...messages);
    expect([connection.aborted, connection.reason]).toEqual([false, undefined]);
    const second = () => calls.push('second');
    connection.addEventListener('abort', () => {
      calls.push(`first: ${connection.aborted}`);
      connection.removeEventListener('abort', second);
    });
    connection.addEventListener('abort', second);
    outgoing.emit('close');
    expect(calls).toEqual(['first: true', 'second']);
    expect(connection.reason).toEqual(new Error('the client has disconnected'));
  });

  it('calls no listener that was removed', () => {
    const { outgoing, messages, calls } = setUp();
    const connection = new NodeConnection(...messages);
    const listeners = ['a', 'b', 'c'].map((name) => () => {
      calls.push(name);
    });
    for (const listener of listeners) connection.addEventListener('abort', listener);
    connection.removeEventListener('abort', listeners[0] ?? (() => undefined));
    connection.removeEventListener('abort', () => undefined);
    outgoing.emit('close');
    expect(calls).toEqual(['b', 'c']);
  });
});
