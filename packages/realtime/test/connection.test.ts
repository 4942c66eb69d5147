import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { Caller } from '@questline/core';
import { type PublishedAgentEvent, SESSIONS, type SessionRecord } from '@questline/core/internal';
import { createMemoryStore } from '@questline/core/memory';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { connect } from '../src/connection.ts';
import type { RealtimeServices } from '../src/realtime.ts';

const SESSION = 'a'.repeat(24);
const GOING_AWAY = { code: 1001, reason: 'the server is about to restart' } as const;
const SLOW = [1013, 'too much is waiting to be read'];
const MEGABYTE = 1024 * 1024;

/** A socket that records what is done with it. */
class FakeSocket extends EventEmitter {
  isPaused = false;
  bufferedAmount = 0;
  readonly sent: string[] = [];
  readonly closes: unknown[] = [];
  terminations = 0;
  /** How many frames were answered at each resumption. */
  readonly resumptions: number[] = [];

  send(text: string): void {
    this.sent.push(text);
  }
  close(code: number, reason: string): void {
    this.closes.push([code, reason]);
  }
  terminate(): void {
    this.terminations += 1;
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
    this.resumptions.push(this.sent.length);
  }
}

type Show = (event: PublishedAgentEvent) => Promise<PublishedAgentEvent | undefined>;

async function setUp() {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const session = { id: SESSION, ownerId: 'ada', name: 's' };
  await store.collection(SESSIONS).insert(session as Partial<SessionRecord> as SessionRecord);
  const incidents: unknown[] = [];
  const listeners = new Set<(event: PublishedAgentEvent) => void>();
  const given = {
    identify: async (): Promise<Caller | undefined> => ({ userId: 'ada' }) as Caller,
    show: (async (event) => event) as Show,
    /** Runs before a subscription begins, and before it ends. */
    starting: async (): Promise<void> => undefined,
    stopping: async (): Promise<void> => undefined,
  };
  const services = {
    ...{ clock, store, onError: (incident: unknown) => void incidents.push(incident) },
    agentEvents: {
      show: (_userId: string, event: PublishedAgentEvent) => given.show(event),
      async listen(_sessionId: string, listener: (event: PublishedAgentEvent) => void) {
        await given.starting();
        listeners.add(listener);
        return async () => {
          listeners.delete(listener);
          await given.stopping();
        };
      },
    },
  } as unknown as RealtimeServices;
  const socket = new FakeSocket();
  const connection = connect(socket as unknown as WebSocket, services, () => given.identify());
  const receive = (frame: object, isBinary = false) =>
    socket.emit('message', Buffer.from(JSON.stringify(frame)), isBinary);
  const query = (action: string) =>
    receive({ action, data: { query: 'session', filters: { sessionId: SESSION } } });
  const settle = async () => {
    for (let count = 0; count < 5; count += 1) await turn();
  };
  return {
    ...{ clock, incidents, listeners, given, socket, connection, receive, settle },
    beat: (count: number) => {
      for (let at = 0; at < count; at += 1) receive({ action: 'heartbeat' });
    },
    async subscribe() {
      query('subscribe_query');
      await settle();
    },
    async unsubscribe() {
      query('unsubscribe_query');
      await settle();
    },
    publish(count = 1) {
      const event = { type: 'agent_thinking', sessionId: SESSION, agents: [] } as unknown;
      for (let at = 0; at < count; at += 1)
        for (const listener of listeners) listener(event as PublishedAgentEvent);
    },
  };
}

/** Work that goes on when the test says. */
function hold() {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { held, release };
}

describe('events of a connection', () => {
  it('are delivered as the user may see them, also after a failure, which is reported', async () => {
    const { given, socket, incidents, subscribe, publish, settle } = await setUp();
    await subscribe();
    const error = new Error('away');
    given.show = () => Promise.reject(error);
    publish();
    await settle();
    given.show = async () => undefined;
    publish();
    await settle();
    given.show = async (event) => event;
    publish();
    await settle();
    expect(incidents).toEqual([{ operation: 'realtime', requestId: '', error }]);
    expect(socket.sent.map((text) => JSON.parse(text).type)).toEqual(['agent_thinking']);
  });

  it('end with their subscription, and begin with the next one', async () => {
    const { socket, listeners, subscribe, unsubscribe, publish, settle } = await setUp();
    await subscribe();
    await subscribe();
    expect(listeners.size).toBe(1);
    await unsubscribe();
    expect(listeners.size).toBe(0);
    await subscribe();
    publish();
    await settle();
    expect(socket.sent).toHaveLength(1);
  });

  it('may be 256 that wait: one more closes the socket', async () => {
    const { given, socket, subscribe, publish, settle } = await setUp();
    await subscribe();
    for (let round = 1; round <= 2; round += 1) {
      const { held, release } = hold();
      given.show = async (event) => {
        await held;
        return event;
      };
      publish();
      await settle();
      publish(256);
      release();
      await settle();
      expect([socket.sent.length, socket.closes]).toEqual([round * 257, []]);
    }
    given.show = () => new Promise(() => undefined);
    publish();
    await settle();
    publish(257);
    expect(socket.closes).toEqual([SLOW]);
  });

  it('are not sent when the socket closes while they are looked up, nor are those behind them', async () => {
    const { given, socket, listeners, subscribe, publish, settle } = await setUp();
    await subscribe();
    const { held, release } = hold();
    let shown = 0;
    given.show = async (event) => {
      shown += 1;
      await held;
      return event;
    };
    publish(3);
    await settle();
    socket.emit('close');
    release();
    await settle();
    expect([socket.sent, shown, listeners.size]).toEqual([[], 1, 0]);
  });

  it('are not subscribed to once the socket is closed, and a failure of that is reported', async () => {
    const { given, socket, listeners, incidents, subscribe, settle } = await setUp();
    const { held, release } = hold();
    const error = new Error('away');
    given.starting = () => held;
    given.stopping = () => Promise.reject(error);
    await subscribe();
    socket.emit('close');
    release();
    await settle();
    expect([listeners.size, incidents]).toEqual([0, [{ operation: 'realtime', requestId: '', error }]]);
  });

  it('end with a failure that is reported', async () => {
    const { given, incidents, subscribe, unsubscribe } = await setUp();
    const error = new Error('away');
    given.stopping = () => Promise.reject(error);
    await subscribe();
    await unsubscribe();
    expect(incidents).toEqual([{ operation: 'realtime', requestId: '', error }]);
  });
});

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
