import type { RateWindow } from '@questline/core/ports';
import type { PostgresDatabase } from '../database.ts';
import { defineStatement, type SqlRow, type SqlValue, toNumber } from '../statement.ts';
import { fromJson } from '../store/json.ts';
import type { Takes } from './takes.ts';
import { type OpenWindows, toDecision } from './windows.ts';

/**
 * One statement. `on conflict` waits for the row, reads its current version, and stores in it whether this call was
 * allowed, so it cannot return the decision of another call.
 */
export function createPostgresTakes({ dialect, names, run }: PostgresDatabase, now: string): Takes {
  const table = names.table('rateWindows');
  /** @param at ends the names of the values. @param condition without which nothing is taken. */
  const wordTake = (at: number, condition: string): string => {
    const asked = `unnest(cast(@names${at} as text[]), cast(@limits${at} as bigint[]), cast(@lengths${at} as bigint[])) as asked (name, slots, length)`;
    return `insert into ${table} as kept (key, windows, allowed, ends_at)
     select @key${at}, jsonb_object_agg(name, jsonb_build_array(${now} + length, 1)), true, max(${now} + length)
     from ${asked} ${condition}
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
     returning allowed, cast(windows as text) as windows, ${now} as now`;
  };
  const take = defineStatement<string>(dialect, wordTake(0, ''));
  /** By the number of keys. */
  const takeSeveral = new Map<number, typeof take>();
  const getStatement = (count: number): typeof take => {
    const known = takeSeveral.get(count);
    if (known !== undefined) return known;
    const places = Array.from({ length: count }, (_, at) => at);
    const steps = places.map((at) => {
      const condition = at === 0 ? '' : `having (select allowed from take_${at - 1})`;
      return `take_${at} as (${wordTake(at, condition)})`;
    });
    const rows = places.map((at) => `select ${at} as place, allowed, windows, now from take_${at}`);
    const built = defineStatement<string>(
      dialect,
      `with ${steps.join(', ')} ${rows.join(' union all ')} order by place`,
    );
    takeSeveral.set(count, built);
    return built;
  };

  const toValues = (
    key: string,
    windows: readonly RateWindow[],
    at: number,
  ): readonly (readonly [string, SqlValue])[] => [
    [`key${at}`, key],
    [`names${at}`, windows.map(({ name }) => name)],
    [`limits${at}`, windows.map(({ limit }) => limit)],
    [`lengths${at}`, windows.map(({ lengthMs }) => lengthMs)],
  ];
  const read = (row: SqlRow, windows: readonly RateWindow[], report?: readonly RateWindow[]) =>
    toDecision(row.allowed === true, fromJson<OpenWindows>(row.windows), windows, toNumber(row.now), report);

  return {
    async one(key, windows, at, options) {
      const values = Object.fromEntries(toValues(key, windows, 0));
      const [row = {}] = await run({ ...take({ ...values, now: at }), row: `limit ${key}` }, options);
      return read(row, windows, options?.report);
    },
    async all(takes, at, options) {
      const values = takes.flatMap(({ key, windows }, place) => toValues(key, windows, place));
      const statement = getStatement(takes.length)({ ...Object.fromEntries(values), now: at });
      const rows = await run(statement, options);
      return rows.map((row, place) => read(row, takes[place]?.windows ?? []));
    },
  };
}
