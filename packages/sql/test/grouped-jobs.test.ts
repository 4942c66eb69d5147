import { createFakeClock, createFakeIds } from '@questline/testing';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createPostgresDatabase, createSqlQueue } from '../src/index.ts';
import { POSTGRES, POSTGRES_URL } from './engines.ts';
import { recordPool } from './recorded-pool.ts';
import { shareDatabase } from './shared.ts';

const jobs = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ kind: 'work', key: `k${at}`, owner: 'ada', payload: { at } }));

describe.runIf(POSTGRES_URL !== undefined)('jobs that are added at once, on PostgreSQL', () => {
  const shared = shareDatabase(POSTGRES);

  /** A queue whose statements are recorded. @param before runs before each of them. */
  const open = async (before: (text: string) => unknown = () => undefined) => {
    const { names } = await shared.fresh();
    const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 3, connectionTimeoutMillis: 20_000 });
    const statements: string[] = [];
    const { schema = '' } = names;
    const database = createPostgresDatabase({
      pool: recordPool(pool, statements, before),
      schema,
      timeoutMs: 20_000,
    });
    const queue = createSqlQueue(database, { clock: createFakeClock(), ids: createFakeIds() });
    const lease = () => queue.lease({ kinds: ['work'], limit: 100, leaseMs: 1000 });
    return { queue, statements, lease, close: () => pool.end() };
  };

  it('share a statement with the others that come while four run', async () => {
    const { queue, statements, lease, close } = await open();
    const added = await Promise.all(jobs(40).map((job) => queue.enqueue(job)));
    expect(added.every((one) => one.added)).toBe(true);
    expect(statements).toHaveLength(5);
    const ids = new Map((await lease()).map(({ id, payload }) => [id, payload]));
    expect(added.map(({ id }) => ids.get(id))).toEqual(jobs(40).map(({ payload }) => payload));
    await close();
  });

  it('come in groups of at most 64', async () => {
    const { queue, statements, close } = await open();
    await Promise.all(jobs(130).map((job) => queue.enqueue(job)));
    expect(statements).toHaveLength(6);
    await close();
  });

  it('need no wait when they come one after the other', async () => {
    const { queue, statements, close } = await open();
    for (const job of jobs(3)) await queue.enqueue(job);
    expect(new Set(statements).size).toBe(1);
    expect(statements).toHaveLength(3);
    await close();
  });

  it('keep their results apart: a key that exists, and a key that comes twice', async () => {
    const { queue, lease, close } = await open();
    const first = await queue.enqueue({ kind: 'work', key: 'k2', payload: 'before' });
    const added = await Promise.all([...jobs(5), ...jobs(4)].map((job) => queue.enqueue(job)));
    const ids = new Map((await lease()).map(({ id, key }) => [key, id]));
    expect(added.map(({ id }) => id)).toEqual(
      [...jobs(5), ...jobs(4)].map(({ key }) => (key === 'k2' ? first.id : ids.get(key))),
    );
    expect(added.filter((one) => one.added)).toHaveLength(4);
    await close();
  });

  it('fail alone: an invalid job has no effect on the others of its statement', async () => {
    const { queue, lease, close } = await open();
    const invalid = { kind: 'work\0', key: 'invalid', payload: 'x' };
    const outcomes = await Promise.allSettled(
      [...jobs(6), invalid, ...jobs(9).slice(6)].map((job) => queue.enqueue(job)),
    );
    expect(outcomes.flatMap(({ status }, at) => (status === 'rejected' ? at : []))).toEqual([6]);
    expect((await lease()).map(({ key }) => key).sort()).toEqual(jobs(9).map(({ key }) => key));
    await close();
  });

  it('are not added when their caller leaves before the statement is sent', async () => {
    const { queue, lease, close } = await open();
    const leaving = new AbortController();
    const added = [
      ...jobs(4).map((job) => queue.enqueue(job, { signal: leaving.signal })),
      queue.enqueue({ kind: 'work', key: 'waiting', payload: 1 }, { signal: leaving.signal }),
      queue.enqueue({ kind: 'work', key: 'other', payload: 1 }),
    ];
    leaving.abort(new Error('left'));
    const [waiting, other] = (await Promise.allSettled(added)).slice(4);
    expect(waiting).toMatchObject({ status: 'rejected', reason: new Error('left') });
    expect(other?.status).toBe('fulfilled');
    expect((await lease()).map(({ key }) => key)).not.toContain('waiting');
    await close();
  });

  it('are all reported as uncertain when the engine is lost, and later ones are added', async () => {
    let isLost = false;
    const { queue, lease, close } = await open((text) => {
      if (isLost || !text.includes('jsonb_to_recordset')) return;
      isLost = true;
      throw new Error('connection lost');
    });
    const outcomes = await Promise.allSettled(jobs(7).map((job) => queue.enqueue(job)));
    expect(outcomes.slice(0, 4).map(({ status }) => status)).toEqual(Array(4).fill('fulfilled'));
    for (const outcome of outcomes.slice(4)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'StorageUnavailable' } });
    }
    expect(await queue.enqueue({ kind: 'work', key: 'later', payload: 1 })).toMatchObject({ added: true });
    expect((await lease()).map(({ key }) => key).sort()).toEqual(['k0', 'k1', 'k2', 'k3', 'later']);
    await close();
  });
});
