import { isStorageUnavailable, StorageUnavailable } from '@questline/core/ports';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPostgresDatabase } from '../src/index.ts';
import { ScriptedPool, serverError } from './scripted-pool.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const ONE = { sql: 'select 1', parameters: [] };
const never = () => new Promise<never>(() => undefined);
const failWith = (error: unknown) => async () => {
  throw error;
};

function runOnce(answer: () => Promise<{ rows: unknown[] }>) {
  const pool = new ScriptedPool();
  const client = pool.give(answer);
  return { client, answer: createPostgresDatabase({ pool }).run(ONE) };
}

describe('an error', () => {
  const ofServer = ['08006', '53300', '57014', '57P01', '58030', '25006', '25P03'].map(serverError);
  const ofDriver = [
    new Error('the socket was closed'),
    Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('odd'), { severity: 'ERROR' }),
    serverError(5),
    'no error',
  ];

  it.each([...ofServer, ...ofDriver])('that says that the server is unavailable: %s', async (error) => {
    const { client, answer } = runOnce(failWith(error));
    await expect(answer).rejects.toSatisfy(isStorageUnavailable);
    await expect(answer).rejects.toMatchObject({ cause: error });
    expect(client.releases).toEqual([true]);
  });

  it.each([
    ...['23505', '25001', '42P01', '22012'].map(serverError),
    new TypeError('a value that the driver cannot send'),
    new RangeError('a number that the driver cannot send'),
    new StorageUnavailable('of a proxy'),
  ])('that says something else stays as it is: %s', async (error) => {
    await expect(runOnce(failWith(error)).answer).rejects.toBe(error);
  });
});

describe('a conflict with another transaction', () => {
  it.each(['40001', '40P01'])('is tried again: %s', async (code) => {
    const pool = new ScriptedPool();
    const losing = pool.give(failWith(serverError(code)));
    const winning = pool.give(async () => ({ rows: [{ a: 1 }] }));
    const answer = createPostgresDatabase({ pool }).run(ONE);
    await vi.advanceTimersByTimeAsync(100);
    expect(await answer).toEqual([{ a: 1 }]);
    expect([losing.releases, winning.releases]).toEqual([[false], [false]]);
  });

  it('is tried until the time of the call is over', async () => {
    const conflict = serverError('40001');
    const pool = new ScriptedPool();
    const database = createPostgresDatabase({ pool, timeoutMs: 200 });
    for (let at = 0; at < 500; at += 1) pool.give(failWith(conflict));
    const ended: unknown[] = [];
    const answer = database.run(ONE).catch((error: unknown) => ended.push(error));
    await vi.advanceTimersByTimeAsync(199);
    expect(ended).toEqual([]);
    await vi.advanceTimersByTimeAsync(2);
    await answer;
    expect(ended.map(isStorageUnavailable)).toEqual([true]);
    expect(ended).toMatchObject([{ cause: conflict }]);
    expect(500 - pool.next.length).toBeLessThan(100);
  });
});

describe('a statement without an answer', () => {
  it.each([
    { options: {}, call: {}, ms: 4500 },
    { options: { timeoutMs: 50 }, call: {}, ms: 50 },
    { options: { timeoutMs: 50 }, call: { timeoutMs: 20 }, ms: 20 },
  ])('fails after $ms ms, and its connection is closed', async ({ options, call, ms }) => {
    const pool = new ScriptedPool();
    const client = pool.give(never);
    const ended: unknown[] = [];
    const answer = createPostgresDatabase({ pool, ...options })
      .run(ONE, call)
      .catch((error: unknown) => ended.push(error));
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect([ended, client.releases]).toEqual([[], []]);
    await vi.advanceTimersByTimeAsync(1);
    await answer;
    expect(String(ended[0])).toContain(`a PostgreSQL statement took longer than ${ms} ms`);
    expect(client.releases).toEqual([true]);
  });
});

describe('statements that change the same row', () => {
  const statement = (sql: string, row: string) => ({ sql, parameters: [], row });

  it('run one after another, and those of other rows beside them', async () => {
    const pool = new ScriptedPool();
    const started: string[] = [];
    const ends = new Map<string, () => void>();
    for (let at = 0; at < 4; at += 1) {
      pool.give((text) => {
        started.push(text);
        return new Promise((resolve) => ends.set(text, () => resolve({ rows: [] })));
      });
    }
    const database = createPostgresDatabase({ pool });
    const calls = [statement('a1', 'a'), statement('a2', 'a'), statement('b1', 'b')].map((one) =>
      database.run(one),
    );
    await vi.advanceTimersByTimeAsync(0);
    expect(started).toEqual(['a1', 'b1']);
    ends.get('a1')?.();
    await calls[0];
    const last = database.run(statement('a3', 'a'));
    await vi.advanceTimersByTimeAsync(0);
    expect(started).toEqual(['a1', 'b1', 'a2']);
    ends.get('a2')?.();
    await calls[1];
    await vi.advanceTimersByTimeAsync(0);
    expect(started).toEqual(['a1', 'b1', 'a2', 'a3']);
    for (const end of ends.values()) end();
    await Promise.all([...calls, last]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('do not wait for one that failed, or that gave up', async () => {
    const pool = new ScriptedPool();
    const database = createPostgresDatabase({ pool, timeoutMs: 100 });
    pool.give(never);
    const leaving = new AbortController();
    const calls = [
      database.run(statement('a1', 'a')),
      database.run(statement('a2', 'a'), { timeoutMs: 50 }),
      database.run(statement('a3', 'a'), { signal: leaving.signal }),
    ].map((call) => call.catch((error: unknown) => error));
    await vi.advanceTimersByTimeAsync(10);
    leaving.abort('left');
    expect(await calls[2]).toBe('left');
    await vi.advanceTimersByTimeAsync(40);
    expect(String(await calls[1])).toContain('waiting for a busy row took longer than 50 ms');
    const fourth = database.run(statement('a4', 'a'));
    await vi.advanceTimersByTimeAsync(50);
    expect(isStorageUnavailable(await calls[0])).toBe(true);
    pool.give();
    pool.waiting[0]?.resolve(pool.next.shift() as never);
    await vi.advanceTimersByTimeAsync(0);
    expect(await fourth).toEqual([]);
  });
});
