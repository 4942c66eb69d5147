import { isStorageUnavailable } from '@questline/core/ports';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDeferred } from '../../../test/support/deferred.ts';
import { createPostgresDatabase, type PostgresOptions } from '../src/index.ts';
import { ScriptedPool, serverError } from './scripted-pool.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const ONE = { sql: 'select 1', parameters: [] };
const BEGIN =
  'begin isolation level serializable;set local statement_timeout = 4500;' +
  'set local idle_in_transaction_session_timeout = 4500';

function setUp(options: PostgresOptions = {}) {
  const pool = new ScriptedPool();
  const client = pool.give(async () => ({ rows: [{ a: 1 }] }));
  return { pool, client, database: createPostgresDatabase({ pool, ...options }) };
}

describe('a transaction on PostgreSQL', () => {
  it('has its limits at the server, and ends with a commit', async () => {
    const { client, database } = setUp();
    const answer = await database.transaction(({ run }) => run(ONE));
    expect(answer).toEqual([{ a: 1 }]);
    expect(client.texts).toEqual([BEGIN, 'select 1', 'commit']);
    expect(client.releases).toEqual([false]);
  });

  it('has the limits and the isolation of its call', async () => {
    const { client, database } = setUp();
    await database.transaction(async () => 1, { isolation: 'read committed', timeoutMs: 99.5 });
    expect(client.texts[0]).toBe(
      'begin isolation level read committed;set local statement_timeout = 100;' +
        'set local idle_in_transaction_session_timeout = 100',
    );
  });

  it('is rolled back when its work fails, and its connection is kept', async () => {
    const { client, database } = setUp();
    const failure = new Error('refused');
    const failed = database.transaction(async () => Promise.reject(failure));
    await expect(failed).rejects.toBe(failure);
    expect(client.texts).toEqual([BEGIN, 'rollback']);
    expect(client.releases).toEqual([false]);
  });

  it('keeps its connection until it is rolled back', async () => {
    const { client, database } = setUp();
    const rollback = createDeferred<{ rows: unknown[] }>();
    client.answer = (text) => (text === 'rollback' ? rollback.promise : Promise.resolve({ rows: [] }));
    const failed = database.transaction(async () => Promise.reject('refused')).catch((error) => error);
    await vi.advanceTimersByTimeAsync(10);
    expect([client.texts, client.releases]).toEqual([[BEGIN, 'rollback'], []]);
    rollback.resolve({ rows: [] });
    expect(await failed).toBe('refused');
    expect(client.releases).toEqual([false]);
  });

  it.each([BEGIN, 'select 1', 'commit'])('gives up on a lost connection at: %s', async (at) => {
    const { client, database } = setUp();
    client.answer = async (text) => {
      if (text === at) throw new Error('lost');
      return { rows: [] };
    };
    const failed = database.transaction(({ run }) => run(ONE));
    await expect(failed).rejects.toSatisfy(isStorageUnavailable);
    expect(client.texts.at(-1)).toBe(at);
    expect(client.releases).toEqual([true]);
  });

  it('is done again after a conflict at its end', async () => {
    const { pool, client, database } = setUp();
    client.answer = async (text) => {
      if (text === 'commit') throw serverError('40001');
      return { rows: [] };
    };
    const again = pool.give();
    const done = database.transaction(({ run }) => run(ONE));
    await vi.advanceTimersByTimeAsync(10);
    await done;
    expect(client.texts).toEqual([BEGIN, 'select 1', 'commit', 'rollback']);
    expect(again.texts).toEqual([BEGIN, 'select 1', 'commit']);
  });

  it('takes no connection for a caller that left after a conflict', async () => {
    const { pool, client, database } = setUp();
    client.answer = async () => {
      throw serverError('40001');
    };
    const leaving = new AbortController();
    const done = database.run(ONE, { signal: leaving.signal }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(0);
    leaving.abort('left');
    pool.give();
    await vi.advanceTimersByTimeAsync(10);
    expect([await done, pool.next.length]).toEqual(['left', 1]);
  });
});

describe('a statement', () => {
  const named = { sql: 'select $1', parameters: [5], name: 'questline_1' };
  const query = async (statement: { name?: string }, options: PostgresOptions = {}) => {
    const { client, database } = setUp(options);
    const spy = vi.spyOn(client, 'query');
    await database.run({ ...ONE, ...statement });
    return spy.mock.calls[0]?.[0];
  };

  it('is prepared under its name, unless the handle does not prepare', async () => {
    const sent = { text: 'select $1', values: [5] };
    expect(await query(named)).toStrictEqual({ ...sent, name: 'questline_1' });
    expect(await query(named, { prepare: false })).toStrictEqual(sent);
    expect(await query({})).toStrictEqual({ text: 'select 1', values: [] });
  });
});

it('sends nothing for a caller that left when its connection came', async () => {
  const { client, database } = setUp();
  const controller = new AbortController();
  client.on('newListener', () => controller.abort('left'));
  await expect(database.run(ONE, { signal: controller.signal })).rejects.toBe('left');
  expect([client.texts, client.releases]).toEqual([[], [false]]);
});

it('listens with a pool', () => {
  expect(setUp().database.listen).toBeTypeOf('function');
});

it.each([true, false])('reads from a replica as it reads from the primary, prepared: %s', async (prepare) => {
  const states: string[] = [];
  const open = () => {
    const pool = new ScriptedPool();
    const client = pool.give(async (text) => {
      if (text.includes('flush_lsn')) return { rows: [{ position: '0/1' }] };
      return { rows: [text.includes('is_in_recovery') ? { follows: true, reached: true } : {}] };
    });
    pool.connect = async () => client;
    return { pool, spy: vi.spyOn(client, 'query') };
  };
  const [primary, replica] = [open(), open()];
  const replicas = [{ pool: replica.pool, onState: (state: string) => void states.push(state) }];
  const { read } = createPostgresDatabase({ pool: primary.pool, replicas, prepare });
  await read?.({ ...ONE, name: 'questline_1' });
  expect(states).toEqual(['used']);
  const sent = { text: 'select 1', values: [], ...(prepare && { name: 'questline_1' }) };
  expect(replica.spy.mock.lastCall?.[0]).toStrictEqual(sent);
});

it('names tables with its prefix and schema', () => {
  const name = (options: PostgresOptions) => setUp(options).database.names.table('jobs');
  expect(name({})).toBe('"questline_jobs"');
  expect(name({ prefix: 'p_', schema: 's' })).toBe('"s"."p_jobs"');
});

describe('a single connection', () => {
  const connect = (more: { exec?(text: string): Promise<unknown> } = {}) => {
    const texts: string[] = [];
    const connection = {
      async query(text: string, values?: unknown[]) {
        texts.push([text, ...(values ?? [])].join(' '));
        return { rows: [] };
      },
      ...more,
    };
    return { texts, database: createPostgresDatabase({ connection }) };
  };

  it('does one call at a time', async () => {
    const { texts, database } = connect();
    const both = [
      database.transaction(({ run }) => run(ONE)),
      database.run({ sql: 'select $1', parameters: [2] }),
    ];
    await Promise.all(both);
    await database.run({ sql: 'select $1', parameters: [3] });
    expect(texts).toEqual([BEGIN, 'select 1', 'commit', 'select $1 2', 'select $1 3']);
    expect(database.listen).toBeUndefined();
    await database.close();
  });

  it('runs several statements in one text by its own way', async () => {
    const executed: string[] = [];
    const { texts, database } = connect({ exec: async (text) => executed.push(text) });
    await database.transaction(({ run }) => run(ONE));
    expect([texts, executed]).toEqual([['select 1'], [BEGIN, 'commit']]);
  });
});

it('stops to listen to the pools of its replicas when it is closed', async () => {
  const [primary, replica] = [new ScriptedPool(), new ScriptedPool()];
  const database = createPostgresDatabase({ pool: primary, replicas: [{ pool: replica }] });
  expect(database.read).toBeTypeOf('function');
  expect(createPostgresDatabase({ pool: primary }).read).toBeUndefined();
  expect(replica.listenerCount('error')).toBe(1);
  await database.close();
  expect(replica.listenerCount('error')).toBe(0);
});
