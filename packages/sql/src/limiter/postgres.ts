import type { RateDecision, RateWindow, TakeOptions } from '@questline/core/ports';
import type { PostgresDatabase } from '../database.ts';
import { defineStatement, toNumber } from '../statement.ts';
import { fromJson } from '../store/json.ts';
import { type OpenWindows, toDecision } from './windows.ts';

export type Take = (
  key: string,
  windows: readonly RateWindow[],
  now: number | null,
  options: TakeOptions | undefined,
) => Promise<RateDecision>;

/**
 * One statement. `on conflict` waits for the row, reads its current version, and stores in it whether this call was
 * allowed, so it cannot return the decision of another call.
 */
export function createPostgresTake({ dialect, names, run }: PostgresDatabase, now: string): Take {
  const table = names.table('rateWindows');
  const asked = `unnest(cast(@names as text[]), cast(@limits as bigint[]), cast(@lengths as bigint[])) as asked (name, slots, length)`;
  const take = defineStatement<'key' | 'names' | 'limits' | 'lengths' | 'now'>(
    dialect,
    `insert into ${table} as kept (key, windows, allowed, ends_at)
     select @key, jsonb_object_agg(name, jsonb_build_array(${now} + length, 1)), true, max(${now} + length)
     from ${asked}
     on conflict (key) do update set (allowed, windows, ends_at) = (
       select bool_and(is_free),
         case when bool_and(is_free) then kept.windows || jsonb_object_agg(name, jsonb_build_array(next_end, next_used))
           else kept.windows end,
         case when bool_and(is_free) then greatest(kept.ends_at, max(next_end)) else kept.ends_at end
       from (
         select name,
           not is_open or used < slots as is_free,
           case when is_open then ends else ${now} + length end as next_end,
           case when is_open then used + 1 else 1 end as next_used
         from (
           select name, slots, length,
             cast(kept.windows -> name ->> 0 as bigint) as ends,
             cast(kept.windows -> name ->> 1 as bigint) as used,
             coalesce(cast(kept.windows -> name ->> 0 as bigint) > ${now}, false) as is_open
           from ${asked}
         ) state
       ) step
     )
     returning allowed, cast(windows as text) as windows, ${now} as now`,
  );

  return async (key, windows, at, options) => {
    const values = {
      names: windows.map(({ name }) => name),
      limits: windows.map(({ limit }) => limit),
      lengths: windows.map(({ lengthMs }) => lengthMs),
    };
    const [row = {}] = await run(take({ key, ...values, now: at }), options);
    const open = fromJson<OpenWindows>(row.windows);
    return toDecision(row.allowed === true, open, windows, toNumber(row.now), options?.report);
  };
}
