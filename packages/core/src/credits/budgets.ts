import { LRUCache } from 'lru-cache';
import type { HoldCap } from '../ports/caps.ts';
import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { withMaxEntries } from '../shared/cache-size.ts';
import {
  BUDGETS,
  type BudgetedCall,
  type BudgetRecord,
  type BudgetSubject,
  type CurrentBudget,
  getCurrentBudget,
  getReservedAmount,
  getSubjects,
  isCounted,
} from './budget-rules.ts';

const CACHE_TTL_MS = 2000;
/** Up to this number all rules are cached; above it those of the recent callers. */
const MAX_CACHED_RULES = 999;
const MAX_CACHED_CALLERS = 10_000;
const NO_RULES: readonly BudgetRecord[] = [];
const NO_BUDGETS: readonly CallBudget[] = [];

/** A budget that a call counts against. */
export interface CallBudget extends CurrentBudget {
  readonly cap: HoldCap;
}

/** Finds the budgets of paid calls. Caches the rules, so that calls do not wait for the store. */
export interface Budgets {
  /** Returns synchronously if cached, otherwise a promise. */
  forCall(call: BudgetedCall): readonly CallBudget[] | Promise<readonly CallBudget[]>;
  /** Returns the rules of a caller, in any model. */
  rulesFor(subject: BudgetSubject): readonly BudgetRecord[] | Promise<readonly BudgetRecord[]>;
  /** Returns the rules with these ids. Rules that were deleted are absent. */
  byIds(ids: readonly string[]): Promise<readonly BudgetRecord[]>;
  current(rule: BudgetRecord): CurrentBudget;
  /** Reads the rules again. Other processes notice a change within 2 s. */
  invalidate(): void;
}

interface CachedRules {
  readonly until: number;
  /** Absent: there are too many to cache them all. */
  readonly bySubject?: ReadonlyMap<string, readonly BudgetRecord[]>;
  readonly byId?: ReadonlyMap<string, BudgetRecord>;
}

export function createBudgets({ store, clock }: { readonly store: Store; readonly clock: Clock }): Budgets {
  const records = store.collection(BUDGETS);
  /** The current windows, by rule. */
  const windows = new LRUCache<string, CurrentBudget>(withMaxEntries(MAX_CACHED_CALLERS));
  const callers = new LRUCache<string, { until: number; rules: readonly BudgetRecord[] }>(
    withMaxEntries(MAX_CACHED_CALLERS),
  );
  let known: CachedRules | undefined;
  let reading: Promise<CachedRules> | undefined;
  /** Counts invalidations, so that a read that began before one is not cached. */
  let generation = 0;

  const readAll = async (): Promise<CachedRules> => {
    const began = generation;
    const rules = await records.find({}, { limit: MAX_CACHED_RULES + 1 });
    const until = clock.now() + CACHE_TTL_MS;
    const byId = new Map(rules.map((rule) => [rule.id, rule]));
    const read =
      rules.length > MAX_CACHED_RULES ? { until } : { until, bySubject: groupBySubject(rules), byId };
    if (began === generation) known = read;
    return read;
  };

  const current = (): CachedRules | Promise<CachedRules> => {
    if (known !== undefined && known.until > clock.now()) return known;
    reading ??= readAll().finally(() => {
      reading = undefined;
    });
    return reading;
  };

  const readFor = async (subjects: readonly string[]): Promise<readonly BudgetRecord[]> => {
    const began = generation;
    const rules = await records.find({ subject: { in: subjects } });
    if (began === generation) callers.set(subjects.join(' '), { until: clock.now() + CACHE_TTL_MS, rules });
    return rules;
  };

  const pick = (
    { bySubject }: CachedRules,
    subject: BudgetSubject,
  ): readonly BudgetRecord[] | Promise<readonly BudgetRecord[]> => {
    if (bySubject?.size === 0) return NO_RULES;
    const subjects = getSubjects(subject);
    if (bySubject !== undefined) return subjects.flatMap((one) => bySubject.get(one) ?? []);
    const cached = callers.get(subjects.join(' '));
    return cached !== undefined && cached.until > clock.now() ? cached.rules : readFor(subjects);
  };

  const rulesFor = (subject: BudgetSubject): readonly BudgetRecord[] | Promise<readonly BudgetRecord[]> => {
    const rules = current();
    return rules instanceof Promise ? rules.then((all) => pick(all, subject)) : pick(rules, subject);
  };

  const getCurrent = (rule: BudgetRecord): CurrentBudget => {
    const now = clock.now();
    const cached = windows.get(rule.id);
    if (cached !== undefined && isIn(cached, now)) return { ...cached, rule };
    const found = getCurrentBudget(rule, now);
    windows.set(rule.id, found);
    return found;
  };

  const toBudgets = (rules: readonly BudgetRecord[], call: BudgetedCall): readonly CallBudget[] =>
    rules
      .filter((rule) => isCounted(rule, call))
      .map((rule) => {
        const budget = getCurrent(rule);
        const limit = rule.action === 'notify' ? Number.MAX_SAFE_INTEGER : rule.amount;
        const amount = getReservedAmount(rule, call);
        return { ...budget, cap: { id: budget.capId, unit: rule.unit, limit, amount } };
      });

  return {
    forCall(call) {
      const rules = rulesFor(call.payer);
      if (rules === NO_RULES) return NO_BUDGETS;
      return rules instanceof Promise ? rules.then((all) => toBudgets(all, call)) : toBudgets(rules, call);
    },
    rulesFor,
    async byIds(ids) {
      const { byId } = await current();
      if (byId === undefined) return records.find({ id: { in: ids } });
      return ids.map((id) => byId.get(id)).filter((rule) => rule !== undefined);
    },
    current: getCurrent,
    invalidate() {
      generation += 1;
      known = undefined;
      reading = undefined;
      callers.clear();
    },
  };
}

function groupBySubject(rules: readonly BudgetRecord[]): ReadonlyMap<string, readonly BudgetRecord[]> {
  const groups = new Map<string, BudgetRecord[]>();
  for (const rule of rules) {
    const group = groups.get(rule.subject);
    if (group === undefined) groups.set(rule.subject, [rule]);
    else group.push(rule);
  }
  return groups;
}

function isIn({ range }: CurrentBudget, now: number): boolean {
  return range === undefined || (now >= range.start && now < range.end);
}
