import type { PeriodicTask } from '../jobs/engine.ts';
import type { Remover, RetentionBounds, RetentionKind, RetentionRule } from '../operations/retention.ts';
import { archiveCharges, countArchivable } from './charge-archive.ts';
import { FEATURES } from './features.ts';
import { countByAge, removeByAge } from './retention-by-age.ts';
import { countByGroup, removeByGroup } from './retention-by-group.ts';
import { createRemover } from './retention-remover.ts';
import { NO_BUDGET, type RetentionBudget } from './retention-runs.ts';
import type { Services } from './services.ts';

const DAY_MS = 86_400_000;
/** Bounds one run of the periodic task: what is left waits for the next one. */
const RUN_BUDGET: RetentionBudget = { removals: 2000, records: 100_000, looks: 10_000 };

/** What a rule deletes, or has deleted. */
export interface RetentionResult {
  /** `charges` are archived. */
  readonly kind: RetentionKind | 'charges';
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
  readonly remover: Remover;
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
  const days = services.chargeArchive?.days;
  if (days === undefined) return results;
  const records = await (isDryRun ? countArchivable(services) : archiveCharges(services, NO_BUDGET.records));
  return [...results, { kind: 'charges', days, newest: undefined, records }];
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

function listPolicies(services: RetentionServices, rules: readonly RetentionRule[]): readonly Policy[] {
  const { retention, keepNewest } = services;
  const now = services.clock.now();
  return rules.flatMap((rule): readonly Policy[] => {
    const days = retention[rule.kind] ?? rule.defaultDays;
    const newest = keepNewest[rule.kind];
    if (days === undefined && newest === undefined) return [];
    const before = days === undefined ? undefined : now - days * DAY_MS;
    const isByGroup = newest !== undefined || (before !== undefined && rule.byAge === undefined);
    const bounds = {
      ...(before !== undefined && rule.byAge === undefined && { before }),
      // A client still reads what ended a moment ago, and repeats requests for a day.
      ...(newest !== undefined && { surplus: { newest, before: now - DAY_MS } }),
    };
    const remover = createRemover(services, rule.kind);
    return [{ rule, remover, days, newest, before, bounds: isByGroup ? bounds : undefined }];
  });
}

async function count({ rule, remover, before, bounds }: Policy): Promise<number> {
  const { byAge, byGroup } = rule;
  if (bounds === undefined) {
    return byAge === undefined || before === undefined ? 0 : countByAge(byAge, before, remover);
  }
  return countByGroup(byGroup, { ...bounds, ...(before !== undefined && { before }) }, remover);
}

/** @returns the number of deleted records. */
async function removeOld(
  services: RetentionServices,
  { rule, remover, before, bounds }: Policy,
  budget: RetentionBudget,
): Promise<number> {
  let removed = 0;
  if (rule.byAge !== undefined && before !== undefined) {
    removed += await removeByAge(services, rule, before, remover, budget);
  }
  if (bounds !== undefined) removed += await removeByGroup(services, rule, bounds, remover, budget);
  return removed;
}
