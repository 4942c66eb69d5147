import type { CallOptions, RateLimiter } from '@questline/core/ports';
import type { SqlDatabase, SqliteDatabase } from './database.ts';
import { createPostgresTake, type Take } from './limiter/postgres.ts';
import { getState, type OpenWindows, takeSlots, toDecision } from './limiter/windows.ts';
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
  const takeFrom =
    database.dialect === 'sqlite' ? createSqliteTake(database) : createPostgresTake(database, now);
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
  let takes = 0;

  return {
    async take(key, windows, at, options) {
      if (windows.length === 0) return { allowed: true, windows: [] };
      takes += 1;
      if (takes % TAKES_PER_SWEEP === 0) await run(sweep({ now: at }), options);
      return takeFrom(key, windows, at, options);
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

/** A transaction with an exclusive lock. */
function createSqliteTake({ dialect, names, immediate }: SqliteDatabase): Take {
  const table = names.table('rateWindows');
  const read = defineStatement<'key'>(dialect, `select windows, ends_at from ${table} where key = @key`);
  const write = defineStatement<'key' | 'windows' | 'endsAt'>(
    dialect,
    `insert into ${table} (key, windows, allowed, ends_at) values (@key, @windows, 1, @endsAt)
     on conflict (key) do update set windows = excluded.windows, ends_at = excluded.ends_at`,
  );

  return (key, windows, at, options) =>
    immediate((run) => {
      const now = at ?? 0;
      const [row] = run(read({ key }));
      const open = row === undefined ? {} : fromJson<OpenWindows>(row.windows);
      const allowed = windows.every((window) => getState(open, window, now).remaining > 0);
      if (!allowed) return toDecision(false, open, windows, now, options?.report);
      const next = takeSlots(open, windows, now);
      const endsAt = Math.max(...Object.values(next).map(([resetAt]) => resetAt));
      run(write({ key, windows: JSON.stringify(next), endsAt }));
      return toDecision(true, next, windows, now, options?.report);
    }, options);
}
