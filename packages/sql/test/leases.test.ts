import { getEventListeners } from 'node:events';
import { isStorageUnavailable } from '@questline/core/ports';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watch } from '../../../test/support/watch.ts';
import { createDeadline } from '../src/deadline.ts';
import { createPostgresDatabase } from '../src/index.ts';
import { createConnectionLeases, createPoolLeases } from '../src/postgres/leases.ts';
import { ScriptedClient, ScriptedPool, serverError } from './scripted-pool.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const ONE = { sql: 'select 1', parameters: [] };
const LOST = new Error('lost');
const lost = async () => {
  throw LOST;
};

describe('a connection of the pool', () => {
  it('goes back to the pool after a statement, also after one that fails', async () => {
    const pool = new ScriptedPool();
    const database = createPostgresDatabase({ pool });
    const fine = pool.give();
    await database.run(ONE);
    const failing = pool.give(async () => {
      throw serverError('42P01');
    });
    await expect(database.run(ONE)).rejects.toThrow('error 42P01');
    expect([fine.releases, failing.releases]).toEqual([[false], [false]]);
  });

  it('has a listener for its errors only while it is in use', async () => {
    const pool = new ScriptedPool();
    const client = pool.give(async () => {
      expect(client.listenerCount('error')).toBe(1);
      return { rows: [] };
    });
    await createPostgresDatabase({ pool }).run(ONE);
    expect(client.listenerCount('error')).toBe(0);
  });

  it('is closed after it was lost, with those that are as old', async () => {
    const pool = new ScriptedPool();
    const database = createPostgresDatabase({ pool });
    const [first, second] = [pool.give(lost), pool.give()];
    await expect(database.run(ONE)).rejects.toMatchObject({ cause: LOST });
    const early = new ScriptedClient();
    pool.next.push(early);
    const third = pool.give();
    await database.run(ONE);
    pool.next.push(third);
    await database.run(ONE);
    expect([first, second, early].map(({ releases }) => releases)).toEqual([[true], [true], [true]]);
    expect([first, second, early].map(({ texts }) => texts.length)).toEqual([1, 0, 0]);
    expect(third.releases).toEqual([false, false]);
  });

  it('counts as new when the pool has no events and it was not seen before', async () => {
    const clients = [new ScriptedClient(lost), new ScriptedClient()];
    const [first, second] = clients;
    const order = [second, first, second, second, new ScriptedClient(), clients[1]];
    const pool = { connect: async () => order.shift() ?? new ScriptedClient() };
    const database = createPostgresDatabase({ pool });
    await database.run(ONE);
    await database.run(ONE).catch(() => undefined);
    await database.run(ONE);
    expect(second?.releases).toEqual([false, true, true]);
    expect(order).toHaveLength(1);
  });

  it('that comes too late goes back to the pool', async () => {
    const pool = new ScriptedPool();
    const ended = watch(createPostgresDatabase({ pool }).run(ONE));
    await vi.advanceTimersByTimeAsync(4499);
    expect(ended).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ended.map(isStorageUnavailable)).toEqual([true]);
    expect(String(ended[0])).toContain('connecting to PostgreSQL took longer than 4500 ms');
    const late = new ScriptedClient();
    pool.waiting[0]?.resolve(late);
    await vi.advanceTimersByTimeAsync(0);
    expect([late.releases, late.texts]).toEqual([[undefined], []]);
  });

  it('that cannot be opened is an unavailable storage', async () => {
    const pool = new ScriptedPool();
    pool.next.push(LOST);
    const failed = createPostgresDatabase({ pool }).run(ONE);
    await expect(failed).rejects.toSatisfy(isStorageUnavailable);
    await expect(failed).rejects.toMatchObject({ cause: LOST });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is not waited for after the signal of a call', async () => {
    const pool = new ScriptedPool();
    const database = createPostgresDatabase({ pool });
    const leaving = new AbortController();
    const ended = watch(database.run(ONE, { signal: leaving.signal }));
    leaving.abort('left');
    await vi.advanceTimersByTimeAsync(0);
    expect(ended).toEqual(['left']);
    expect(getEventListeners(leaving.signal, 'abort')).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
    const late = new ScriptedClient();
    pool.waiting[0]?.resolve(late);
    await vi.advanceTimersByTimeAsync(0);
    expect([late.releases, late.texts]).toEqual([[undefined], []]);
    await expect(database.run(ONE, { signal: leaving.signal })).rejects.toBe('left');
    await expect(database.transaction(async () => 1, { signal: leaving.signal })).rejects.toBe('left');
    expect(pool.waiting).toHaveLength(1);
  });
});

it('is not asked for another connection by a caller that has left', async () => {
  const pool = new ScriptedPool();
  const leases = createPoolLeases(pool);
  const leaving = new AbortController();
  const lost = await leases.take(createDeadline(100), void pool.give());
  lost.end(true);
  const old = new ScriptedClient();
  old.release = () => leaving.abort('left');
  pool.next.push(old);
  await expect(leases.take(createDeadline(100), leaving.signal)).rejects.toBe('left');
  expect(pool.waiting).toEqual([]);
  leases.close();
});

it('has several statements in one text only where the connection has', async () => {
  const texts: string[] = [];
  const connection = {
    query: async () => ({ rows: [] }),
    async exec(text: string) {
      expect(this).toBe(connection);
      texts.push(text);
    },
  };
  const { client } = await createConnectionLeases(connection).take(createDeadline(100));
  await client.exec?.('select 1; select 2');
  expect(texts).toEqual(['select 1; select 2']);
  const plain = await createConnectionLeases({ query: connection.query }).take(createDeadline(100));
  expect(plain.client).not.toHaveProperty('exec');
});

it('listens to the pool until it is closed', async () => {
  const pool = new ScriptedPool();
  const database = createPostgresDatabase({ pool });
  const count = () => ['error', 'connect'].map((event) => pool.listenerCount(event));
  expect(count()).toEqual([1, 1]);
  expect(pool.emit('error', LOST)).toBe(true);
  await database.close();
  expect(count()).toEqual([0, 0]);
});

it.each([{}, { pool: new ScriptedPool(), connection: new ScriptedClient() as never }])(
  'wants either a pool or a connection',
  (options) => {
    expect(() => createPostgresDatabase(options)).toThrow(TypeError);
  },
);
