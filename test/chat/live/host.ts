import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createUser, issueApiKey, toNodeListener } from '@questline/core';
import { QUESTS } from '@questline/core/internal';
import { Redis } from 'ioredis';
import { type Engine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from '../../../packages/sql/test/engines.ts';
import { freshPrefix, REDIS_URL, removeKeys } from '../../support/redis-server.ts';
import { type ServerProcess, startServerProcess, stopServerProcess } from '../../support/server-process.ts';
import { type Address, type Answer, openWorkspace } from './workspace.ts';

const GRANT = 9_000_000_000_000;
const CHILD = join(import.meta.dirname, 'live.child.ts');

/** Where records and events are. */
export interface LiveEngine {
  readonly name: string;
  /** Whether other processes can open it. */
  readonly isShared: boolean;
  open(): Promise<{ readonly address: Pick<Address, 'engine' | 'redis'>; close(): Promise<void> }>;
}

export const MEMORY: LiveEngine = {
  name: 'memory',
  isShared: false,
  open: async () => ({ address: {}, close: async () => undefined }),
};

/** Engines that several processes share. */
export const SHARED_ENGINES: readonly LiveEngine[] = [
  onDatabase(SQLITE_FILE),
  ...(POSTGRES_URL === undefined ? [] : [onDatabase(POSTGRES)]),
  ...(REDIS_URL === undefined ? [] : [withRedisLog(SQLITE_FILE, REDIS_URL)]),
];

function onDatabase(kind: Engine): LiveEngine {
  return {
    name: kind.name,
    isShared: true,
    async open() {
      const engine = await kind.open();
      return { address: { engine: engine.address }, close: engine.close };
    },
  };
}

function withRedisLog(kind: Engine, url: string): LiveEngine {
  return {
    name: `a Redis log beside ${kind.name}`,
    isShared: true,
    async open() {
      const engine = await kind.open();
      const prefix = freshPrefix();
      return {
        address: { engine: engine.address, redis: { url, prefix } },
        async close() {
          const client = new Redis(url);
          await removeKeys(client, prefix);
          await client.quit();
          await engine.close();
        },
      };
    },
  };
}

/** A page for browsers: its script is at `/page.js`. */
export interface HostOptions {
  readonly answer: Answer;
  readonly script?: string;
  readonly onResponse?: (request: IncomingMessage, response: ServerResponse) => void;
}

/** The process that serves readers. Workers are other processes, without a shared publisher, where the engine permits. */
export async function openHost(kind: LiveEngine, { answer, script, onResponse }: HostOptions) {
  const engine = await kind.open();
  const folder = mkdtempSync(join(tmpdir(), 'questline-live-'));
  const calls = join(folder, 'calls');
  writeFileSync(calls, '');
  const address: Address = { ...engine.address, calls, answer };
  const errors: unknown[] = [];
  const here = await openWorkspace(address, (error) => errors.push(error));
  const { services, api } = here;
  const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('no user');
  const account = `user:${user.id}`;
  await services.ledger.grant({ account, amount: GRANT, key: 'start', reason: 'start' });
  const { key } = await issueApiKey(services, {
    userId: user.id,
    name: 'live',
    scopes: ['ai:chat', 'notebooks:read', 'notebooks:write'],
    requestsPerMinute: 1_000_000,
    requestsPerDay: 1_000_000,
  });
  const listen = toNodeListener(api);
  const server = createServer((request, response) => {
    onResponse?.(request, response);
    if (request.url === '/') {
      response.setHeader('content-type', 'text/html');
      const page =
        '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>';
      response.end(page);
    } else if (request.url === '/page.js') {
      response.setHeader('content-type', 'text/javascript');
      response.end(script);
    } else {
      // `EventSource` sends no `Authorization`: this host signs its page in by a cookie.
      const [, cookie] = /key=([^;]+)/.exec(request.headers.cookie ?? '') ?? [];
      if (cookie !== undefined) request.headers.authorization ??= `Bearer ${cookie}`;
      listen(request, response);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const quests = services.store.collection(QUESTS);
  const processes: ServerProcess[] = [];

  return {
    url,
    port,
    key,
    errors,
    quests,
    /** Starts another process that serves and works. */
    async startProcess(): Promise<ServerProcess> {
      const started = await startServerProcess(CHILD, address);
      processes.push(started);
      return started;
    },
    /** Starts a worker: in another process, if the engine permits. */
    async startWorker(): Promise<void> {
      if (kind.isShared) await this.startProcess();
      else await api.start();
    },
    /** Begins an answer. @returns the id of its quest. */
    async ask(): Promise<string> {
      const response = await fetch(`${url}/api/chat`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ message: 'Write', newConversation: true }),
      });
      return ((await response.json()) as { id: string }).id;
    },
    countCalls: () => readFileSync(calls, 'utf8').split('\n').length - 1,
    async countCharges(): Promise<number> {
      const entries = await services.ledger.entries(account, { limit: 100 });
      return entries.filter(({ kind: entry }) => entry === 'charge').length;
    },
    async close() {
      for (const one of processes) {
        if (one.child.exitCode === null && one.child.signalCode === null)
          await stopServerProcess(one, 'SIGKILL');
      }
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await api.close();
      await here.close();
      await engine.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Host = Awaited<ReturnType<typeof openHost>>;
