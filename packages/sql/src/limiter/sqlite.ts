import type { RateDecision, RateWindow } from '@questline/core/ports';
import type { SqliteDatabase } from '../database.ts';
import { defineStatement, type SqlRow, type SqlStatement } from '../statement.ts';
import { fromJson } from '../store/json.ts';
import type { Takes } from './takes.ts';
import { getState, type OpenWindows, takeSlots, toDecision } from './windows.ts';

type RunNow = (statement: SqlStatement) => readonly SqlRow[];

/** Each call is a transaction with an exclusive lock. */
export function createSqliteTakes({ dialect, names, immediate }: SqliteDatabase): Takes {
  const table = names.table('rateWindows');
  const read = defineStatement<'key'>(dialect, `select windows, ends_at from ${table} where key = @key`);
  const write = defineStatement<'key' | 'windows' | 'endsAt'>(
    dialect,
    `insert into ${table} (key, windows, allowed, ends_at) values (@key, @windows, 1, @endsAt)
     on conflict (key) do update set windows = excluded.windows, ends_at = excluded.ends_at`,
  );

  const takeNow = (
    run: RunNow,
    key: string,
    windows: readonly RateWindow[],
    now: number,
    report?: readonly RateWindow[],
  ): RateDecision => {
    const [row] = run(read({ key }));
    const open = row === undefined ? {} : fromJson<OpenWindows>(row.windows);
    const allowed = windows.every((window) => getState(open, window, now).remaining > 0);
    if (!allowed) return toDecision(false, open, windows, now, report);
    const next = takeSlots(open, windows, now);
    const endsAt = Math.max(...Object.values(next).map(([resetAt]) => resetAt));
    run(write({ key, windows: JSON.stringify(next), endsAt }));
    return toDecision(true, next, windows, now, report);
  };

  return {
    one: (key, windows, now, options) =>
      immediate((run) => takeNow(run, key, windows, now, options?.report), options),
    all: (takes, now, options) =>
      immediate((run) => {
        const decisions: RateDecision[] = [];
        for (const { key, windows } of takes) {
          const decision = takeNow(run, key, windows, now);
          decisions.push(decision);
          if (!decision.allowed) break;
        }
        return decisions;
      }, options),
  };
}
