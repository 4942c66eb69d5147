import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSqliteDatabase, type SqliteOptions } from '../src/index.ts';
import { ScriptedSqlite } from './scripted-sqlite.ts';

const ONE = { sql: 'select 1 as one', parameters: [] };

function createPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'questline-handle-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'questline.db');
}

async function select(options: SqliteOptions, sql: string, parameters: readonly unknown[] = []) {
  const database = createSqliteDatabase(options);
  try {
    const [row = {}] = await database.run({ sql, parameters });
    return Object.values(row);
  } finally {
    await database.close();
  }
}

describe('a handle on SQLite', () => {
  it('wants either a path or a database', () => {
    expect(() => createSqliteDatabase({})).toThrow(TypeError);
    const database = new ScriptedSqlite().database;
    expect(() => createSqliteDatabase({ path: ':memory:', database })).toThrow(TypeError);
  });

  it.each([
    [{}, 1],
    [{ durability: 'process' }, 1],
    [{ durability: 'power' }, 2],
  ] as const)('waits for the disk as the options say: %j', async (options, synchronous) => {
    const path = createPath();
    expect(await select({ path, ...options }, 'pragma synchronous')).toEqual([synchronous]);
    expect(await select({ path, ...options }, 'pragma journal_mode')).toEqual(['wal']);
    expect(await select({ path, ...options }, 'pragma busy_timeout')).toEqual([5]);
  });

  it('waits for other processes that open the file, and later no longer than 5 ms at once', async () => {
    const texts: string[] = [];
    const closed: string[] = [];
    const real = process.getBuiltinModule;
    onTestFinished(() => {
      process.getBuiltinModule = real;
    });
    const DatabaseSync = function open(path: string) {
      return {
        exec: (text: string) => texts.push(text),
        function: () => undefined,
        close: () => closed.push(path),
      };
    };
    process.getBuiltinModule = (() => ({ DatabaseSync })) as never;
    const database = createSqliteDatabase({ path: 'some.db' });
    expect(texts).toEqual([
      'pragma busy_timeout = 5000',
      'pragma journal_mode = wal',
      'pragma synchronous = normal',
      'pragma busy_timeout = 5',
    ]);
    await database.close();
    expect(closed).toEqual(['some.db']);
    process.getBuiltinModule = (() => undefined) as never;
    expect(() => createSqliteDatabase({ path: 'some.db' })).toThrow('Embedded SQLite needs Node 22.13');
  });

  it('leaves the connection of the host as it is, and open', async () => {
    const given = new DatabaseSync(':memory:');
    onTestFinished(() => given.close());
    const before = given.prepare('pragma busy_timeout').get();
    const database = createSqliteDatabase({ database: given });
    await database.close();
    expect(given.prepare('pragma busy_timeout').get()).toEqual(before);
    expect(given.isOpen).toBe(true);
    expect(await database.run(ONE)).toMatchObject([{ one: 1 }]);
  });

  it('can be closed twice, after the calls before it', async () => {
    const database = createSqliteDatabase({ path: ':memory:' });
    const before = database.transaction(({ run }) => run(ONE));
    await database.close();
    await database.close();
    expect(await before).toMatchObject([{ one: 1 }]);
    await expect(database.run(ONE)).rejects.toThrow();
  });

  it('binds truth values as numbers and lists as JSON', async () => {
    const values = [true, false, ['a', 'b'], null, 5, 'text'];
    expect(await select({ path: ':memory:' }, 'select ? a, ? b, ? c, ? d, ? e, ? f', values)).toEqual([
      1,
      0,
      '["a","b"]',
      null,
      5,
      'text',
    ]);
  });

  it('compares letters of every alphabet without their case', async () => {
    const sql =
      "select p_contains('ÄRGER', 'ärg') a, p_contains('Ärger', 'x') b, p_contains(null, 'x') c, p_contains(5, '5') d";
    expect(await select({ path: ':memory:', prefix: 'p_' }, sql)).toEqual([1, 0, 0, 0]);
  });

  it('keeps the 500 statements prepared that were used last', async () => {
    const engine = new ScriptedSqlite();
    const database = createSqliteDatabase({ database: engine.database });
    const run = (at: number) => database.run({ sql: `select ${at}`, parameters: [] });
    for (let at = 0; at < 500; at += 1) await run(at);
    await run(0);
    expect(engine.prepared).toHaveLength(500);
    await run(500);
    await run(0);
    await run(2);
    expect(engine.prepared).toHaveLength(501);
    await run(1);
    expect(engine.prepared).toHaveLength(502);
  });
});
