import { type CallOptions, type RateLimiter, takeInTurn } from '@questline/core/ports';
import type { SqlDatabase } from './database.ts';
import { createPostgresTakes } from './limiter/postgres.ts';
import { createSqliteTakes } from './limiter/sqlite.ts';
import { getState, type OpenWindows } from './limiter/windows.ts';
import { defineStatement, toNumber } from './statement.ts';
import { fromJson } from './store/json.ts';

export interface SqlLimiterOptions {
  /**
   * The clock in use. `caller` (default): the `now` of each call; processes whose clocks differ may open a window that
   * much earlier or later, never twice. `database`: the server's, PostgreSQL only.
   */
  readonly time?: 'caller' | 'database';
}

export interface SqlLimiter extends RateLimiter {
  /** Deletes keys whose windows have all ended. `take` also does so now and then. @returns their number. */
  sweep(now: number, options?: CallOptions): Promise<number>;
}

const TAKES_PER_SWEEP = 500;
const MAX_SWEPT = 1000;

/** Rate limit windows in a table: exact across all processes that share it. */
export function createSqlLimiter(
  database: SqlDatabase,
  { time = 'caller' }: SqlLimiterOptions = {},
): SqlLimiter {
  const { dialect, names, run } = database;
  if (time === 'database' && dialect === 'sqlite') throw new TypeError('SQLite has no time of its own');
  const table = names.table('rateWindows');
  const now =
    dialect === 'sqlite'
      ? '@now'
      : time === 'caller'
        ? 'cast(@now as bigint)'
        : `cast(extract(epoch from statement_timestamp()) * 1000 as bigint)`;
  const takes =
    database.dialect === 'sqlite' ? createSqliteTakes(database) : createPostgresTakes(database, now);
  const look = defineStatement<'key' | 'now'>(
    dialect,
    `select ${now} as now, (select cast(windows as text) from ${table} where key = @key) as windows`,
  );
  const sweep = defineStatement<'now'>(
    dialect,
    `delete from ${table} where key in (
       select key from ${table} where ends_at <= ${now} order by ends_at limit ${MAX_SWEPT}
       ${dialect === 'sqlite' ? '' : 'for update skip locked'}
     ) returning key`,
  );
  let calls = 0;
  const sweepNowAndThen = async (at: number, options: CallOptions | undefined): Promise<void> => {
    calls += 1;
    if (calls % TAKES_PER_SWEEP === 0) await run(sweep({ now: at }), options);
  };

  const take: RateLimiter['take'] = async (key, windows, at, options) => {
    if (windows.length === 0) return { allowed: true, windows: [] };
    await sweepNowAndThen(at, options);
    return takes.one(key, windows, at, options);
  };

  return {
    take,

    async takeAll(keyed, at, options) {
      const isPlain = keyed.length < 2 || keyed.some(({ windows }) => windows.length === 0);
      if (isPlain) return takeInTurn({ take }, keyed, at, options);
      await sweepNowAndThen(at, options);
      return takes.all(keyed, at, options);
    },

    async peek(key, windows, at, options) {
      const [row = {}] = await run(look({ key, now: at }), options);
      const open = fromJson<OpenWindows | null>(row.windows) ?? {};
      return windows.map((window) => getState(open, window, toNumber(row.now)));
    },

    async sweep(at, options) {
      let swept = 0;
      for (;;) {
        const { length } = await run(sweep({ now: at }), options);
        swept += length;
        if (length < MAX_SWEPT) return swept;
      }
    },
  };
}
