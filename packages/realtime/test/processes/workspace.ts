import { COLLECTIONS, createServices } from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createRealtime } from '@questline/realtime';
import { createRedisPublisher } from '@questline/redis';
import { createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';
import { Redis } from 'ioredis';

export interface Address {
  readonly path: string;
  readonly url: string;
  readonly prefix: string;
}

/** Services as each process on one database and one Redis creates them. */
export async function openWorkspace({ path, url, prefix }: Address) {
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const database = createSqliteDatabase({ path, timeoutMs: 10_000 });
  await migrate(database, { collections: COLLECTIONS });
  const client = new Redis(url);
  const services = createServices(
    {
      ...createSqlPorts(database, { clock, ids }),
      publisher: createRedisPublisher({ client, prefix, timeoutMs: 10_000 }),
      models: [],
      clock,
      ids,
    },
    { jwtSecret: 'a'.repeat(64) },
  );
  const realtime = createRealtime(services);
  return {
    services,
    realtime,
    async close() {
      await realtime.close();
      await services.authenticator.close();
      await database.close();
      await client.quit();
    },
  };
}
