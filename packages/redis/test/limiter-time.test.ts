import { createFakeClock, fakeTime, limiterSuite } from '@questline/testing';
import { Redis } from 'ioredis';
import { afterAll, describe, expect, it } from 'vitest';
import { freshPrefix, REDIS_URL, removeKeys } from '../../../test/support/redis-server.ts';
import { createRedisLimiter, type RedisClient } from '../src/index.ts';

/** Gives scripts another time, their last argument, in which nothing expires by itself. */
const OTHER_TIME = `
local server = redis
local redis = {
  call = function(command, ...)
    local now = tonumber(ARGV[#ARGV])
    if command == 'TIME' then return { tostring(math.floor(now / 1000)), tostring(now % 1000 * 1000) } end
    if command == 'PEXPIREAT' then return 1 end
    return server.call(command, ...)
  end,
}
`;

function atTime(client: Redis, now: () => number): RedisClient {
  const other: RedisClient = {
    isCluster: false,
    duplicate: () => other,
    async call(command, ...parts) {
      // So that the source of the script is sent.
      if (command === 'EVALSHA') throw Object.assign(new Error('NOSCRIPT'), { name: 'ReplyError' });
      const [source, ...values] = parts;
      return client.call(command, `${OTHER_TIME}${source}`, ...values, now());
    },
  };
  return other;
}

describe.skipIf(REDIS_URL === undefined)('rate limiter on Redis by another clock', () => {
  const prefix = freshPrefix();
  const client = new Redis(REDIS_URL ?? '');
  let made = 0;
  const create = () => {
    const clock = createFakeClock();
    made += 1;
    const options = { prefix: `${prefix}-${made}`, client: atTime(client, clock.now), timeoutMs: 10_000 };
    return { clock, limiter: createRedisLimiter(options) };
  };
  afterAll(async () => {
    await removeKeys(client, prefix);
    await client.quit();
  });

  limiterSuite({
    name: 'Redis',
    create: async () => {
      const { clock, limiter } = create();
      return { limiter, time: fakeTime(clock) };
    },
  });

  it('opens a window anew in the millisecond in which it ends', async () => {
    const { clock, limiter } = create();
    const windows = [{ name: 'minute', limit: 1, lengthMs: 60_000 }];
    const take = async () => (await limiter.take('1', windows, 0)).allowed;
    expect(await take()).toBe(true);
    await clock.advance(59_999);
    expect(await take()).toBe(false);
    await clock.advance(1);
    expect(await take()).toBe(true);
  });
});
