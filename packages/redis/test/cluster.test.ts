import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createRedisPorts } from '../src/index.ts';
import { freePort, type OwnServer, startOwnServer } from './own-server.ts';

/** Three nodes with a third of the slots each, so that every key is on exactly one of them. */
const SLOTS = [0, 5461, 10_923, 16_384];

const WINDOWS = [
  { name: 'minute', limit: 5, lengthMs: 60_000 },
  { name: 'day', limit: 1000, lengthMs: 86_400_000 },
];

describe('Redis cluster', () => {
  const folder = mkdtempSync(join(tmpdir(), 'questline-cluster-'));
  const servers: OwnServer[] = [];
  const buses: string[] = [];
  const clients: Cluster[] = [];

  beforeAll(async () => {
    for (const node of [0, 1, 2]) {
      const file = join(folder, `${node}.conf`);
      // The default bus port, 10,000 above the port, may not exist.
      const bus = String(await freePort());
      const server = await startOwnServer(
        ...['--cluster-enabled', 'yes', '--cluster-config-file', file, '--cluster-port', bus],
      );
      if (server === undefined) return;
      servers.push(server);
      buses.push(bus);
    }
    const operators = servers.map(({ port }) => new Redis({ port }));
    for (const [node, operator] of operators.entries()) {
      await operator.call('CLUSTER', 'ADDSLOTSRANGE', SLOTS[node] ?? 0, (SLOTS[node + 1] ?? 0) - 1);
      if (node > 0)
        await operator.call('CLUSTER', 'MEET', '127.0.0.1', servers[0]?.port ?? 0, buses[0] ?? '');
    }
    await vi.waitFor(
      async () => {
        for (const operator of operators) {
          const info = String(await operator.cluster('INFO'));
          expect(info).toContain('cluster_state:ok');
          expect(info).toContain('cluster_known_nodes:3');
        }
      },
      { timeout: 20_000, interval: 100 },
    );
    for (const operator of operators) await operator.quit();
  });
  afterAll(async () => {
    for (const client of clients) client.disconnect();
    for (const server of servers) await server.close();
    rmSync(folder, { recursive: true });
  });

  const connect = () => {
    const client = new Cluster(servers.map(({ port }) => ({ host: '127.0.0.1', port })));
    client.on('error', () => undefined);
    clients.push(client);
    return client;
  };

  it('counts, stores and publishes on every node as on one server', async ({ skip }) => {
    if (servers.length < 3) return skip('there is no redis-server here');
    const changes: unknown[] = [];
    const options = { timeoutMs: 10_000, onStateChange: (change: unknown) => changes.push(change) };
    const [client, other] = [connect(), connect()];
    const here = createRedisPorts({ ...options, client });
    const there = createRedisPorts({ ...options, client: other });

    for (let key = 0; key < 30; key += 1) {
      const takes = await Promise.all(
        Array.from({ length: 8 }, (_, at) =>
          (at % 2 === 0 ? here : there).limiter.take(`key:${key}`, WINDOWS, Date.now()),
        ),
      );
      expect(takes.filter(({ allowed }) => allowed)).toHaveLength(5);
      expect(await here.expiring.create(`record ${key}`, 'value', 60_000)).toBe(true);
      expect(await there.expiring.take(`record ${key}`)).toBe('value');
    }
    const several = Array.from({ length: 9 }, (_, at) => ({ key: `several:${at}`, windows: WINDOWS }));
    for (const used of [1, 2]) {
      const decisions = await here.limiter.takeAll?.(several, Date.now());
      expect(decisions?.map(({ windows }) => windows[0]?.remaining)).toEqual(Array(9).fill(5 - used));
    }
    const sizes = await Promise.all(client.nodes('master').map((node) => node.dbsize()));
    expect(Math.min(...sizes)).toBeGreaterThan(0);

    const listeners = () => client.eventNames().map((name) => [name, client.listenerCount(name)]);
    const before = listeners();
    const heard: string[] = [];
    const end = await here.publisher.subscribe('topic', (message) => heard.push(message));
    await there.publisher.publish('topic', 'hello');
    await vi.waitFor(() => expect(heard).toEqual(['hello']));
    await end();
    expect(listeners()).toEqual(before);
    expect(changes).toEqual([]);
  });
});
