import type { HoldRequest } from '@questline/core/ports';
import type { SqlNames } from '../names.ts';

/** The SQL of holds with further caps. Every statement locks the rows of caps in the order of their ids. */
export interface CapSql {
  /** Further CTEs of `hold`: adds the amounts of `@caps` for each row of `granted`. */
  readonly hold: string;
  /** Further CTEs of `settle`, after `ended` and `account`. */
  readonly settle: string;
  /** The same for the charges of `@ids`. */
  readonly settleAll: string;
  /** Further CTEs of `release`, after `hold` and `account`. */
  readonly release: string;
  /** Further CTEs of `lapse`, after `hold` and `account`. */
  readonly lapse: string;
}

export function createCapSql(names: SqlNames): CapSql {
  const caps = names.table('ledgerCaps');
  const holdCaps = names.table('ledgerHoldCaps');

  /** Changes the caps by the rows of `moved`: `id`, `charged` and `held`. */
  const move = `locked_cap as materialized (
       select id from ${caps} where id in (select id from moved) and exists (select 1 from account)
       order by id for update
     ), cap as (
       update ${caps} c set charged = c.charged + moved.charged, held = c.held + moved.held
       from moved, locked_cap where c.id = moved.id and c.id = locked_cap.id
     )`;

  return {
    hold: `wanted as materialized (
       select id, adds, cap_limit, unit
       from jsonb_to_recordset(cast(@caps as jsonb)) as one(id text, adds bigint, cap_limit bigint, unit text)
     ), locked_cap as materialized (
       select id, charged + held as used from ${caps}
       where id in (select id from wanted) and exists (select 1 from account)
       order by id for update
     ), fitting as materialized (
       select wanted.id, wanted.adds, wanted.unit from wanted join locked_cap on locked_cap.id = wanted.id
       where locked_cap.used + wanted.adds <= wanted.cap_limit
     ), granted as materialized (
       select 1 from account
       where (available >= cast(@amount as bigint) or cast(@ignoresBalance as boolean))
         and (select count(*) from fitting) = (select count(*) from wanted)
         and @isNew
     ), cap_held as (
       update ${caps} c set held = c.held + fitting.adds from granted, fitting where c.id = fitting.id
     ), hold_cap as (
       insert into ${holdCaps} (hold_id, cap_id, unit, amount)
       select @id, fitting.id, fitting.unit, fitting.adds from granted, fitting where fitting.unit is not null
     )`,
    settle: `hold_cap as (
       delete from ${holdCaps} hc using ended where hc.hold_id = @id returning hc.cap_id, hc.unit, hc.amount
     ), moved as materialized (
       select cap_id as id, cast(@actual as bigint) as charged, -freed as held from ended where cap_id is not null
       union all
       select hold_cap.cap_id, ${toCharged('cast(@actual as bigint)', 'cast(@tokens as bigint)')},
         case when ended.counted then -amount else 0 end
       from hold_cap, ended
     ), ${move}`,
    settleAll: `hold_cap as (
       delete from ${holdCaps} hc using ended where hc.hold_id = any(@ids) and hc.hold_id = ended.id
       returning hc.hold_id, hc.cap_id, hc.unit, hc.amount
     ), moved as materialized (
       select id, cast(sum(charged) as bigint) as charged, cast(sum(held) as bigint) as held from (
         select cap_id as id, actual as charged, -freed as held from ended where cap_id is not null
         union all
         select hold_cap.cap_id, ${toCharged('actual', 'tokens')}, case when ended.counted then -amount else 0 end
         from hold_cap join ended on ended.id = hold_cap.hold_id
       ) every group by id
     ), ${move}`,
    release: `moved as materialized (
       select cap_id as id, 0 as charged, -freed as held from hold where cap_id is not null
       union all
       select hc.cap_id, 0, case when hold.counted then -hc.amount else 0 end
       from hold join ${holdCaps} hc on hc.hold_id = hold.id
     ), ${move}`,
    lapse: `moved as materialized (
       select id, 0 as charged, -cast(sum(amount) as bigint) as held from (
         select cap_id as id, amount from hold where cap_id is not null
         union all
         select hc.cap_id, hc.amount from hold join ${holdCaps} hc on hc.hold_id = hold.id
       ) every group by id
     ), ${move}`,
  };
}

/** What a call adds to a cap, in its unit. */
function toCharged(actual: string, tokens: string): string {
  return `case unit when 'credits' then ${actual} when 'tokens' then coalesce(${tokens}, amount)
    when 'requests' then amount else 0 end`;
}

/** The `@caps` of a hold. The spend cap has no unit, because its hold names it. */
export function toCapsJson({ amount, cap, caps = [] }: HoldRequest): string {
  const rows = caps.map(({ id, unit, limit, amount: adds }) => ({ id, unit, cap_limit: limit, adds }));
  const spendCap = cap && { id: cap.id, cap_limit: cap.limit, adds: amount };
  return JSON.stringify(spendCap === undefined ? rows : [...rows, spendCap]);
}
