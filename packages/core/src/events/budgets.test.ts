import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { BUDGETS, type BudgetRecord } from '../credits/budget-rules.ts';
import { createBudgets } from '../credits/budgets.ts';
import { createMemoryLedger } from '../memory/ledger.ts';
import { createMemoryStore } from '../memory/store.ts';
import { createBudgetEvents } from './budgets.ts';
import type { HostEvent } from './event.ts';
import { createOutbox, type EventOutbox } from './outbox.ts';
import { EVENT_OUTBOX } from './records.ts';

const PROCESSES = 4;
const RULE: BudgetRecord = {
  ...{ id: 'rule', name: 'Ten', scope: 'user', scopeId: 'u', subject: 'user:u', models: null },
  ...{ window: 'hour', timeZone: 'UTC', unit: 'requests', amount: 10, action: 'notify', ownKeys: 'count' },
  ...{ managedBy: 'owner', userId: 'u', signature: 's', createdAt: 0, updatedAt: 0 },
};

/** Several processes with one store and one ledger. */
async function setUp() {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const ledger = createMemoryLedger({ clock });
  await store.collection(BUDGETS).insert(RULE);
  const announced: HostEvent[] = [];
  const open = () => {
    const outbox: EventOutbox = {
      ...createOutbox({
        queue: { enqueue: () => Promise.reject(new Error('unused')) } as never,
        clock,
        graceMs: 1000,
        receivers: { refresh: async () => undefined, isActive: true, wants: () => true },
        onError: () => undefined,
      }),
      announce: (records) => void announced.push(...records.flatMap(({ event }) => event ?? [])),
    };
    const budgets = createBudgets({ store, clock });
    const events = createBudgetEvents({ store, ledger, budgets, outbox, onError: () => undefined });
    return { budgets, events };
  };
  const processes = Array.from({ length: PROCESSES }, open);
  let calls = 0;
  const hold = async ({ budgets, events }: (typeof processes)[number]) => {
    const caps = [
      {
        id: budgets.current(RULE).capId,
        unit: 'requests' as const,
        limit: Number.MAX_SAFE_INTEGER,
        amount: 1,
      },
    ];
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
  return { clock, store, processes, hold, thresholds };
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
