import { createServer } from 'node:http';
import { createApi, createDemoProvider, createServices, toNodeListener } from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createPostgresDatabase, createSqlPorts } from '@questline/sql';
import pg from 'pg';
import { serve } from '../child.ts';

/** One process of a workspace on the migrated PostgreSQL database at `BENCH_DATABASE`, with a model that answers at once. */
const clock = createSystemClock();
const ids = createIds({ clock });
const pool = new pg.Pool({
  connectionString: process.env.BENCH_DATABASE,
  max: Number(process.env.BENCH_POOL ?? 10),
  idleTimeoutMillis: 0,
});
const database = createPostgresDatabase({ pool });
const services = createServices(
  { ...createSqlPorts(database, { clock, ids, listen: true }), models: [createDemoProvider()], clock, ids },
  { jwtSecret: 'b'.repeat(64), admin: { DefaultAPIModel: 'demo-echo' } },
);
const api = createApi(services);
await api.start();

serve(createServer(toNodeListener(api)));
