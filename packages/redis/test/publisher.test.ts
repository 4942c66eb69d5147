import { setTimeout as sleep } from 'node:timers/promises';
import { createTcpProxy, publisherSuite, realTime } from '@questline/testing';
import { Redis } from 'ioredis';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { freshPrefix, REDIS_URL, removeKeys } from '../../../test/support/redis-server.ts';
import { createRedisPublisher, type RedisStateChange } from '../src/index.ts';
import { startOwnServer } from './own-server.ts';

describe.skipIf(REDIS_URL === undefined)('publisher on Redis', () => {
  const url = REDIS_URL ?? '';
  const run = freshPrefix();
  const client = new Redis(url);
  const other = new Redis(url);
  let made = 0;
  const fresh = () => {
    made += 1;
    return { client, prefix: `${run}-${made}`, timeoutMs: 10_000 };
  };
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  afterAll(async () => {
    await removeKeys(client, run);
    await Promise.all([client.quit(), other.quit()]);
  });

  const connect = (to: string | number, more: { keyPrefix?: string } = {}) => {
    const options = { retryStrategy: () => 100, ...more };
    const opened = typeof to === 'string' ? new Redis(to, options) : new Redis({ port: to, ...options });
    opened.on('error', () => undefined);
    ends.push(() => opened.disconnect());
    return opened;
  };
  const getConnections = async (name: string) => {
    const list = String(await client.client('LIST'));
    return list.split('\n').filter((line) => line.includes(` name=${name} `)).length;
  };

  publisherSuite({
    name: 'Redis',
    create: async () => {
      const options = fresh();
      return {
        publisher: createRedisPublisher(options),
        peers: [createRedisPublisher({ ...options, client: other })],
        time: realTime({ unit: 400 }),
      };
    },
  });

  it('opens one connection while it has listeners, and no other', async () => {
    const options = fresh();
    const own = new Redis(url, { connectionName: options.prefix });
    ends.push(() => own.disconnect());
    const publisher = createRedisPublisher({ ...options, client: own });
    await publisher.publish('a', 'before');
    expect(await getConnections(options.prefix)).toBe(1);

    const listening = [
      await publisher.subscribe('a', () => undefined),
      await publisher.subscribe('b', () => undefined),
    ];
    expect(await getConnections(options.prefix)).toBe(2);

    for (const end of listening) await end();
    await vi.waitFor(async () => expect(await getConnections(options.prefix)).toBe(1));
    expect(own.status).toBe('ready');
  });

  it('listens on the subscriber of the host and leaves it unchanged', async () => {
    const options = fresh();
    const subscriber = connect(url);
    const theirs: string[] = [];
    subscriber.on('message', (channel: string, message: string) => theirs.push(`${channel} ${message}`));
    await subscriber.subscribe(`${options.prefix} theirs`);
    const events = subscriber.eventNames().map((name) => [name, subscriber.listenerCount(name)]);
    const publisher = createRedisPublisher({ ...options, subscriber });
    const heard: string[] = [];

    const end = await publisher.subscribe('a', (message) => heard.push(message));
    await createRedisPublisher({ ...options, client: other }).publish('a', 'ours');
    await vi.waitFor(() => expect(heard).toEqual(['ours']));
    await end();
    await other.publish(`${options.prefix} theirs`, 'still');

    await vi.waitFor(() => expect(theirs).toContain(`${options.prefix} theirs still`));
    expect(subscriber.eventNames().map((name) => [name, subscriber.listenerCount(name)])).toEqual(events);
    expect(subscriber.status).toBe('ready');
  });

  it('works with clients that prefix their keys', async () => {
    const options = fresh();
    const publisher = createRedisPublisher({ ...options, client: connect(url, { keyPrefix: 'theirs:' }) });
    const heard: string[] = [];
    ends.push(await publisher.subscribe('a', (message) => heard.push(message)));
    await createRedisPublisher(options).publish('a', 'hello');
    await vi.waitFor(() => expect(heard).toEqual(['hello']));
  });

  it('reports a subscription that the server rejects', async ({ skip }) => {
    const server = await startOwnServer();
    if (server === undefined) return skip('there is no redis-server here');
    ends.push(() => server.close());
    const operator = connect(server.port);
    await operator.call('ACL', 'SETUSER', 'default', 'resetchannels');
    const publisher = createRedisPublisher({ client: connect(server.port) });
    await expect(publisher.subscribe('a', () => undefined)).rejects.toThrow(/NOPERM/);
  });

  const FAULTS = ['refused', 'frozen', 'frozen, its connections lost'] as const;

  it.each(FAULTS)(
    'delivers at once to this process while Redis is %s, and to all afterwards',
    async (fault) => {
      const target = new URL(url);
      const proxy = await createTcpProxy({ host: target.hostname, port: Number(target.port) || 6379 });
      ends.push(() => proxy.close());
      const { prefix } = fresh();
      const behind = new Redis({ port: proxy.port, retryStrategy: () => 100, socketTimeout: 1500 });
      behind.on('error', () => undefined);
      ends.push(() => behind.disconnect());
      const changes: RedisStateChange[] = [];
      const publisher = createRedisPublisher({
        client: behind,
        prefix,
        onStateChange: (change) => changes.push(change),
      });
      const beside = createRedisPublisher({ client, prefix });
      const here: string[] = [];
      const there: string[] = [];
      ends.push(await publisher.subscribe('a', (message) => here.push(message)));
      ends.push(await beside.subscribe('a', (message) => there.push(message)));

      await (fault === 'refused' ? proxy.refuse() : proxy.freeze());
      let slowest = 0;
      for (let at = 0; at < 10; at += 1) {
        const start = performance.now();
        await publisher.publish('a', `away ${at}`);
        slowest = Math.max(slowest, performance.now() - start);
      }
      // A new subscription would show the client that its connection is dead; without one, it must be
      // detected.
      if (fault !== 'frozen, its connections lost') {
        const start = performance.now();
        ends.push(await publisher.subscribe('b', (message) => here.push(message)));
        slowest = Math.max(slowest, performance.now() - start);
      }
      expect(slowest).toBeLessThan(500);
      expect(here).toHaveLength(10);
      expect(changes).toHaveLength(1);

      if (fault === 'refused') await proxy.accept();
      else proxy.unfreeze(fault === 'frozen' ? 'revive' : 'lose');
      here.splice(0);
      await vi.waitFor(
        async () => {
          await publisher.publish('a', 'back');
          for (const topic of ['a', 'b']) await beside.publish(topic, `heard on ${topic}`);
          await sleep(50);
          expect(there).toContain('back');
          expect(here).toContain('heard on a');
          if (fault !== 'frozen, its connections lost') expect(here).toContain('heard on b');
        },
        { timeout: 5000 },
      );
      expect(changes.map(({ state }) => state)).toEqual(['away', 'back']);
    },
  );
});
