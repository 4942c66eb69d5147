import type { ExpiringRecords } from '@questline/core/ports';
import { createLink, type RedisConnection, type RedisOptions } from './link.ts';

/**
 * Short-lived records that all processes on one Redis share; Redis expires them. Needs Redis 6.2 or later. While Redis is
 * unavailable, every call rejects with `StorageUnavailable`: one process cannot guarantee single use.
 */
export function createRedisExpiringRecords(options: RedisOptions): ExpiringRecords {
  return expiringOn(createLink(options));
}

export function expiringOn(link: RedisConnection): ExpiringRecords {
  const getName = (key: string) => link.getKey('expiring', key);
  const getText = (reply: unknown) => (reply === null ? undefined : String(reply));

  return {
    async create(key, value, lifeMs, options) {
      const name = getName(key);
      const made = await link.run(
        name,
        (client) => client.call('SET', name, value, 'PX', lifeMs, 'NX'),
        options,
      );
      return made !== null;
    },
    async get(key, options) {
      const name = getName(key);
      return getText(await link.run(name, (client) => client.call('GET', name), options));
    },
    async take(key, options) {
      const name = getName(key);
      return getText(await link.run(name, (client) => client.call('GETDEL', name), options));
    },
    async set(key, value, lifeMs, options) {
      const name = getName(key);
      await link.run(name, (client) => client.call('SET', name, value, 'PX', lifeMs), options);
    },
    async remove(key, options) {
      const name = getName(key);
      await link.run(name, (client) => client.call('DEL', name), options);
    },
  };
}
