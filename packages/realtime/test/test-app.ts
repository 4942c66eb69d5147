import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createServices,
  createUser,
  type Incident,
  issueApiKey,
  type Scope,
  type Services,
  type UserRecord,
} from '@questline/core';
import { type AgentEvent, SESSIONS, type SessionRecord } from '@questline/core/internal';
import {
  createMemoryLedger,
  createMemoryLimiter,
  createMemoryPublisher,
  createMemoryStore,
} from '@questline/core/memory';
import type { Identity, Publisher, Store } from '@questline/core/ports';
import { createRealtime, type Realtime } from '@questline/realtime';
import { createFakeClock, createFakeIds, type FakeClock } from '@questline/testing';
import { onTestFinished } from 'vitest';
import { type Client, openClient } from './client.ts';

export interface TestApp {
  readonly clock: FakeClock;
  readonly services: Services;
  readonly store: Store;
  readonly realtime: Realtime;
  readonly server: Server;
  /** `ws://` and the path. */
  readonly url: string;
  readonly incidents: Incident[];
  /** Active subscriptions of the publisher. */
  readonly subscriptions: number;
  addUser(name: string): Promise<UserRecord>;
  token(user: UserRecord): Promise<string>;
  key(
    user: UserRecord,
    scopes: readonly Scope[],
    expiresAt?: number,
  ): Promise<{ readonly key: string; readonly keyId: string }>;
  addSession(owner: UserRecord, more?: Partial<SessionRecord>): Promise<string>;
  /** Opens a socket with a token in the subprotocol. */
  open(token: string): Promise<Client>;
  /** Publishes an event of a session, as an answer does. */
  publish(sessionId: string, agents?: readonly string[]): void;
}

/** A server with only live updates and a manual clock. */
export async function createTestApp(
  options: { readonly store?: (store: Store) => Store; readonly identity?: Identity } = {},
): Promise<TestApp> {
  const clock = createFakeClock();
  const memory = createMemoryStore();
  const store = options.store?.(memory) ?? memory;
  const incidents: Incident[] = [];
  const publisher = counted(createMemoryPublisher());
  const created = createServices(
    {
      store,
      clock,
      publisher,
      ledger: createMemoryLedger({ clock }),
      limiter: createMemoryLimiter(),
      ids: createFakeIds(),
      models: [],
      ...(options.identity !== undefined && { identity: options.identity }),
    },
    { jwtSecret: 'a'.repeat(64), onError: (incident) => incidents.push(incident) },
  );
  // The tests cover the transport: every user may see every agent, whatever its ID.
  const agentEvents: Services['agentEvents'] = {
    ...created.agentEvents,
    show: async (_user, event) => event,
  };
  const services: Services = { ...created, agentEvents };
  const realtime = createRealtime(services);
  const server = createServer((_request, response) => response.end('the host')).listen(0, '127.0.0.1');
  realtime.attach(server);
  await once(server, 'listening');
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/api/realtime`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });

  return {
    clock,
    services,
    store,
    realtime,
    server,
    url,
    incidents,
    get subscriptions() {
      return publisher.active;
    },
    async addUser(name) {
      const user = await createUser(
        { ...services, store: memory },
        { email: `${name}@x.org`, username: name },
      );
      if (user === undefined) throw new Error(`a ${name} already exists`);
      return user;
    },
    token: ({ id, tokenVersion }) => services.tokens.sign({ id, tokenVersion, typ: 'access' }),
    async key({ id }, scopes, expiresAt) {
      const input = { userId: id, name: 'test', scopes, ...(expiresAt !== undefined && { expiresAt }) };
      const { key, record } = await issueApiKey({ ...services, store: memory }, input);
      return { key, keyId: record.id };
    },
    async addSession({ id: ownerId }, more = {}) {
      const id = services.ids.next();
      const now = clock.now();
      const session = { id, ownerId, name: 'test', firstCreated: now, lastUpdated: now, ...more };
      await memory.collection(SESSIONS).insert(session);
      return id;
    },
    open: (token) => openClient(url, [`access_token.${token}`]),
    publish: (sessionId, agents = ['a']) => services.agentEvents.publish(thinking(sessionId, agents)),
  };
}

export function thinking(sessionId: string, agents: readonly string[]): AgentEvent {
  return { type: 'agent_thinking', sessionId, agents };
}

function counted(publisher: Publisher): Publisher & { readonly active: number } {
  let active = 0;
  return {
    publish: publisher.publish,
    get active() {
      return active;
    },
    async subscribe(topic, listener) {
      const end = await publisher.subscribe(topic, listener);
      active += 1;
      let isEnded = false;
      return async () => {
        if (!isEnded) active -= 1;
        isEnded = true;
        await end();
      };
    },
  };
}
