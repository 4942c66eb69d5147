import { isStorageUnavailable } from '@questline/core/ports';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDeferred } from '../../../test/support/deferred.ts';
import { watch } from '../../../test/support/watch.ts';
import { createSqliteDatabase } from '../src/index.ts';
import { ScriptedSqlite, sqliteError } from './scripted-sqlite.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.advanceTimersByTime(1000);
});
afterEach(() => void vi.useRealTimers());

const ONE = { sql: 'select 1', parameters: [] };
const BUSY = sqliteError(5);
const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);

function setUp(timeoutMs?: number) {
  const engine = new ScriptedSqlite();
  const options = timeoutMs === undefined ? {} : { timeoutMs };
  return { engine, database: createSqliteDatabase({ database: engine.database, ...options }) };
}

/** Fails the first statements of a text. */
function failFirst(engine: ScriptedSqlite, text: string, times: number, error: Error) {
  let left = times;
  engine.fail = (sent) => {
    if (sent !== text || left === 0) return undefined;
    left -= 1;
    return error;
  };
}

describe('an error of SQLite', () => {
  it.each([6, 8, 10, 13, 14, 778])('that says that the file cannot be used: %s', async (code) => {
    const { engine, database } = setUp();
    const error = sqliteError(code);
    engine.fail = () => error;
    const failed = database.run(ONE);
    await expect(failed).rejects.toSatisfy(isStorageUnavailable);
    await expect(failed).rejects.toMatchObject({ cause: error });
    expect(engine.texts).toHaveLength(1);
  });

  it.each([0, 1, 19, 2067, '10'])('that says something else stays as it is: %j', async (code) => {
    const { engine, database } = setUp();
    const error = sqliteError(code);
    engine.fail = () => error;
    await expect(database.run(ONE)).rejects.toBe(error);
    await expect(database.transaction(({ run }) => run(ONE))).rejects.toBe(error);
  });
});

describe('a file that another process writes', () => {
  it.each([5, 261])('is tried again: %s', async (code) => {
    const { engine, database } = setUp();
    failFirst(engine, 'select 1', 3, sqliteError(code));
    const ended = watch(database.run(ONE));
    await wait(50);
    expect([ended, engine.texts.length]).toEqual([[[]], 4]);
  });

  it('is tried again after pauses that grow', async () => {
    const chance = vi.spyOn(Math, 'random').mockReturnValue(1);
    onTestFinished(() => chance.mockRestore());
    const { engine, database } = setUp();
    failFirst(engine, 'select 1', 3, BUSY);
    const ended = watch(database.run(ONE));
    const counts: number[] = [];
    for (let ms = 0; ms < 10; ms += 1) {
      await wait(1);
      counts.push(engine.texts.length);
    }
    // 1.5, 2.5 and 4.5 ms; a faked timer takes whole ones.
    expect(counts).toEqual([2, 2, 3, 3, 3, 3, 4, 4, 4, 4]);
    expect(ended).toEqual([[]]);
  });

  it.each([
    { timeoutMs: undefined, call: {}, ms: 4500 },
    { timeoutMs: 80, call: {}, ms: 80 },
    { timeoutMs: 80, call: { timeoutMs: 30 }, ms: 30 },
  ])('is tried for $ms ms', async ({ timeoutMs, call, ms }) => {
    for (const verb of ['run', 'transaction', 'immediate'] as const) {
      const { engine, database } = setUp(timeoutMs);
      engine.fail = (text) => (text === 'rollback' ? undefined : BUSY);
      const calls = {
        run: () => database.run(ONE, call),
        transaction: () => database.transaction(({ run }) => run(ONE), call),
        immediate: () => database.immediate((run) => run(ONE), call),
      };
      const ended = watch(calls[verb]());
      await wait(ms - 1);
      expect(ended).toEqual([]);
      await wait(2);
      expect(ended.map(isStorageUnavailable)).toEqual([true]);
    }
  });

  it.each(['begin immediate', 'commit'])('is tried again at the %s of a transaction', async (text) => {
    const { engine, database } = setUp();
    failFirst(engine, text, 1, BUSY);
    const ended = watch(database.transaction(({ run }) => run(ONE)));
    await wait(50);
    expect(ended).toEqual([[]]);
    expect(engine.texts.filter((sent) => sent === text)).toHaveLength(2);
    expect(engine.texts.filter((sent) => sent === 'rollback')).toEqual([]);
  });

  it('gets no other statement before a transaction is committed', async () => {
    const { engine, database } = setUp();
    failFirst(engine, 'commit', 2, BUSY);
    const ended = [watch(database.transaction(async () => 1)), watch(database.run(ONE))];
    await wait(50);
    expect(engine.texts).toEqual(['begin immediate', 'commit', 'commit', 'commit', 'select 1']);
    expect(ended).toEqual([[1], [[]]]);
  });
});

describe('a transaction that fails', () => {
  const failure = new Error('refused');

  it('at its commit is rolled back', async () => {
    const { engine, database } = setUp();
    failFirst(engine, 'commit', 1, failure);
    await expect(database.transaction(async () => 1)).rejects.toBe(failure);
    expect(engine.texts).toEqual(['begin immediate', 'commit', 'rollback']);
  });
  const fail = () => Promise.reject(failure);

  it('is rolled back before the next statement', async () => {
    const { engine, database } = setUp();
    await expect(database.transaction(fail)).rejects.toBe(failure);
    await database.run(ONE);
    expect(engine.texts).toEqual(['begin immediate', 'rollback', 'select 1']);
  });

  it('is not rolled back again when the engine has done it', async () => {
    const { engine, database } = setUp();
    failFirst(engine, 'rollback', 1, sqliteError(1, 'cannot rollback - no transaction is active'));
    await expect(database.transaction(fail)).rejects.toBe(failure);
    await database.run(ONE);
    expect(engine.texts).toEqual(['begin immediate', 'rollback', 'select 1']);
  });

  it('and cannot end lets no statement run until it is rolled back', async () => {
    const { engine, database } = setUp();
    failFirst(engine, 'rollback', 3, sqliteError(10));
    await expect(database.transaction(fail)).rejects.toBe(failure);
    await expect(database.run(ONE)).rejects.toThrow('SQLite cannot end a failed transaction');
    await expect(database.transaction(({ run }) => run(ONE))).rejects.toSatisfy(isStorageUnavailable);
    expect(engine.texts).toEqual(['begin immediate', 'rollback', 'rollback', 'rollback']);
    await database.run(ONE);
    await database.run(ONE);
    expect(engine.texts.slice(4)).toEqual(['rollback', 'select 1', 'select 1']);
  });

  it('synchronously is rolled back, too', async () => {
    const { engine, database } = setUp();
    const done = database.immediate(() => {
      throw failure;
    });
    await expect(done).rejects.toBe(failure);
    expect(await database.immediate((run) => run(ONE))).toEqual([]);
    expect(engine.texts).toEqual(['begin immediate', 'rollback', 'begin immediate', 'select 1', 'commit']);
  });
});

describe('calls on one connection', () => {
  it('wait for a transaction until their time is over or their caller leaves', async () => {
    const { engine, database } = setUp();
    const work = createDeferred<number>();
    const first = watch(database.transaction(() => work.promise));
    await wait(0);
    const leaving = new AbortController();
    const others = [
      watch(database.run(ONE, { timeoutMs: 20 })),
      watch(database.run(ONE, { signal: leaving.signal })),
      watch(database.transaction(async () => 2, { signal: leaving.signal })),
      watch(database.immediate(() => 3, { signal: leaving.signal })),
      watch(database.run(ONE)),
    ];
    await wait(20);
    expect(String(others[0])).toContain('waiting for the SQLite connection took longer than 20 ms');
    leaving.abort('left');
    await wait(0);
    expect(others.slice(1)).toEqual([['left'], ['left'], ['left'], []]);
    work.resolve(1);
    await wait(0);
    expect([first, others[4]]).toEqual([[1], [[]]]);
    expect(engine.texts).toEqual(['begin immediate', 'commit', 'select 1']);
  });

  it('wait for a transaction for 4,500 ms', async () => {
    const { database } = setUp();
    const work = createDeferred<number>();
    const first = watch(database.transaction(() => work.promise));
    const waiting = watch(database.run(ONE));
    await wait(4500);
    expect(String(waiting[0])).toContain('took longer than 4500 ms');
    work.resolve(1);
    await wait(0);
    expect(first).toEqual([1]);
  });

  it('are not made for a caller that has left', async () => {
    const { engine, database } = setUp();
    const options = { signal: AbortSignal.abort('left') };
    await expect(database.run(ONE, options)).rejects.toBe('left');
    await expect(database.transaction(async () => 1, options)).rejects.toBe('left');
    await expect(database.immediate(() => 1, options)).rejects.toBe('left');
    expect(engine.texts).toEqual([]);
  });
});
