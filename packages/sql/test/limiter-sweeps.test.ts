import { describe, expect, it } from 'vitest';
import { createSqlLimiter, type SqlDatabase } from '../src/index.ts';
import { SQLITE_MEMORY } from './engines.ts';
import { shareDatabase } from './shared.ts';

const SECOND = { name: 'second', limit: 5, lengthMs: 1000 };

describe('a limiter in a table', () => {
  const shared = shareDatabase(SQLITE_MEMORY);

  const create = async () => {
    const database = await shared.fresh();
    const limiter = createSqlLimiter(database);
    const count = async () => {
      const sql = `select count(*) as keys from ${database.names.table('rateWindows')}`;
      return Number((await database.run({ sql, parameters: [] }))[0]?.keys);
    };
    const fill = async (keys: number) => {
      for (let at = 0; at < keys; at += 1) await limiter.take(`key ${at}`, [SECOND], 0);
    };
    return { limiter, count, fill };
  };

  it('sweeps with every 500th take, or call for several keys', async () => {
    const { limiter, count, fill } = await create();
    await fill(1);
    for (let at = 0; at < 498; at += 1) await limiter.take('busy', [SECOND], 1000);
    expect(await count()).toBe(2);
    await limiter.take('busy', [SECOND], 1000);
    expect(await count()).toBe(1);
    const two = ['a', 'b'].map((key) => ({ key, windows: [SECOND] }));
    for (let at = 0; at < 499; at += 1) await limiter.takeAll?.(two, 1000);
    expect(await count()).toBe(3);
    await limiter.takeAll?.(two.slice(1), 3000);
    expect(await count()).toBe(1);
  });

  it('fails with the take, or call for several keys, whose sweep fails', async () => {
    const database = await shared.fresh();
    const run: SqlDatabase['run'] = (statement, options) =>
      statement.sql.startsWith('delete')
        ? Promise.reject(new Error('disk full'))
        : database.run(statement, options);
    const limiter = createSqlLimiter({ ...database, run });
    const takeUntilSweep = async (take: () => Promise<unknown> | undefined) => {
      for (let at = 0; at < 499; at += 1) await take();
      await expect(take()).rejects.toThrow('disk full');
    };
    await takeUntilSweep(() => limiter.take('a', [SECOND], 0));
    await takeUntilSweep(() =>
      limiter.takeAll?.(
        ['a', 'b'].map((key) => ({ key, windows: [SECOND] })),
        0,
      ),
    );
  });

  it('sweeps in steps of 1,000 keys, those whose windows have ended', async () => {
    const { limiter, count, fill } = await create();
    await fill(5);
    expect(await limiter.sweep(999)).toBe(0);
    expect(await limiter.sweep(1000)).toBe(5);
    expect([await limiter.sweep(1000), await count()]).toEqual([0, 0]);
  });

  it('needs no row for a take from no window', async () => {
    const { limiter, count } = await create();
    expect(await limiter.take('a', [], 0)).toEqual({ allowed: true, windows: [] });
    expect(
      await limiter.takeAll?.(
        ['a', 'b'].map((key) => ({ key, windows: [] })),
        0,
      ),
    ).toEqual([
      { allowed: true, windows: [] },
      { allowed: true, windows: [] },
    ]);
    expect(
      await limiter.takeAll?.(
        [
          { key: 'a', windows: [] },
          { key: 'b', windows: [SECOND] },
        ],
        0,
      ),
    ).toMatchObject([
      { allowed: true, windows: [] },
      { allowed: true, windows: [{ remaining: 4 }] },
    ]);
    expect(await limiter.peek('a', [SECOND], 7)).toEqual([
      { name: 'second', limit: 5, remaining: 5, resetAt: 1007 },
    ]);
    expect(await count()).toBe(1);
  });

  it('has no time of its own in SQLite', async () => {
    const database = await shared.fresh();
    expect(() => createSqlLimiter(database, { time: 'database' })).toThrow(TypeError);
  });
});
