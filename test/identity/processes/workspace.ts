import { COLLECTIONS, createApi, createServices, toFetchHandler } from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createRedisPublisher } from '@questline/redis';
import { createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';
import { Redis } from 'ioredis';

export interface Address {
  readonly path: string;
  readonly url: string;
  readonly prefix: string;
}

/** A complete service, as each process on one database and one Redis opens it. */
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
  const api = createApi(services);
  const handle = toFetchHandler(api);
  return {
    services,
    async ask(key: string): Promise<number | undefined> {
      const headers = { Authorization: `Bearer ${key}` };
      return (await handle(new Request('http://localhost/api/v1/me', { headers })))?.status;
    },
    async close() {
      await api.close();
      await database.close();
      await client.quit();
    },
  };
}
