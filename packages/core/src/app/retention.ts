import type { PeriodicTask } from '../jobs/engine.ts';
import { TASK_TURNS } from '../jobs/task-turns.ts';
import type {
  AgeRetention,
  GroupRetention,
  RetentionBounds,
  RetentionKind,
  RetentionRule,
} from '../operations/retention.ts';
import { FEATURES } from './features.ts';
import type { Services } from './services.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Records of one step: short enough that no statement holds others up. */
const BATCH = 500;
/** Groups of one page. */
const GROUPS = 200;
/** Bounds one run of the periodic task: what is left waits for the next one. */
const RUN_BUDGET: Budget = { removals: 2000, records: 100_000, groups: 10_000 };
const UNBOUNDED = Number.POSITIVE_INFINITY;
const NO_BUDGET: Budget = { removals: UNBOUNDED, records: UNBOUNDED, groups: UNBOUNDED };

/** Maximum work of one run, for each kind. */
interface Budget {
  /** Records that are deleted one by one. */
  readonly removals: number;
  /** Records that are deleted in batches. */
  readonly records: number;
  /** Sessions or owners that are looked at. */
  readonly groups: number;
}

/** What a rule deletes, or has deleted. */
export interface RetentionResult {
  readonly kind: RetentionKind;
  /** Days, if the kind is deleted by age. */
  readonly days: number | undefined;
  /** Number of newest records to keep, if the kind is deleted by number. */
  readonly newest: number | undefined;
  readonly records: number;
}

type RetentionServices = Pick<Services, 'clock' | 'keepNewest' | 'onError' | 'retention' | 'store'>;

/** A rule with the settings of the host. */
interface Policy {
  readonly rule: RetentionRule;
  readonly days: number | undefined;
  readonly newest: number | undefined;
  /** By age, over all records. */
  readonly before: number | undefined;
  /** By group: by number, and by age if the rule has no other way. */
  readonly bounds: RetentionBounds | undefined;
}

/** Deletes all records that the settings do not keep. With `isDryRun`, only counts them. @returns one result for each kind with a setting. */
export async function applyRetention(
  services: Services,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<readonly RetentionResult[]> {
  const results: RetentionResult[] = [];
  for (const policy of listPolicies(services, listRules(services))) {
    const { kind } = policy.rule;
    const { days, newest } = policy;
    const records = isDryRun ? await count(policy) : await removeOld(services, policy, NO_BUDGET);
    results.push({ kind, days, newest, records });
  }
  return results;
}

/** Deletes old records in bounded runs. */
export function createRetentionSweep(services: Services): PeriodicTask {
  const rules = listRules(services);
  return {
    name: 'sweep-retention',
    everyMs: 600_000,
    async run() {
      for (const policy of listPolicies(services, rules)) {
        try {
          await removeOld(services, policy, RUN_BUDGET);
        } catch (error) {
          // One kind that fails does not keep the others.
          services.onError({ operation: 'retention', requestId: '', error });
        }
      }
    },
  };
}

function listRules(services: Services): readonly RetentionRule[] {
  return FEATURES.flatMap(({ retention }) => retention?.(services) ?? []);
}

function listPolicies(
  { clock, retention, keepNewest }: RetentionServices,
  rules: readonly RetentionRule[],
): readonly Policy[] {
  const now = clock.now();
  const newestByKind: Readonly<Partial<Record<RetentionKind, number>>> = keepNewest;
  return rules.flatMap((rule): readonly Policy[] => {
    const days = retention[rule.kind] ?? rule.defaultDays;
    const newest = rule.byGroup === undefined ? undefined : newestByKind[rule.kind];
    if (days === undefined && newest === undefined) return [];
    const before = days === undefined ? undefined : now - days * DAY_MS;
    const isByGroup = newest !== undefined || (before !== undefined && rule.byAge === undefined);
    const bounds = {
      ...(before !== undefined && rule.byAge === undefined && { before }),
      // A client still reads what ended a moment ago, and repeats requests for a day.
      ...(newest !== undefined && { surplus: { newest, before: now - DAY_MS } }),
    };
    return [{ rule, days, newest, before, bounds: isByGroup ? bounds : undefined }];
  });
}

async function count({ rule, before, bounds }: Policy): Promise<number> {
  const { byAge, byGroup } = rule;
  if (byGroup === undefined || bounds === undefined) {
    return byAge === undefined || before === undefined ? 0 : byAge.count(before);
  }
  let counted = 0;
  for (let after: string | undefined; ; ) {
    const { groups, next } = await byGroup.list(after, GROUPS);
    for (const group of groups) {
      counted += await byGroup.count(group, { ...bounds, ...(before !== undefined && { before }) });
    }
    if (next === undefined) return counted;
    after = next;
  }
}

/** @returns the number of deleted records. */
async function removeOld(services: RetentionServices, policy: Policy, budget: Budget): Promise<number> {
  const { rule, before, bounds } = policy;
  let removed = 0;
  if (rule.byAge !== undefined && before !== undefined) {
    removed += await removeByAge(services, rule.byAge, before, budget);
  }
  if (rule.byGroup !== undefined && bounds !== undefined) {
    removed += await removeByGroup(services, policy, rule.byGroup, budget);
  }
  return removed;
}

async function removeByAge(
  { onError }: RetentionServices,
  byAge: AgeRetention,
  before: number,
  budget: Budget,
): Promise<number> {
  let total = 0;
  if ('removeBefore' in byAge) {
    while (total < budget.records) {
      const removed = await byAge.removeBefore(before, BATCH);
      total += removed;
      if (removed < BATCH) break;
    }
    return total;
  }
  while (total < budget.removals) {
    const old = await byAge.find(before, BATCH);
    let removed = 0;
    for (const { id } of old) {
      try {
        await byAge.remove(id);
        removed += 1;
      } catch (error) {
        // One that fails does not keep the others.
        onError({ operation: 'retention', requestId: '', error });
      }
    }
    total += removed;
    if (removed === 0 || old.length < BATCH) break;
  }
  return total;
}

async function removeByGroup(
  services: RetentionServices,
  { rule: { kind, byAge }, bounds = {} }: Policy,
  byGroup: GroupRetention,
  budget: Budget,
): Promise<number> {
  const progress = budget === NO_BUDGET ? undefined : await openProgress(services, kind);
  if (progress?.isResting) return 0;
  // Kinds with a rule of their own for age are deleted one by one.
  const max = byAge === undefined ? budget.records : budget.removals;
  let position = progress?.position;
  let total = 0;
  for (let looked = 0; looked < budget.groups && total < max; looked += GROUPS) {
    const { groups, next } = await byGroup.list(position, GROUPS);
    for (const group of groups) total += await trimGroup(services, byGroup, group, bounds, max - total);
    // Otherwise the next run looks at these groups again.
    if (total < max) position = next;
    if (position === undefined) break;
  }
  await progress?.save(position);
  return total;
}

async function trimGroup(
  { onError }: RetentionServices,
  byGroup: GroupRetention,
  group: string,
  bounds: RetentionBounds,
  max: number,
): Promise<number> {
  let total = 0;
  try {
    while (total < max) {
      const limit = Math.min(BATCH, max - total);
      const removed = await byGroup.trim(group, bounds, limit);
      total += removed;
      if (removed < limit) break;
    }
  } catch (error) {
    // One that fails does not keep the others.
    onError({ operation: 'retention', requestId: '', error });
  }
  return total;
}

/** Where the next run continues, for all processes. After the last group it rests for an hour. */
async function openProgress({ store, clock }: RetentionServices, kind: RetentionKind) {
  const turns = store.collection(TASK_TURNS);
  const id = `sweep-retention:${kind}`;
  const stored = await turns.get(id);
  const now = clock.now();
  return {
    position: stored?.position,
    // A time beyond the rest comes from a clock that was wrong.
    isResting: stored !== undefined && stored.nextRunAt > now && stored.nextRunAt <= now + HOUR_MS,
    async save(position: string | undefined): Promise<void> {
      const next = { nextRunAt: position === undefined ? now + HOUR_MS : 0, position };
      if ((await turns.update(id, next)) !== undefined) return;
      await turns.insert({ id, ...next });
    },
  };
}
