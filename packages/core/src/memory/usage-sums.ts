import type { Usage, UsageDimension, UsageSum } from '../ports/ledger.ts';
import type { Reservation } from './reservation.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const ORGANIZATION = 'organization:';

/** A call, or the sums of several that are equal in all other fields. */
export interface SummedCalls
  extends Pick<
    Reservation,
    'account' | 'operation' | 'model' | 'keyId' | 'userId' | 'createdAt' | 'charged' | 'usage'
  > {
  /** Default: 1. */
  readonly requests?: number;
}

type Value = string | number | null;

const VALUES: Readonly<Record<UsageDimension, (charge: SummedCalls) => Value>> = {
  day: ({ createdAt }) => createdAt - (createdAt % DAY_MS),
  model: ({ model }) => model ?? null,
  operation: ({ operation }) => operation,
  key: ({ keyId }) => keyId ?? null,
  user: ({ userId }) => userId ?? null,
  organization: ({ account }) =>
    account.startsWith(ORGANIZATION) ? account.slice(ORGANIZATION.length) : null,
};

/** Sorted by the values of the groups; null is first. */
export function sumByGroup(
  charges: readonly SummedCalls[],
  groupBy: readonly UsageDimension[],
): readonly UsageSum[] {
  const sums = new Map<string, { values: readonly Value[]; sum: UsageSum }>();
  for (const charge of charges) {
    const values = groupBy.map((dimension) => VALUES[dimension](charge));
    const key = JSON.stringify(values);
    const group = Object.fromEntries(groupBy.map((dimension, at) => [dimension, values[at] ?? null]));
    const before = sums.get(key)?.sum;
    const next = {
      group,
      requests: (before?.requests ?? 0) + (charge.requests ?? 1),
      amount: (before?.amount ?? 0) + charge.charged,
      usage: add(before?.usage, charge.usage),
    };
    sums.set(key, { values, sum: next });
  }
  return [...sums.values()].sort((a, b) => compare(a.values, b.values)).map(({ sum }) => sum);
}

/** Sums of calls per hour of the call. */
export interface HourSums {
  add(call: Reservation): void;
  list(): Iterable<SummedCalls>;
}

export function createHourSums(): HourSums {
  const sums = new Map<string, SummedCalls>();
  return {
    add({ account, operation, model, keyId, userId, createdAt, charged, usage }) {
      const hour = createdAt - (createdAt % HOUR_MS);
      const about = { account, operation, model, keyId, userId, createdAt: hour };
      const key = JSON.stringify([account, operation, model, keyId, userId, hour]);
      const before = sums.get(key);
      sums.set(key, {
        ...about,
        charged: (before?.charged ?? 0) + charged,
        usage: add(before?.usage, usage),
        requests: (before?.requests ?? 0) + 1,
      });
    },
    list: () => sums.values(),
  };
}

function add(sum: Usage = {}, usage: Usage = {}): Usage {
  const total: Record<string, number> = { ...sum };
  for (const [unit, count] of Object.entries(usage)) total[unit] = (total[unit] ?? 0) + Number(count);
  return total;
}

function compare(a: readonly Value[], b: readonly Value[]): number {
  for (const [at, left] of a.entries()) {
    const right = b[at] ?? null;
    if (left === right) continue;
    if (left === null) return -1;
    return right !== null && left < right ? -1 : 1;
  }
  return 0;
}
