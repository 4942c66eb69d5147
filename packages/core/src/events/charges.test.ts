import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import { createMemoryLedger } from '../memory/ledger.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { EngineWrite } from '../ports/write-all.ts';
import { createChargeEvents } from './charges.ts';
import type { EventType } from './event.ts';
import { createOutbox } from './outbox.ts';

const WRITE: EngineWrite = { do: 'engine', engine: {}, work: {}, applied: () => undefined };
const HOLD = { id: 'h', account: 'user:u', amount: 10, expiresAt: 1e9 };

/** The ledger of charge events on one whose settlements can be a part of a step. @param heard the events with receivers. */
function open(heard: readonly EventType[]) {
  const clock = createFakeClock();
  const outbox = createOutbox({
    queue: { enqueue: () => Promise.reject(new Error('unused')) } as never,
    clock,
    graceMs: 1000,
    receivers: { refresh: async () => undefined, isActive: true, wants: (type) => heard.includes(type) },
    onError: () => undefined,
  });
  const checked: string[] = [];
  const memory = createMemoryLedger({ clock });
  const { ledger } = createChargeEvents({
    ...{ store: createMemoryStore(), clock, outbox, creditsLowAt: 100 },
    ledger: {
      ...memory,
      toSettlement: () => WRITE,
      balance(account) {
        checked.push(account);
        return memory.balance(account);
      },
    },
    budgetEvents: {
      check: async () => undefined,
      isHeard: async () => false,
      onHold: (_caps, outcome) => outcome,
    },
    onError: () => undefined,
  });
  return { clock, ledger, checked };
}

it.each<[string, readonly EventType[], readonly string[] | undefined, boolean]>([
  ['events of charges have no receiver', ['credits.low'], undefined, true],
  ['events of charges have a receiver', ['charge.settled'], undefined, false],
  ['the hold has caps, whose thresholds are checked after it', [], ['cap'], false],
])('settles as a part of a step or not: %s', (_, heard, capIds, isPart) => {
  const { ledger } = open(heard);
  const write = ledger.toSettlement?.({ ...HOLD, ...(capIds && { capIds }) }, 5, {});
  expect(write !== undefined).toBe(isPart);
});

it('looks at the credit after a settlement that was a part of a step, unless it charged nothing', async () => {
  const { ledger, checked, clock } = open(['credits.low']);
  const settled = ledger.toSettlement?.(HOLD, 5, {});
  expect(checked).toEqual([]);
  settled?.applied();
  await clock.advance(0);
  expect(checked).toEqual(['user:u']);
  ledger.toSettlement?.(HOLD, 0, {})?.applied();
  await clock.advance(0);
  expect(checked).toHaveLength(1);
});
