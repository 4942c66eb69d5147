import type { LeaseWanted } from '@questline/core/ports';
import type { SqlDialect } from '../database.ts';
import { defineStatement, type SqlRow } from '../statement.ts';

/** Maximum number of jobs that one claim makes ready. */
const MAX_PROMOTED = 1000;

/** Makes due jobs ready: delayed ones, and those with an expired lease. */
export function definePromotion(dialect: SqlDialect, table: string) {
  return defineStatement<'now'>(
    dialect,
    `update ${table} set ready = 1 where sequence in (
       select sequence from ${table} where ready = 0 and due_at <= @now
       order by due_at limit ${MAX_PROMOTED} ${dialect === 'sqlite' ? '' : 'for update skip locked'}
     )`,
  );
}

/**
 * Leases ready jobs, owner by owner. For each kind it steps through the index from one owner to the next,
 * starts after the owner served last, and takes the oldest jobs of each: one of each owner before the second
 * of any. `keyed` merges the kinds: the list with the oldest next job continues, which is the order by the
 * greatest `run_at` so far in each list.
 *
 * PostgreSQL leases nothing and answers `pending` while jobs are to be made ready first, unless `isPromoted`.
 */
export function defineClaim(dialect: SqlDialect, table: string) {
  const isSqlite = dialect === 'sqlite';
  // PostgreSQL takes a function for 100 rows. With the limit its estimate stays below what it compiles plans for (jit).
  const list = (name: string, columns: readonly [string, string][]): string =>
    isSqlite
      ? `select ${columns.map(([column]) => `json_extract(value, '$.${column}')`).join(', ')} from json_each(@${name}) limit @${name}Count`
      : `select * from jsonb_to_recordset(cast(@${name} as jsonb)) as given(${columns.map((column) => column.join(' ')).join(', ')}) limit @${name}Count`;
  // The condition comes after the limit, whose estimate it must not change.
  const asked = list('asked', [
    ['kind', 'text'],
    ['last_owner', 'text'],
    ['most', 'bigint'],
  ]);
  const nextOwner = (kind: string, condition: string): string =>
    `(select jobs.owner from ${table} jobs where jobs.kind = ${kind} and jobs.ready = 1 and ${condition}
      order by jobs.owner limit 1)`;
  /** The owners of each kind between two positions, in order. */
  const walk = (name: string, first: string, next: string): string =>
    `${name}(kind, last_owner, owner, place) as (
       select kind, last_owner, ${nextOwner('asked.kind', first)}, 1 from asked
       union all
       select kind, last_owner, ${nextOwner(`${name}.kind`, next)}, place + 1
       from ${name} where owner is not null and place < @lanes
     )`;
  const isDue = 'run_at <= @now and (lease_until is null or lease_until <= @now)';
  const oldest = `select sequence, run_at from ${table} own
    where own.kind = lanes.kind and own.owner = lanes.owner and own.ready = 1 and ${isDue}
    order by own.run_at, own.sequence limit`;
  const least = isSqlite ? 'min' : 'least';
  const share = `case when lanes.owner = '' then lanes.most else ${least}(lanes.room, lanes.share) end`;
  const jobs = isSqlite
    ? `join ${table} job on job.sequence in (select sequence from (${oldest} @limit))`
    : `cross join lateral (${oldest} ${share} for update skip locked) job`;
  const chosen =
    'select sequence from keyed where number <= most order by key, kind, round, half, place, sequence limit @limit';
  const until = `coalesce(${
    isSqlite
      ? `(select value from json_each(@untils) where json_each.key = kind)`
      : 'cast(cast(@untils as jsonb) ->> kind as bigint)'
  }, @leaseUntil)`;

  return defineStatement<
    | 'asked'
    | 'askedCount'
    | 'rooms'
    | 'roomsCount'
    | 'lanes'
    | 'limit'
    | 'now'
    | 'leaseUntil'
    | 'untils'
    | 'isPromoted'
  >(
    dialect,
    `with recursive
     ${
       isSqlite
         ? ''
         : `pending(found) as materialized (
       select not cast(@isPromoted as boolean)
         and exists (select 1 from ${table} late where late.ready = 0 and late.due_at <= @now)
     ),`
     }
     asked(kind, last_owner, most) as (${
       isSqlite ? asked : `select given.* from (${asked}) given where not (select found from pending)`
     }),
     rooms(kind, owner, room) as (${list('rooms', [
       ['kind', 'text'],
       ['owner', 'text'],
       ['room', 'bigint'],
     ])}),
     ${walk('behind', 'jobs.owner > asked.last_owner', 'jobs.owner > behind.owner')},
     ${walk('before', 'jobs.owner <= asked.last_owner', 'jobs.owner > before.owner and jobs.owner <= before.last_owner')},
     owners(kind, owner, half, place) as (
       select kind, owner, 1, place from behind where owner is not null
       union all select kind, owner, 2, place from before where owner is not null
     ),
     open(kind, owner, half, place, room) as (
       select kind, owner, half, place, case when owner = '' then @limit else coalesce(
         (select room from rooms where rooms.kind = owners.kind and rooms.owner = owners.owner),
         (select room from rooms where rooms.kind = owners.kind and rooms.owner is null),
         @limit) end
       from owners
     ),
     lanes(kind, owner, half, place, room, most, share) as (
       select open.kind, owner, half, place, room, most,
         (most + count(*) over (partition by open.kind) - 1) / count(*) over (partition by open.kind)
       from open join asked on asked.kind = open.kind where room > 0
     ),
     rounds(sequence, run_at, kind, half, place, most, allowed, round) as (
       select job.sequence, job.run_at, lanes.kind, lanes.half, lanes.place, lanes.most, ${share},
         row_number() over (partition by lanes.kind, lanes.owner order by job.run_at, job.sequence)
       from lanes ${jobs}
     ),
     keyed(sequence, kind, round, half, place, most, key, number) as (
       select sequence, kind, round, half, place, most,
         max(run_at) over (partition by kind order by round, half, place rows unbounded preceding),
         row_number() over (partition by kind order by round, half, place, sequence)
       from rounds where round <= allowed
     )${isSqlite ? '' : ', claimed as ('}
     update ${table}
     set ready = 0, due_at = ${until}, lease_until = ${until}, attempt = attempt + 1, fence = fence + 1
     where ${isSqlite ? `sequence in (${chosen})` : `sequence = any(array(${chosen}))`}
     returning sequence, id, kind, owner, cast(payload as text) as payload, key, run_at, attempt, fence, lease_until
     ${isSqlite ? '' : ') select claimed.*, pending.found as pending from pending left join claimed on true'}`,
  );
}

/** The next owner, as far as this process knows, and the number of further jobs per owner in one call. */
export function createClaims() {
  const lastServed = new Map<string, string>();

  return {
    /** The owners served last and the number of jobs, by requested kind. @param taken the jobs of this call so far. */
    asked(
      { kinds, limit, limitByKind }: Pick<LeaseWanted, 'kinds' | 'limit' | 'limitByKind'>,
      taken: readonly SqlRow[],
    ): { readonly asked: string; readonly askedCount: number } {
      const asked = [...new Set(kinds)].flatMap((kind) => {
        const own = (limitByKind?.[kind] ?? limit) - taken.filter((row) => row.kind === kind).length;
        const most = Math.min(own, limit - taken.length);
        return most > 0 ? [{ kind, last_owner: lastServed.get(kind) ?? '', most }] : [];
      });
      return { asked: JSON.stringify(asked), askedCount: asked.length };
    },

    /** Continues after the owners of these rows. */
    served(rows: readonly SqlRow[]): void {
      for (const kind of new Set(rows.map((row) => String(row.kind)))) {
        const counts = countOwners(rows.filter((row) => row.kind === kind));
        const most = Math.max(...counts.values());
        const last = lastServed.get(kind) ?? '';
        const half = (owner: string): number => (compareCodePoints(owner, last) > 0 ? 1 : 2);
        // The last owner of the last round.
        const inTurn = [...counts]
          .filter(([, count]) => count === most)
          .map(([owner]) => owner)
          .sort((a, b) => half(a) - half(b) || compareCodePoints(a, b));
        lastServed.set(kind, inTurn.at(-1) ?? '');
      }
    },
  };
}

/** The remaining jobs of owners with leases, and of all other owners of each kind. */
export function listRooms(
  perOwner: LeaseWanted['perOwner'],
  taken: readonly SqlRow[],
): { readonly rooms: string; readonly roomsCount: number; readonly full: number } {
  const rooms: { kind: string; owner: string | null; room: number }[] = [];
  let full = 0;
  for (const [kind, { max, held }] of Object.entries(perOwner ?? {})) {
    rooms.push({ kind, owner: null, room: max });
    const handed = countOwners(taken.filter((row) => row.kind === kind));
    let fullHere = 0;
    for (const owner of new Set([...held.keys(), ...handed.keys()])) {
      const room = Math.max(0, max - (held.get(owner) ?? 0) - (handed.get(owner) ?? 0));
      rooms.push({ kind, owner, room });
      if (room === 0) fullHere += 1;
    }
    full = Math.max(full, fullHere);
  }
  return { rooms: JSON.stringify(rooms), roomsCount: rooms.length, full };
}

/** Whether an owner gave several jobs of the last round and may have more. @param taken the jobs of all rounds. */
export function mayHaveMore(
  rows: readonly SqlRow[],
  taken: readonly SqlRow[],
  perOwner: LeaseWanted['perOwner'],
): boolean {
  const of = (list: readonly SqlRow[], kind: string) => countOwners(list.filter((row) => row.kind === kind));
  return [...new Set(rows.map(({ kind }) => String(kind)))].some((kind) => {
    const limit = perOwner?.[kind];
    const all = of(taken, kind);
    const hasRoom = (owner: string): boolean =>
      owner === '' || limit === undefined || (limit.held.get(owner) ?? 0) + (all.get(owner) ?? 0) < limit.max;
    return [...of(rows, kind)].some(([owner, count]) => count > 1 && hasRoom(owner));
  });
}

function countOwners(rows: readonly SqlRow[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { owner } of rows) counts.set(String(owner), (counts.get(String(owner)) ?? 0) + 1);
  return counts;
}

/** The order of both engines' text, which differs from that of strings beyond the basic plane. */
function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
