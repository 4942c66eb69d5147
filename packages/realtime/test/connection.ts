import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import type { Caller } from '@questline/core';
import { type PublishedAgentEvent, SESSIONS, type SessionRecord } from '@questline/core/internal';
import { createMemoryStore } from '@questline/core/memory';
import { createFakeClock } from '@questline/testing';
import type { WebSocket } from 'ws';
import { connect } from '../src/connection.ts';
import type { RealtimeServices } from '../src/realtime.ts';

const SESSION = 'a'.repeat(24);
/** How the socket of a slow reader is closed. */
export const SLOW = [1013, 'too much is waiting to be read'];

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

/** A connection over a fake socket, of a user whose session has events. */
export async function setUp() {
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
export function hold() {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { held, release };
}
