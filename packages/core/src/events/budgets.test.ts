import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { BUDGETS, type BudgetRecord } from '../credits/budget-rules.ts';
import { createBudgets } from '../credits/budgets.ts';
import { createMemoryLedger } from '../memory/ledger.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { HoldCap } from '../ports/caps.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import type { Store } from '../ports/store.ts';
import { wrapCollection } from '../ports/wrap-collection.ts';
import { createBudgetEvents } from './budgets.ts';
import type { HostEvent } from './event.ts';
import { createOutbox, type EventOutbox } from './outbox.ts';
import { BUDGET_NOTICES, EVENT_OUTBOX } from './records.ts';

const PROCESSES = 4;
const RULE: BudgetRecord = {
  ...{ id: 'rule', name: 'Ten', scope: 'user', scopeId: 'u', subject: 'user:u', models: null },
  ...{ window: 'hour', timeZone: 'UTC', unit: 'requests', amount: 10, action: 'notify', ownKeys: 'count' },
  ...{ managedBy: 'owner', userId: 'u', signature: 's', createdAt: 0, updatedAt: 0 },
};

interface Options {
  readonly rule?: Partial<BudgetRecord>;
  /** What reads and writes the notices. */
  readonly wrap?: (store: Store) => Store;
  readonly capUsage?: CreditLedger['capUsage'];
  /** Whether the receivers want the events, as of their last look. */
  readonly isHeard?: () => boolean;
}

/** Several processes with one store and one ledger. */
async function setUp({
  rule: changes,
  wrap = (store) => store,
  isHeard = () => true,
  capUsage,
}: Options = {}) {
  const rule = { ...RULE, ...changes };
  const clock = createFakeClock();
  const store = createMemoryStore();
  const memory = createMemoryLedger({ clock });
  await store.collection(BUDGETS).insert(rule);
  const announced: HostEvent[] = [];
  const seen = { looks: 0, transactions: 0, checks: 0 };
  const counted: Store = {
    ...wrap(store),
    transaction(work, options) {
      seen.transactions += 1;
      return wrap(store).transaction(work, options);
    },
  };
  const ledger: CreditLedger = {
    ...memory,
    async capUsage(ids) {
      seen.checks += 1;
      return (await (capUsage ?? memory.capUsage)?.(ids)) ?? [];
    },
  };
  let isWanted = false;
  const open = () => {
    const outbox: EventOutbox = {
      ...createOutbox({
        queue: { enqueue: () => Promise.reject(new Error('unused')) } as never,
        clock,
        graceMs: 1000,
        receivers: {
          async refresh() {
            seen.looks += 1;
            await turn();
            isWanted = isHeard();
          },
          isActive: () => true,
          wants: () => isWanted,
        },
        onError: () => undefined,
      }),
      announce: (records) => void announced.push(...records.flatMap(({ event }) => event ?? [])),
    };
    const budgets = createBudgets({ store, clock });
    const events = createBudgetEvents({
      ...{ store: counted, ledger, budgets, outbox },
      onError: () => undefined,
    });
    return { budgets, events };
  };
  const processes = Array.from({ length: PROCESSES }, open);
  let calls = 0;
  const hold = async ({ budgets, events }: (typeof processes)[number], amount = 1) => {
    const { capId: id } = budgets.current(rule);
    const caps = [{ id, unit: 'requests' as const, limit: Number.MAX_SAFE_INTEGER, amount }];
    calls += 1;
    const outcome = await ledger.hold({
      ...{ account: 'user:u', amount: 0, key: `call ${calls}`, expiresAt: clock.now() + 1e8, caps },
      ignoresBalance: true,
      details: { operation: 'test' },
    });
    const held = events.onHold(caps, outcome);
    if (held.outcome !== 'held') throw new Error(held.outcome);
    const { hold } = held;
    return async (): Promise<void> => {
      await ledger.settle(hold, 0);
      await events.check(hold.capIds ?? []);
    };
  };
  const thresholds = (): unknown[] =>
    announced.map(({ data }) => ('threshold' in data ? data.threshold : undefined)).sort();
  const [first] = processes;
  if (first === undefined) throw new Error('no process');
  /** Settles a call of this many requests. */
  const spend = async (amount: number): Promise<void> => (await hold(first, amount))();
  return { clock, store, processes, first, hold, spend, thresholds, announced, seen };
}

describe('thresholds in several processes', () => {
  it('are reported once each when all processes settle at the same time', async () => {
    const { store, processes, hold, thresholds } = await setUp();
    const settlements = await Promise.all(
      Array.from({ length: 40 }, (_, at) => hold(processes[at % PROCESSES] as (typeof processes)[number])),
    );
    await Promise.all(settlements.map((settle) => settle()));
    expect(thresholds()).toEqual([100, 50, 80]);
    expect(await store.collection(EVENT_OUTBOX).count({})).toBe(3);
  });

  it('count a call in the window in which it began, and not after a later window has reported', async () => {
    const { clock, processes, hold, thresholds } = await setUp();
    const [one, two] = processes;
    if (one === undefined || two === undefined) throw new Error('no process');
    const early = await Promise.all(Array.from({ length: 9 }, () => hold(one)));
    await clock.advance(3_600_000);
    for (const settle of early.slice(0, 5)) await settle();
    expect(thresholds()).toEqual([50]);
    for (const settle of await Promise.all(Array.from({ length: 5 }, () => hold(two)))) await settle();
    expect(thresholds()).toEqual([50, 50]);
    for (const settle of early.slice(5)) await settle();
    expect(thresholds()).toEqual([50, 50]);
  });
});

/** Another process writes a notice between the look and the write, this many times. */
function interfering(times: number, reported: (time: number) => string) {
  let time = 0;
  return (store: Store): Store => ({
    ...store,
    transaction: (work, options) =>
      store.transaction(async (inner) => {
        const notices = inner.collection(BUDGET_NOTICES);
        const interfere = async (): Promise<void> => {
          if (time >= times) return;
          time += 1;
          const patch = { reported: reported(time) };
          if (!(await notices.insert({ id: RULE.id, ...patch }))) await notices.update(RULE.id, patch);
        };
        return work({
          ...inner,
          collection: (definition) => {
            const collection = inner.collection(definition);
            if (definition.name !== BUDGET_NOTICES.name) return collection;
            return wrapCollection(collection, {
              insert: async (...args) => (await interfere(), collection.insert(...args)),
              update: async (...args) => (await interfere(), collection.update(...args)),
            });
          },
        });
      }, options),
  });
}

describe('thresholds of one budget', () => {
  it.each([{ window: 'hour' }, { window: 'total' }] as const)('are reported one by one: %j', async (rule) => {
    const { spend, thresholds, seen } = await setUp({ rule });
    const after: unknown[] = [];
    for (const amount of [4, 1, 2, 1, 1, 1, 1]) {
      await spend(amount);
      after.push(thresholds().length);
    }
    expect(after).toEqual([0, 1, 1, 2, 2, 3, 3]);
    // After the last one there is nothing to find.
    expect(seen.checks).toBe(6);
  });

  it('are reached with their share of the amount, and not a unit below', async () => {
    const { spend, thresholds } = await setUp({ rule: { amount: 10_000 } });
    await spend(4999);
    expect(thresholds()).toEqual([]);
    await spend(1);
    expect(thresholds()).toEqual([50]);
  });

  it.each([9, 10])('are written after up to ten attempts: %i changes of other processes', async (times) => {
    const wrap = interfering(times, (time) => `1:${time}:50`);
    const { store, spend, announced } = await setUp({ wrap });
    const spent = spend(5);
    if (times === 10) {
      await expect(spent).rejects.toThrow('the threshold of budget rule is not stored');
      expect(await store.collection(EVENT_OUTBOX).count({})).toBe(0);
    } else await spent;
    expect(announced).toHaveLength(times === 10 ? 0 : 1);
  });

  it('are not reported after another process has written them', async () => {
    const wrap = interfering(1, () => `${Date.UTC(2026, 5, 1, 12)}:10:100`);
    const { store, spend, announced } = await setUp({ wrap });
    await spend(5);
    expect([announced, await store.collection(EVENT_OUTBOX).count({})]).toEqual([[], 0]);
  });

  it('are announced once when the store repeats the transaction', async () => {
    const wrap = (store: Store): Store => ({
      ...store,
      async transaction(work, options) {
        const undone = store.transaction(async (inner) => {
          await work(inner);
          throw new Error('repeat');
        });
        await expect(undone).rejects.toThrow('repeat');
        return store.transaction(work, options);
      },
    });
    const { spend, thresholds } = await setUp({ wrap });
    await spend(5);
    expect(thresholds()).toEqual([50]);
  });

  it('are reported to receivers of the last look only', async () => {
    let isHeard = false;
    const { store, spend, thresholds } = await setUp({ isHeard: () => isHeard });
    await spend(5);
    expect(await store.collection(BUDGET_NOTICES).count({})).toBe(0);
    isHeard = true;
    await spend(1);
    expect(thresholds()).toEqual([50]);
  });

  it('cost no transaction below the first, and no look for a hold without caps', async () => {
    const { spend, first, seen } = await setUp();
    await spend(4);
    expect(seen.transactions).toBe(0);
    seen.looks = 0;
    await first.events.check([]);
    expect(seen.looks).toBe(0);
  });

  it.each(['requests', 'concurrent'] as const)(
    'have no sums with a ledger that counts no %s',
    async (unit) => {
      const { spend, announced } = await setUp({ rule: { amount: 1, unit }, capUsage: async () => [] });
      await spend(1);
      expect(announced).toEqual([]);
    },
  );

  it('are checked after a settlement for the caps that it changes', async () => {
    const { first } = await setUp();
    const toCap = (unit: HoldCap['unit']): HoldCap => ({ id: unit, unit, limit: 1, amount: 1 });
    const hold = { id: 'h', account: 'user:u', amount: 0, expiresAt: 1 };
    const outcome = { outcome: 'held', hold } as const;
    const { events } = first;
    expect(events.onHold([toCap('requests'), toCap('concurrent')], outcome)).toEqual({
      outcome: 'held',
      hold: { ...hold, capIds: ['requests'] },
    });
    expect(events.onHold([toCap('concurrent')], outcome)).toEqual(outcome);
  });
});
