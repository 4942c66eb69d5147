import { limiterSuite, realTime } from '@questline/testing';
import { Redis } from 'ioredis';
import { afterAll, describe, expect, it } from 'vitest';
import { freshPrefix, REDIS_URL, removeKeys } from '../../../test/support/redis-server.ts';
import { createRedisLimiter } from '../src/index.ts';

const MINUTE = { name: 'minute', limit: 5, lengthMs: 60_000 };
const DAY = { name: 'day', limit: 5, lengthMs: 86_400_000 };

describe.skipIf(REDIS_URL === undefined)('rate limiter on Redis', () => {
  const url = REDIS_URL ?? '';
  const run = freshPrefix();
  const client = new Redis(url);
  const other = new Redis(url);
  let made = 0;
  const fresh = () => {
    made += 1;
    // A busy machine is slow, not unavailable.
    return { client, prefix: `${run}-${made}`, timeoutMs: 10_000 };
  };
  afterAll(async () => {
    await removeKeys(client, run);
    await Promise.all([client.quit(), other.quit()]);
  });

  limiterSuite({
    name: 'Redis',
    create: async () => {
      const options = fresh();
      return {
        limiter: createRedisLimiter(options),
        peers: [createRedisLimiter({ ...options, client: other })],
        time: realTime({ unit: 400 }),
      };
    },
  });

  it('deletes a key when its last window has ended, in any order of windows', async () => {
    const options = fresh();
    const limiter = createRedisLimiter(options);
    await limiter.take('1', [MINUTE, DAY], 0);
    await limiter.take('1', [{ ...MINUTE, name: 'hour', lengthMs: 3_600_000 }], 0);
    await limiter.take('2', [MINUTE], 0);

    const day = await client.pttl(`${options.prefix}:limiter:{1}`);
    expect(day).toBeGreaterThan(DAY.lengthMs - 60_000);
    expect(day).toBeLessThanOrEqual(DAY.lengthMs);
    const minute = await client.pttl(`${options.prefix}:limiter:{2}`);
    expect(minute).toBeGreaterThan(0);
    expect(minute).toBeLessThanOrEqual(MINUTE.lengthMs);
  });

  it('stores nothing for a key that was only peeked or rejected', async () => {
    const options = fresh();
    const limiter = createRedisLimiter(options);
    await limiter.peek('1', [MINUTE], 0);
    await limiter.take('1', [{ ...MINUTE, limit: 0 }], 0);

    expect(await client.exists(`${options.prefix}:limiter:{1}`)).toBe(0);
  });

  it('uses the time of the server, not of the client', async () => {
    const limiter = createRedisLimiter(fresh());
    const minute = { ...MINUTE, limit: 1 };
    await limiter.take('1', [minute], 0);

    const refused = await limiter.take('1', [minute], Date.now() + 10 * DAY.lengthMs);
    expect(refused.allowed).toBe(false);
    expect(refused.refusedBy?.resetAt).toBeLessThan(Date.now() + 2 * MINUTE.lengthMs);
  });

  it('starts from zero and reloads its script after a flush', async () => {
    const options = fresh();
    const changes: unknown[] = [];
    const limiter = createRedisLimiter({ ...options, onStateChange: (change) => changes.push(change) });
    const windows = [{ ...MINUTE, limit: 1 }];
    await limiter.take('1', windows, 0);
    await removeKeys(client, options.prefix);
    await client.script('FLUSH');

    expect((await limiter.take('1', windows, 0)).allowed).toBe(true);
    expect((await limiter.take('1', windows, 0)).allowed).toBe(false);
    expect(changes).toEqual([]);
  });

  it('counts several keys in this process while Redis is unavailable', async () => {
    const away = { isCluster: false, call: () => Promise.reject(new Error('away')), duplicate: () => away };
    const limiter = createRedisLimiter({ client: away });
    const takes = ['1', '2'].map((key) => ({ key, windows: [{ ...MINUTE, limit: 1 }] }));
    const taken = async () => (await limiter.takeAll?.(takes, 0))?.map(({ allowed }) => allowed);
    expect(await taken()).toEqual([true, true]);
    expect(await taken()).toEqual([false]);
  });

  it('sends one command for several keys', async () => {
    const options = fresh();
    let sent = 0;
    const counting = {
      isCluster: false,
      duplicate: () => counting,
      call(command: string, ...parts: (string | number)[]) {
        sent += 1;
        return client.call(command, ...parts);
      },
    };
    const limiter = createRedisLimiter({ ...options, client: counting });
    await limiter.take('1', [MINUTE], 0);
    sent = 0;
    const takes = ['1', '2', '3'].map((key) => ({ key, windows: [MINUTE] }));
    expect(await limiter.takeAll?.(takes, 0)).toHaveLength(3);
    expect(sent).toBe(1);
  });

  it('leaves the client of the host unchanged', async () => {
    const own = new Redis(url, { keyPrefix: 'theirs:', stringNumbers: true });
    await own.ping();
    const before = { names: Object.keys(own).sort(), events: own.eventNames() };
    const limiter = createRedisLimiter({ ...fresh(), client: own });

    const { windows } = await limiter.take('1', [MINUTE, DAY], 0);
    expect(windows).toMatchObject([{ remaining: 4 }, { remaining: 4 }]);
    expect(windows[0]?.resetAt).toBeTypeOf('number');
    expect({ names: Object.keys(own).sort(), events: own.eventNames() }).toEqual(before);
    await removeKeys(client, 'theirs:questline-test');
    await own.quit();
  });
});
