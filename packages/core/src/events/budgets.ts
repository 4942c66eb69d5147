import { LRUCache } from 'lru-cache';
import { toCredits } from '../credits/amounts.ts';
import {
  type BudgetRecord,
  type CurrentBudget,
  getCurrentBudget,
  parseCapId,
} from '../credits/budget-rules.ts';
import type { Budgets } from '../credits/budgets.ts';
import type { CapUsage, HoldCap } from '../ports/caps.ts';
import type { CreditLedger, HoldOutcome } from '../ports/ledger.ts';
import type { Store } from '../ports/store.ts';
import { withMaxEntries } from '../shared/cache-size.ts';
import type { Incident } from '../shared/incident.ts';
import type { BudgetThreshold, NewEvent } from './event.ts';
import { getAccountOwner } from './ids.ts';
import type { EventOutbox } from './outbox.ts';
import { BUDGET_NOTICES, type OutboxRecord } from './records.ts';

const THRESHOLDS = [50, 80, 100] as const;
/** A refusal above this percentage counts as 100: a budget of credits is seldom spent to the last micro-credit. */
const ALMOST = 80;
const MAX_CACHED = 10_000;
/** Attempts to write a notice that other processes change at the same time. */
const MAX_ATTEMPTS = 10;

/** Sends an event when a sum of a budget reaches a threshold: once per budget, window, amount and threshold. */
export interface BudgetEvents {
  /** Whether events of budgets have a receiver. Never rejects. */
  isHeard(): Promise<boolean>;
  /** Adds the caps to a hold that its settlement changes. Checks refusals and calls at the same time in the background. */
  onHold(caps: readonly HoldCap[], outcome: HoldOutcome): HoldOutcome;
  /** Checks caps after a settlement. Idempotent. */
  check(capIds: readonly string[]): Promise<void>;
}

/** The highest threshold of a budget that was reported in a window. */
interface Reported {
  /** 0: the window never ends. */
  readonly start: number;
  readonly amount: number;
  readonly threshold: number;
}

export function createBudgetEvents({
  store,
  ledger,
  budgets,
  outbox,
  onError,
}: {
  /** Without events. */
  readonly store: Store;
  /** Without `capUsage`, there are no budgets. */
  readonly ledger: Pick<CreditLedger, 'capUsage'>;
  readonly budgets: Budgets;
  readonly outbox: EventOutbox;
  readonly onError: (incident: Incident) => void;
}): BudgetEvents {
  const { receivers } = outbox;
  /** Spares the store after a threshold was reported. */
  const known = new LRUCache<string, Reported>(withMaxEntries(MAX_CACHED));

  const isHeard = async (): Promise<boolean> => {
    await receivers.refresh();
    return receivers.wants('budget.threshold');
  };

  const report = async (budget: CurrentBudget, usage: CapUsage, threshold: number): Promise<void> => {
    const { rule, range } = budget;
    const state: Reported = { start: range?.start ?? 0, amount: rule.amount, threshold };
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      let written: OutboxRecord[] = [];
      const isWritten = await store.transaction(async (inner) => {
        written = [];
        const notices = inner.collection(BUDGET_NOTICES);
        const before = await notices.get(rule.id);
        const due = getDue(before && parseReported(before.reported), state);
        if (due.length === 0) return true;
        const reported = formatReported(state);
        const isMine =
          before === undefined
            ? await notices.insert({ id: rule.id, reported })
            : (await notices.update(rule.id, { reported }, { reported: before.reported })) !== undefined;
        if (!isMine) return false;
        for (const one of due) written.push(await outbox.add(inner, toEvent(budget, usage, one)));
        return true;
      });
      if (!isWritten) continue;
      outbox.announce(written);
      known.set(rule.id, state);
      return;
    }
    throw new Error(`the threshold of budget ${rule.id} is not stored: other processes change it`);
  };

  const check = async (capIds: readonly string[], refusedId?: string): Promise<void> => {
    if (capIds.length === 0 || !(await isHeard())) return;
    const open = (await findBudgets(budgets, capIds)).filter(({ rule, range }) => {
      const state = { start: range?.start ?? 0, amount: rule.amount, threshold: 100 };
      return getDue(known.get(rule.id), state).length > 0;
    });
    if (open.length === 0) return;
    const usages = (await ledger.capUsage?.(open.map(({ capId }) => capId))) ?? [];
    for (const [at, budget] of open.entries()) {
      const usage = usages[at] ?? { spent: 0, reserved: 0 };
      const reached = getReached(budget.rule, usage, budget.capId === refusedId);
      if (reached > 0) await report(budget, usage, reached);
    }
  };

  const checkLater = (...args: Parameters<typeof check>): void => {
    check(...args).catch((error: unknown) => onError({ operation: 'events', requestId: '', error }));
  };

  return {
    isHeard,
    onHold(caps, outcome) {
      if (outcome.outcome === 'cap_exceeded') checkLater([outcome.capId], outcome.capId);
      if (outcome.outcome !== 'held') return outcome;
      const atOnce = caps.filter(({ unit }) => unit === 'concurrent').map(({ id }) => id);
      checkLater(atOnce);
      const capIds = caps.map(({ id }) => id).filter((id) => !atOnce.includes(id));
      return capIds.length === 0 ? outcome : { ...outcome, hold: { ...outcome.hold, capIds } };
    },
    check: (capIds) => check(capIds),
  };
}

/** Finds the budgets of caps in the windows of the caps, which may have ended. */
async function findBudgets(budgets: Budgets, capIds: readonly string[]): Promise<readonly CurrentBudget[]> {
  const parsed = capIds.map(parseCapId).filter((one) => one !== undefined);
  const rules = new Map(
    (await budgets.byIds(parsed.map(({ ruleId }) => ruleId))).map((rule) => [rule.id, rule]),
  );
  return parsed.flatMap(({ ruleId, instant }) => {
    const rule = rules.get(ruleId);
    return rule === undefined ? [] : [getCurrentBudget(rule, instant)];
  });
}

/** Returns the highest reached threshold; 0: none. */
function getReached(
  { unit, amount }: BudgetRecord,
  { spent, reserved }: CapUsage,
  isRefused: boolean,
): number {
  const used = unit === 'concurrent' ? reserved : spent;
  const reached = THRESHOLDS.findLast((threshold) => used * 100 >= amount * threshold) ?? 0;
  return isRefused && reached >= ALMOST ? 100 : reached;
}

/** Returns the thresholds up to that of `state` that are not reported yet. None for a window before the last reported one. */
function getDue(before: Reported | undefined, { start, amount, threshold }: Reported): readonly number[] {
  if (before !== undefined && before.start > start) return [];
  const isSame = before?.start === start && before.amount === amount;
  const last = isSame ? before.threshold : 0;
  return THRESHOLDS.filter((one) => one > last && one <= threshold);
}

function formatReported({ start, amount, threshold }: Reported): string {
  return `${start}:${amount}:${threshold}`;
}

function parseReported(text: string): Reported {
  const [start = 0, amount = 0, threshold = 0] = text.split(':').map(Number);
  return { start, amount, threshold };
}

function toEvent({ rule, range }: CurrentBudget, { spent, reserved }: CapUsage, threshold: number): NewEvent {
  const { id, scope, scopeId, unit, action, amount, userId, subject } = rule;
  const show = (units: number): number => (unit === 'credits' ? toCredits(units) : units);
  const data: BudgetThreshold = {
    id,
    ...(userId !== null && { userId }),
    ...(scope === 'organization' && getAccountOwner(subject)),
    ...{ scope, scopeId, unit, action, threshold },
    limit: show(amount),
    spent: show(spent),
    reserved: show(reserved),
    windowStart: toTime(range?.start),
    windowEnd: toTime(range?.end),
  };
  // A changed amount has thresholds of its own.
  const key = `${id} ${range?.start ?? 'total'} ${amount} ${threshold}`;
  return { type: 'budget.threshold', key, data };
}

function toTime(instant: number | undefined): string | null {
  return instant === undefined ? null : new Date(instant).toISOString();
}
