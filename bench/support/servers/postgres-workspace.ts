import {
  COLLECTIONS,
  createDemoProvider,
  createServices,
  createUser,
  issueApiKey,
  type Services,
} from '@questline/core';
import { API_KEYS, hashSecret } from '@questline/core/internal';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createOpenAIProvider } from '@questline/providers/openai';
import { createPostgresDatabase, createSqlPorts, migrate, type PostgresDatabase } from '@questline/sql';
import { Pool } from 'pg';

/** Who sends a request. */
export interface Caller {
  readonly userId: string;
  readonly account: string;
  readonly keyId: string;
}

/** A migrated database with its callers, for both servers of the comparison. */
export interface PostgresWorkspace {
  readonly pool: Pool;
  readonly database: PostgresDatabase;
  readonly services: Services;
  readonly callers: readonly Caller[];
}

/**
 * Reads the database from DATABASE_URL, the provider from UPSTREAM, and the callers of a database that exists from CALLERS;
 * else it creates the database's tables and one caller.
 */
export async function openPostgresWorkspace(): Promise<PostgresWorkspace> {
  const pool = new Pool({
    connectionString: process.env.DATABASE_URL,
    max: Number(process.env.BENCH_POOL ?? 10),
    idleTimeoutMillis: 0,
  });
  const database = createPostgresDatabase({ pool });
  const { CALLERS } = process.env;
  if (CALLERS === undefined) await migrate(database, { collections: COLLECTIONS });
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const prices = { input: 1, output: 2 };
  const provider = createOpenAIProvider({
    protocol: 'chat',
    apiKey: 'upstream',
    baseUrl: process.env.UPSTREAM ?? '',
    models: [
      {
        ...{ id: 'gpt-bench', name: 'Bench', type: 'text', provider: 'openai', prices },
        ...{ contextWindow: 128_000, maxOutputTokens: 16_384, supportsStreaming: true },
      },
    ],
  });
  const services = createServices(
    { ...createSqlPorts(database, { clock, ids }), models: [provider, createDemoProvider()], clock, ids },
    {
      ...{ jwtSecret: 'b'.repeat(64), admin: { DefaultAPIModel: 'demo-echo' } },
      // One user sends all requests, and on a slow machine more of them wait than a user may have.
      admission: { maxWaiting: null, maxWaitingPerOwner: null },
    },
  );
  if (CALLERS !== undefined) return { pool, database, services, callers: JSON.parse(CALLERS) };
  const user = await createUser(services, { email: 'bench@example.com', username: 'bench' });
  if (user === undefined) throw new Error('no user');
  const account = `user:${user.id}`;
  await services.ledger.grant({ account, amount: 9e15, key: 'bench', reason: 'bench' });
  const { record } = await issueApiKey(services, {
    userId: user.id,
    name: 'bench',
    scopes: ['ai:chat', 'ai:generate', 'notebooks:read'],
    requestsPerMinute: 1e9,
    requestsPerDay: 1e9,
  });
  const hash = hashSecret(`svc_live_${'k'.repeat(43)}`);
  await services.store.collection(API_KEYS).update(record.id, { hash });
  return { pool, database, services, callers: [{ userId: user.id, account, keyId: record.id }] };
}
