import type { ExpiringRecords } from '@questline/core';
import { createLink, type RedisLink, type RedisOptions } from './link.ts';

/**
 * Short-lived records that all processes on one Redis share; it ends them itself. Needs Redis 6.2 or later. While Redis is
 * away every call rejects with `StorageUnavailable`: what must happen once cannot be decided in one process.
 */
export function createRedisExpiringRecords(options: RedisOptions): ExpiringRecords {
  return expiringOn(createLink(options));
}

export function expiringOn(link: RedisLink): ExpiringRecords {
  const nameOf = (key: string) => link.keyOf('expiring', key);
  const textOf = (reply: unknown) => (reply === null ? undefined : String(reply));

  return {
    async create(key, value, lifeMs, options) {
      const name = nameOf(key);
      const made = await link.run(
        name,
        (client) => client.call('SET', name, value, 'PX', lifeMs, 'NX'),
        options,
      );
      return made !== null;
    },
    async get(key, options) {
      const name = nameOf(key);
      return textOf(await link.run(name, (client) => client.call('GET', name), options));
    },
    async take(key, options) {
      const name = nameOf(key);
      return textOf(await link.run(name, (client) => client.call('GETDEL', name), options));
    },
    async set(key, value, lifeMs, options) {
      const name = nameOf(key);
      await link.run(name, (client) => client.call('SET', name, value, 'PX', lifeMs), options);
    },
    async remove(key, options) {
      const name = nameOf(key);
      await link.run(name, (client) => client.call('DEL', name), options);
    },
  };
}
