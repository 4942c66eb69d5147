import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock } from '@questline/testing';
import { BUDGETS, type BudgetRecord } from '../src/credits/budget-rules.ts';
import { createBudgets } from '../src/credits/budgets.ts';
import { createHoldHeartbeat } from '../src/credits/hold-heartbeat.ts';
import { type Prices, priceModel } from '../src/credits/pricing.ts';
import type { ReservationServices } from '../src/credits/reservations.ts';
import { createSettlementRetries } from '../src/credits/settlement-retries.ts';
import { createMemoryLedger } from '../src/memory/ledger.ts';
import { createMemoryStore } from '../src/memory/store.ts';
import type { CatalogueEntry } from '../src/models/catalogue.ts';
import type { PaidCallRequest } from '../src/models/paid-call.ts';
import type { CreditLedger, HoldRequest } from '../src/ports/ledger.ts';
import type { Incident } from '../src/shared/incident.ts';

const ACCOUNT = 'user:a';

/** A budget of tokens, which ignores calls with a key of the user. */
export const TOKENS: BudgetRecord = {
  ...{ id: 'rule', name: 'Tokens', scope: 'everyone', scopeId: null, subject: 'everyone', userId: null },
  ...{ models: null, window: 'total', timeZone: 'UTC', unit: 'tokens', amount: 1000, action: 'refuse' },
  ...{ ownKeys: 'ignore', managedBy: 'administrator', signature: 'rule', createdAt: 0, updatedAt: 0 },
};

interface Account {
  /** Micro-credits. Default 100. */
  readonly credit?: number;
  readonly rules?: readonly BudgetRecord[];
  /** Replaces verbs of the ledger. */
  readonly ledger?: Partial<CreditLedger>;
}

/** An account, and a ledger that ends holds in a later turn. */
export async function openAccount({ credit = 100, rules = [], ledger: replaced = {} }: Account = {}) {
  const clock = createFakeClock();
  const incidents: Incident[] = [];
  const holds: HoldRequest[] = [];
  const onError = (incident: Incident): void => void incidents.push(incident);
  const own = createMemoryLedger({ clock });
  await own.grant({ account: ACCOUNT, amount: credit, key: 'start', reason: 'start' });
  const ledger: CreditLedger = {
    ...own,
    hold(request) {
      holds.push(request);
      return own.hold(request);
    },
    async settle(...settlement) {
      await turn();
      return own.settle(...settlement);
    },
    async release(...hold) {
      await turn();
      return own.release(...hold);
    },
    ...replaced,
  };
  const store = createMemoryStore();
  for (const rule of rules) await store.collection(BUDGETS).insert(rule);
  const services: ReservationServices = {
    ledger,
    budgets: createBudgets({ store, clock }),
    heartbeat: createHoldHeartbeat({ ledger, clock, onError }),
    settlementRetries: createSettlementRetries({ clock, ids: { bytes: () => Uint8Array.of(255) }, onError }),
    clock,
    onError,
  };
  return {
    services,
    clock,
    incidents,
    /** The holds that were asked for. */
    holds,
    balance: () => own.balance(ACCOUNT),
    charges: () => own.charges({ account: ACCOUNT }, 10),
  };
}

export const PRICED = {
  info: { id: 'm', contextWindow: 1000, maxOutputTokens: 500 },
  provider: { id: 'vendor' },
  prices: priceModel('text', { input: 100, output: 100 }) as Prices,
} as unknown as CatalogueEntry;

export const PAID_REQUEST: PaidCallRequest = {
  entry: PRICED,
  key: 'call',
  payer: { account: ACCOUNT, userId: 'a' },
  operation: 'ask',
  requestId: 'r-1',
  isMetered: true,
  amount: 60,
};
