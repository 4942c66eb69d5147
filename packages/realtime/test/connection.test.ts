import type { Caller } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { hold, SLOW, setUp } from './connection.ts';

const GOING_AWAY = { code: 1001, reason: 'the server is about to restart' } as const;
const MEGABYTE = 1024 * 1024;

describe('frames of a connection', () => {
  it('are text', async () => {
    const { socket, receive, settle } = await setUp();
    receive({ action: 'heartbeat' }, true);
    await settle();
    expect(socket.sent.map((text) => JSON.parse(text))).toMatchObject([
      ...[{ type: 'error', message: expect.stringContaining('a frame is text') }],
    ]);
  });

  it('are no longer read while 16 wait', async () => {
    const { socket, beat, settle } = await setUp();
    for (const round of [1, 2]) {
      socket.sent.length = 0;
      socket.resumptions.length = 0;
      // The first one is served at once: 15 wait.
      beat(16);
      expect([round, socket.isPaused]).toEqual([round, false]);
      beat(1);
      expect([round, socket.isPaused]).toEqual([round, true]);
      // The library may have read further frames already.
      beat(2);
      await settle();
      expect([round, socket.sent.length, socket.isPaused]).toEqual([round, 19, false]);
      // At the fourth frame, 15 wait.
      expect([round, socket.resumptions]).toEqual([round, [3]]);
    }
  });

  it('are ignored once the socket is closed, also those that wait', async () => {
    const { given, socket, beat, subscribe, settle } = await setUp();
    const { held, release } = hold();
    let lookups = 0;
    given.identify = async () => {
      lookups += 1;
      await held;
      return { userId: 'ada' } as Caller;
    };
    await subscribe();
    await subscribe();
    expect(lookups).toBe(1);
    socket.emit('close');
    release();
    await settle();
    await subscribe();
    beat(40);
    await settle();
    expect([lookups, socket.sent, socket.isPaused]).toEqual([1, [], false]);
  });
});

describe('end of a connection', () => {
  it('is said once, to a client that is read again', async () => {
    const { socket, connection, clock } = await setUp();
    socket.pause();
    connection.close(GOING_AWAY);
    connection.close(GOING_AWAY);
    expect([socket.closes, socket.isPaused]).toEqual([[[1001, GOING_AWAY.reason]], false]);
    await clock.advance(999);
    expect(socket.terminations).toBe(0);
    await clock.advance(1);
    expect(socket.terminations).toBe(1);
  });

  it('has no timer once the client has closed', async () => {
    const { socket, connection, clock } = await setUp();
    connection.close(GOING_AWAY);
    expect([clock.pending, socket.resumptions]).toEqual([1, []]);
    socket.emit('close');
    expect(clock.pending).toBe(0);
  });

  it('comes when more than a megabyte of answers, also to pings, is not read', async () => {
    for (const ask of ['ping', 'heartbeat']) {
      const { socket, beat, settle } = await setUp();
      const send = async () => {
        if (ask === 'ping') socket.emit('ping');
        else beat(1);
        await settle();
      };
      socket.bufferedAmount = MEGABYTE;
      await send();
      expect([ask, socket.closes]).toEqual([ask, []]);
      socket.bufferedAmount = MEGABYTE + 1;
      await send();
      expect([ask, socket.closes]).toEqual([ask, [SLOW]]);
    }
  });

  it('does not come because the credential cannot be looked up', async () => {
    const { given, socket, connection } = await setUp();
    given.identify = () => Promise.reject(new Error('away'));
    await expect(connection.check()).rejects.toThrow('away');
    expect(socket.closes).toEqual([]);
    given.identify = async () => undefined;
    await connection.check();
    expect(socket.closes).toEqual([[4401, 'the credential has ended']]);
  });
});
