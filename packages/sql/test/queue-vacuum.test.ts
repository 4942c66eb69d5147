import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import {
  createPostgresDatabase,
  createSqlQueue,
  migrate,
  type PostgresPool,
  type SqlDatabase,
} from '../src/index.ts';
import { createVacuum } from '../src/queue/vacuum.ts';
import { POSTGRES, POSTGRES_URL } from './engines.ts';

const VACUUM = 'vacuum (skip_locked, index_cleanup, truncate off) "questline_jobs"';

/** A client whose claims find as many jobs as they may take, and whose vacuums end when the test says so. */
function createClient() {
  const vacuums: { end(): void; fail(): void }[] = [];
  const query = async (text: string, values?: unknown[]) => {
    if (text.startsWith('vacuum')) {
      expect(text).toBe(VACUUM);
      await new Promise<void>((resolve, reject) => {
        vacuums.push({ end: resolve, fail: () => reject(new Error('the disk is full')) });
      });
      return { rows: [] };
    }
    const limit = Number(values?.[7]);
    return { rows: Array.from({ length: limit }, (_, at) => toRow(at)) };
  };
  return { query, vacuums };
}

const toRow = (at: number) => ({
  ...{ pending: false, sequence: at, id: `j${at}`, kind: 'work', owner: '', payload: '{}', key: `k${at}` },
  ...{ run_at: 1, attempt: 1, fence: 1, lease_until: 2 },
});

function open(how: 'pool' | 'connection') {
  const { query, vacuums } = createClient();
  const pool: PostgresPool = {
    connect: async () => ({ query: ({ text, values }) => query(text, values), release: () => {} }),
  };
  const database = createPostgresDatabase(how === 'pool' ? { pool } : { connection: { query } });
  const queue = createSqlQueue(database, { clock: createFakeClock(), ids: createFakeIds(), claimEveryMs: 0 });
  const lease = (limit: number) => queue.lease({ kinds: ['work'], limit, leaseMs: 60_000 });
  return { vacuums, lease };
}

/** Lets what was answered go on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('the table of jobs on PostgreSQL', () => {
  it('is cleaned after each 1,000 leased jobs', async () => {
    const { lease, vacuums } = open('pool');
    await lease(600);
    await lease(399);
    await settle();
    expect(vacuums).toHaveLength(0);
    await lease(1);
    await settle();
    expect(vacuums).toHaveLength(1);
    vacuums[0]?.end();
    await settle();
    await lease(999);
    await settle();
    expect(vacuums).toHaveLength(1);
    await lease(1);
    await settle();
    expect(vacuums).toHaveLength(2);
  });

  it('is not cleaned twice at once, and claims do not wait for it', async () => {
    const { lease, vacuums } = open('pool');
    await lease(1000);
    expect(await lease(1000)).toHaveLength(1000);
    expect(await lease(10)).toHaveLength(10);
    await settle();
    expect(vacuums).toHaveLength(1);
    vacuums[0]?.end();
    await settle();
    await lease(1);
    await settle();
    expect(vacuums).toHaveLength(2);
  });

  it('is cleaned within a minute', async () => {
    const options: unknown[] = [];
    const connection = { query: async () => ({ rows: [] }) };
    const inner = createPostgresDatabase({ connection });
    const vacuum = createVacuum({
      ...inner,
      listen: () => () => undefined,
      run(statement, more) {
        options.push(more);
        return inner.run(statement);
      },
    });
    vacuum(1000);
    await settle();
    expect(options).toEqual([{ timeoutMs: 60_000 }]);
  });

  it('is cleaned the next time if the server fails once', async () => {
    const { lease, vacuums } = open('pool');
    await lease(1000);
    await settle();
    vacuums[0]?.fail();
    await settle();
    await lease(1000);
    await settle();
    expect(vacuums).toHaveLength(2);
  });

  it('is not cleaned on a single connection, which may be in a transaction', async () => {
    const { lease, vacuums } = open('connection');
    await lease(1000);
    await lease(1000);
    await settle();
    expect(vacuums).toHaveLength(0);
  });

  it.skipIf(POSTGRES_URL === undefined)('is cleaned by a real server', async () => {
    const engine = await POSTGRES.open();
    const vacuums: Promise<unknown>[] = [];
    const database: SqlDatabase = {
      ...engine.database,
      run(statement, options) {
        const answer = engine.database.run(statement, options);
        if (statement.sql.startsWith('vacuum')) vacuums.push(answer);
        return answer;
      },
    };
    try {
      await migrate(database, { collections: [] });
      const queue = createSqlQueue(database, { clock: createFakeClock(), ids: createFakeIds() });
      const jobs = Array.from({ length: 1000 }, (_, at) => ({ kind: 'work', payload: {}, key: `k${at}` }));
      await Promise.all(jobs.map((job) => queue.enqueue(job)));
      expect(await queue.lease({ kinds: ['work'], limit: 1000, leaseMs: 60_000 })).toHaveLength(1000);
      expect(vacuums).toHaveLength(1);
      await vacuums[0];
    } finally {
      await engine.close();
    }
  });
});
