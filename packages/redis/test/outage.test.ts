import { setTimeout as sleep } from 'node:timers/promises';
import type { RateLimiter } from '@questline/core/ports';
import { createTcpProxy, type TcpProxy } from '@questline/testing';
import { Redis, type RedisOptions } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { freshPrefix, REDIS_URL, removeKeys } from '../../../test/support/redis-server.ts';
import { createRedisLimiter, type RedisStateChange } from '../src/index.ts';
import { startOwnServer } from './own-server.ts';

/** Maximum latency of a call. */
const ANSWER_MS = 500;
/** Maximum time until counts are shared again after Redis has recovered. */
const RETURN_MS = 5000;

const WINDOWS = [
  { name: 'minute', limit: 5, lengthMs: 60_000 },
  { name: 'day', limit: 1000, lengthMs: 86_400_000 },
];

type ClientOptions = Pick<
  RedisOptions,
  'db' | 'enableOfflineQueue' | 'lazyConnect' | 'retryStrategy' | 'socketTimeout'
>;

/** The options that `docs/operating/redis.md` recommends. */
const ADVISED: ClientOptions = { retryStrategy: (times) => Math.min(times * 100, 1000), socketTimeout: 2000 };

describe.skipIf(REDIS_URL === undefined)('rate limiter while Redis is unavailable', () => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  /** One process behind the failing network, and one beside it. */
  const connect = (
    port: number,
    direct: string | number = REDIS_URL ?? '',
    more: ClientOptions = ADVISED,
  ) => {
    const prefix = freshPrefix();
    const client = new Redis({ port, host: '127.0.0.1', ...more });
    const beside = typeof direct === 'string' ? new Redis(direct) : new Redis({ port: direct });
    client.on('error', () => undefined);
    beside.on('error', () => undefined);
    ends.push(async () => {
      await removeKeys(beside, prefix);
      beside.disconnect();
      client.disconnect();
    });
    const changes: RedisStateChange[] = [];
    const limiter = createRedisLimiter({ client, prefix, onStateChange: (change) => changes.push(change) });
    const other = createRedisLimiter({ client: beside, prefix, timeoutMs: 10_000 });
    return { limiter, other, changes, client, beside, prefix };
  };

  const behindProxy = async (more = ADVISED) => {
    const target = new URL(REDIS_URL ?? '');
    const db = Number(target.pathname.slice(1));
    const proxy = await createTcpProxy({ host: target.hostname, port: Number(target.port) || 6379 });
    ends.push(() => proxy.close());
    return { proxy, ...connect(proxy.port, undefined, { ...more, db }) };
  };

  type Pair = { readonly limiter: RateLimiter; readonly other: RateLimiter };

  const isExact = async ({ limiter, other }: Pair, key: string): Promise<boolean> => {
    const takes = [limiter, other, limiter, other, limiter, other, limiter, other];
    const decisions = await Promise.all(takes.map((one) => one.take(key, WINDOWS, Date.now())));
    return decisions.filter(({ allowed }) => allowed).length === 5;
  };

  /** Calls as in a service: some in parallel, then sequential ones. */
  const callsWhileAway = async ({ limiter }: Pair) => {
    let slowest = 0;
    const timed = async (key: string) => {
      const start = performance.now();
      const decision = await limiter.take(key, WINDOWS, Date.now());
      slowest = Math.max(slowest, performance.now() - start);
      return decision.allowed;
    };
    const together = await Promise.all(Array.from({ length: 20 }, () => timed('together')));
    const inTurn: boolean[] = [];
    for (let at = 0; at < 20; at += 1) {
      inTurn.push(await timed('in turn'));
      await sleep(20);
    }
    const count = (answers: readonly boolean[]) => answers.filter(Boolean).length;
    return { slowest, together: count(together), inTurn: count(inTurn) };
  };

  const expectBack = async (pair: Pair & { changes: readonly RedisStateChange[] }, what: string) => {
    const start = performance.now();
    for (let at = 0; pair.changes.length < 2; at += 1) {
      expect(performance.now() - start).toBeLessThan(RETURN_MS);
      await pair.limiter.peek(`look ${at}`, WINDOWS, Date.now());
      await sleep(50);
    }
    expect(await isExact(pair, 'after')).toBe(true);
    const tookMs = Math.round(performance.now() - start);
    expect(tookMs).toBeLessThan(RETURN_MS);
    expect(pair.changes.map(({ state }) => state)).toEqual(['away', 'back']);
    return `${what}: exact again ${tookMs} ms after its return`;
  };

  const FAULTS: Record<string, { break(proxy: TcpProxy): unknown; mend(proxy: TcpProxy): unknown }> = {
    refused: { break: (proxy) => proxy.refuse(), mend: (proxy) => proxy.accept() },
    frozen: { break: (proxy) => proxy.freeze(), mend: (proxy) => proxy.unfreeze('revive') },
    'frozen, its connections lost': {
      break: (proxy) => proxy.freeze(),
      mend: (proxy) => proxy.unfreeze('lose'),
    },
  };

  it.each(Object.keys(FAULTS))('%s', async (name) => {
    const fault = FAULTS[name];
    const set = await behindProxy();
    expect(await isExact(set, 'before')).toBe(true);

    await fault?.break(set.proxy);
    const { slowest, together, inTurn } = await callsWhileAway(set);
    expect({ together, inTurn }).toEqual({ together: 5, inTurn: 5 });
    expect(slowest).toBeLessThan(ANSWER_MS);
    expect(set.changes).toMatchObject([{ state: 'away', error: expect.any(Error) }]);

    await fault?.mend(set.proxy);
    const report = await expectBack(set, name);
    console.log(
      `${report}; slowest answer while away ${Math.round(slowest)} ms; ${set.changes.length} changes reported`,
    );
  });

  it('limits each process alone when Redis was never available', async () => {
    const proxy = await createTcpProxy({ host: '127.0.0.1', port: 1 });
    ends.push(() => proxy.close());
    const set = connect(proxy.port);
    const { slowest, together } = await callsWhileAway(set);
    expect(together).toBe(5);
    expect(slowest).toBeLessThan(ANSWER_MS);
    expect(set.changes).toHaveLength(1);
  });

  it('answers at once for a client without an offline queue', async () => {
    const set = await behindProxy({ ...ADVISED, enableOfflineQueue: false, lazyConnect: true });
    await set.client.connect();
    await set.proxy.refuse();
    const { slowest } = await callsWhileAway(set);
    expect(slowest).toBeLessThan(ANSWER_MS);
    await set.proxy.accept();
    await expectBack(set, 'without a queue');
  });

  it('shares the first calls again after a long silence', async () => {
    // Without a queue the last probe was rejected, and no probe is pending that could detect the recovery.
    const set = await behindProxy({ ...ADVISED, enableOfflineQueue: false, lazyConnect: true });
    await set.client.connect();
    await isExact(set, 'before');
    await set.proxy.refuse();
    await callsWhileAway(set);
    await set.proxy.accept();
    await sleep(2500);
    expect(await isExact(set, 'silent')).toBe(true);
    expect(set.changes.map(({ state }) => state)).toEqual(['away', 'back']);
  });

  it('treats a closed client as unavailable and neither opens nor closes it', async () => {
    const set = await behindProxy();
    await isExact(set, 'before');
    await set.client.quit();
    const { slowest, together } = await callsWhileAway(set);
    expect(together).toBe(5);
    expect(slowest).toBeLessThan(ANSWER_MS);
    expect(set.client.status).toBe('end');
  });

  it('treats a read-only replica as unavailable until it accepts writes', async ({ skip }) => {
    const { hostname, port } = new URL(REDIS_URL ?? '');
    const server = await startOwnServer('--replicaof', hostname, port || '6379');
    if (server === undefined) return skip('there is no redis-server here');
    ends.push(() => server.close());
    const set = connect(server.port, server.port);
    const { slowest, together, inTurn } = await callsWhileAway(set);
    expect({ together, inTurn }).toEqual({ together: 5, inTurn: 5 });
    expect(slowest).toBeLessThan(ANSWER_MS);
    expect(set.changes).toHaveLength(1);
    expect(String(set.changes[0]?.error)).toContain('READONLY');

    const operator = new Redis({ port: server.port });
    await operator.replicaof('NO', 'ONE');
    await operator.quit();
    console.log(await expectBack(set, 'read-only'));
  });

  it('starts from zero after a flush and stays available', async ({ skip }) => {
    const server = await startOwnServer();
    if (server === undefined) return skip('there is no redis-server here');
    ends.push(() => server.close());
    const set = connect(server.port, server.port);
    expect(await isExact(set, 'before')).toBe(true);
    await set.beside.flushall();
    await set.beside.script('FLUSH');
    const start = performance.now();
    expect(await isExact(set, 'before')).toBe(true);
    expect(performance.now() - start).toBeLessThan(ANSWER_MS);
    expect(set.changes).toEqual([]);
  });
});
