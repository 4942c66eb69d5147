import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { createPostgresDatabase, createSqliteDatabase, type SqlDatabase } from '../src/index.ts';

/** An empty, separate database that is removed by `close`. */
export interface OpenEngine {
  readonly database: SqlDatabase;
  /** The address by which another process opens the same database. */
  readonly address: EngineAddress;
  /**
   * Another handle on the same database, like that of another process; the same handle if only one is
   * possible.
   */
  peer(): SqlDatabase;
  close(): Promise<void>;
}

export type EngineAddress =
  | { readonly dialect: 'sqlite'; readonly path: string }
  | { readonly dialect: 'postgres'; readonly url: string; readonly schema: string };

export interface Engine {
  readonly name: string;
  open(): Promise<OpenEngine>;
}

const configured = process.env.QUESTLINE_TEST_POSTGRES_URL;
const url = configured ?? 'postgres://root@127.0.0.1:5432/test';
/** The test server needs no durability: without fsync the tests are faster and otherwise equal. */
const fastUrl = `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent('-c synchronous_commit=off')}`;

/** Many tests may share a slow machine; the outage tests check timeouts. */
const PATIENCE_MS = 20_000;

/** Undefined when no server is available: its tests are skipped with a message. */
export const POSTGRES_URL: string | undefined = await reach();

async function reach(): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  try {
    await client.connect();
    await client.end();
    return url;
  } catch (error) {
    if (configured !== undefined || process.env.CI === 'true') throw error;
    console.warn(
      'PostgreSQL does not answer on 127.0.0.1:5432: its tests do not run. Set QUESTLINE_TEST_POSTGRES_URL.',
    );
    return undefined;
  }
}

export const SQLITE_MEMORY: Engine = {
  name: 'SQLite in memory',
  async open() {
    const database = createSqliteDatabase({ path: ':memory:' });
    const address = { dialect: 'sqlite', path: ':memory:' } as const;
    return { database, address, peer: () => database, close: () => database.close() };
  },
};

export const SQLITE_FILE: Engine = {
  name: 'SQLite in a file',
  async open() {
    const folder = mkdtempSync(join(tmpdir(), 'questline-sql-'));
    const path = join(folder, 'questline.db');
    const opened = [createSqliteDatabase({ path })] as const;
    const peers: SqlDatabase[] = [...opened];
    return {
      database: opened[0],
      address: { dialect: 'sqlite', path },
      peer() {
        const peer = createSqliteDatabase({ path });
        peers.push(peer);
        return peer;
      },
      async close() {
        for (const database of peers) await database.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
};

/** One instance for all tests: starting it takes a second, a prefix takes no time. */
let pglite: PGlite | undefined;

const PGLITE: Engine = {
  name: 'PGlite',
  async open() {
    pglite ??= new PGlite();
    await pglite.waitReady;
    const prefix = `t${randomBytes(4).toString('hex')}_`;
    const database = createPostgresDatabase({ connection: pglite, prefix });
    return {
      database,
      address: { dialect: 'postgres', url: '', schema: '' },
      peer: () => database,
      close: () => database.close(),
    };
  },
};

export const POSTGRES: Engine = {
  name: 'PostgreSQL',
  async open() {
    const schema = `questline_test_${randomBytes(6).toString('hex')}`;
    const pools: pg.Pool[] = [];
    const connect = () => {
      const pool = new pg.Pool({ connectionString: fastUrl, max: 5, connectionTimeoutMillis: PATIENCE_MS });
      pools.push(pool);
      return createPostgresDatabase({ pool, schema, timeoutMs: PATIENCE_MS });
    };
    const database = connect();
    await database.run({ sql: `create schema ${schema}`, parameters: [] });
    return {
      database,
      address: { dialect: 'postgres', url: fastUrl, schema },
      peer: connect,
      async close() {
        await database.run({ sql: `drop schema if exists ${schema} cascade`, parameters: [] });
        await Promise.all(pools.map((pool) => pool.end()));
      },
    };
  },
};

export const ENGINES: readonly Engine[] = [
  SQLITE_MEMORY,
  SQLITE_FILE,
  PGLITE,
  ...(POSTGRES_URL === undefined ? [] : [POSTGRES]),
];
