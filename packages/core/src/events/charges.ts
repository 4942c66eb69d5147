import { toCredits } from '../credits/amounts.ts';
import { passReports } from '../observability/ledger-reports.ts';
import type { Clock } from '../ports/clock.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import type { Store } from '../ports/store.ts';
import { followed } from '../ports/write-all.ts';
import type { Incident } from '../shared/incident.ts';
import type { BudgetEvents } from './budgets.ts';
import { getAccountOwner, getEventRecordId } from './ids.ts';
import { type EventOutbox, toOutboxRecord } from './outbox.ts';
import { type ChargeIntent, EVENT_OUTBOX, LOW_CREDITS, type OutboxRecord } from './records.ts';

/** Intents that cannot be settled are dropped after this time. Their holds have expired long before. */
const MAX_INTENT_MS = 24 * 3_600_000;

export interface ChargeEventServices {
  /** Without events. */
  readonly store: Store;
  /** Without events. */
  readonly ledger: CreditLedger;
  readonly outbox: EventOutbox;
  readonly budgetEvents: BudgetEvents;
  readonly clock: Clock;
  /** Whole micro-credits. */
  readonly creditsLowAt: number;
  readonly onError: (incident: Incident) => void;
}

/** Sends an event for each settled charge, when the credit of an account becomes low, and for thresholds of budgets. */
export interface ChargeEvents {
  /** The ledger to settle with. */
  readonly ledger: CreditLedger;
  /** Completes the settlement of a process that crashed. Idempotent. */
  recover(record: OutboxRecord): Promise<void>;
}

/**
 * The ledger and the store share no transaction. The intent to charge is stored first, then the charge is settled, then
 * the event is completed with the charged amount. After a crash in between, `recover` settles again, which charges
 * nothing twice and returns the charged amount.
 */
export function createChargeEvents(services: ChargeEventServices): ChargeEvents {
  const { store, ledger, outbox, budgetEvents, clock } = services;
  const { receivers } = outbox;
  const records = store.collection(EVENT_OUTBOX);

  const report = (error: unknown): void => services.onError({ operation: 'events', requestId: '', error });

  /** Never rejects: a store that fails must not prevent the charge. @returns whether the intent is stored. */
  const intend = async (id: string, charge: ChargeIntent): Promise<boolean> => {
    const now = clock.now();
    try {
      await records.insert({ id, charge, checkAt: now + outbox.graceMs, createdAt: now });
      return true;
    } catch (error) {
      report(error);
      return false;
    }
  };

  /** Stores the event of a settled charge, unless that is done. */
  const complete = async (
    id: string,
    charge: ChargeIntent,
    amount: number,
    isIntended = true,
  ): Promise<void> => {
    if (amount > 0) await checkCredit(charge.account, id);
    const checked = budgetEvents.check(charge.settlement?.hold.capIds ?? []);
    // With an intent, the sweep repeats a check that fails.
    await (isIntended ? checked : checked.catch(report));
    if (!receivers.wants('charge.settled')) {
      if (isIntended) await records.take(id);
      return;
    }
    const settled = toChargeRecord(charge, amount, clock.now(), outbox.graceMs);
    const { event, checkAt } = settled;
    const record = isIntended ? await records.update(id, { event, charge: undefined, checkAt }) : settled;
    if (!isIntended) await records.insert(settled);
    if (record !== undefined) outbox.announce([record]);
  };

  const completeLater = (...done: Parameters<typeof complete>): void => {
    complete(...done).catch(report);
  };

  /** Reports an account whose credit is low, once until it is higher again. @param cause the charge. */
  const checkCredit = async (account: string, cause: string): Promise<void> => {
    await receivers.refresh();
    if (!receivers.wants('credits.low')) return;
    const { available } = await ledger.balance(account);
    const lows = store.collection(LOW_CREDITS);
    const id = getEventRecordId('low', account);
    if (available >= services.creditsLowAt) {
      if ((await lows.get(id)) !== undefined) await lows.take(id);
      return;
    }
    const written = await store.transaction(async (inner) => {
      if (!(await inner.collection(LOW_CREDITS).insert({ id, account }))) return [];
      const data = { id: account, ...getAccountOwner(account), available, credits: toCredits(available) };
      return [await outbox.add(inner, { type: 'credits.low', key: `${account} ${cause}`, data })];
    });
    outbox.announce(written);
  };

  const checkCreditLater = (account: string, cause: string): void => {
    checkCredit(account, cause).catch(report);
  };

  return {
    ledger: {
      ...pass(ledger),
      async hold(request, options) {
        const outcome = await ledger.hold(request, options);
        return request.caps === undefined ? outcome : budgetEvents.onHold(request.caps, outcome);
      },
      async settle(hold, actual, usage, details = { operation: 'unknown' }) {
        const id = getEventRecordId('charge.settled', hold.id);
        const needsIntent =
          receivers.wants('charge.settled') || (hold.capIds !== undefined && (await budgetEvents.isHeard()));
        if (!needsIntent) {
          const settlement = await ledger.settle(hold, actual, usage, details);
          if (settlement.charged > 0) checkCreditLater(hold.account, id);
          return settlement;
        }
        const charge = {
          key: hold.id,
          account: hold.account,
          details,
          usage: usage ?? {},
          settlement: { hold, amount: actual },
        };
        const isIntended = await intend(id, charge);
        const settlement = await ledger.settle(hold, actual, usage, details);
        completeLater(id, charge, settlement.charged, isIntended);
        return settlement;
      },
      toSettlement(hold, actual, usage, details) {
        if (hold.capIds !== undefined || receivers.wants('charge.settled')) return undefined;
        const id = getEventRecordId('charge.settled', hold.id);
        const write = ledger.toSettlement?.(hold, actual, usage, details);
        if (actual === 0) return write;
        return write && followed(write, () => checkCreditLater(hold.account, id));
      },
      async record({ account, key, details, usage }) {
        if (!receivers.wants('charge.settled'))
          return ledger.record({ account, key, details, ...(usage !== undefined && { usage }) });
        const id = getEventRecordId('charge.settled', `record:${key}`);
        const charge = { key, account, details, usage: usage ?? {} };
        const isIntended = await intend(id, charge);
        await ledger.record(charge);
        completeLater(id, charge, 0, isIntended);
      },
      async grant(grant, options) {
        const isNew = await ledger.grant(grant, options);
        if (isNew && grant.amount > 0) {
          await store.collection(LOW_CREDITS).take(getEventRecordId('low', grant.account)).catch(report);
        }
        return isNew;
      },
    },

    async recover({ id, charge, createdAt }) {
      if (charge === undefined) return;
      const { key, account, details, usage, settlement } = charge;
      try {
        if (settlement === undefined) {
          await ledger.record({ account, key, details, usage });
          await complete(id, charge, 0);
        } else {
          const { hold, amount } = settlement;
          const { charged } = await ledger.settle(hold, amount, usage, details);
          await complete(id, charge, charged);
        }
      } catch (error) {
        if (clock.now() - createdAt > MAX_INTENT_MS) await records.take(id);
        throw error;
      }
    },
  };
}

function toChargeRecord(
  { key, account, details, usage, settlement }: ChargeIntent,
  amount: number,
  now: number,
  graceMs: number,
): OutboxRecord {
  const data = {
    ...details,
    ...getAccountOwner(account),
    id: key,
    account,
    usage,
    amount,
    credits: toCredits(amount),
  };
  const eventKey = settlement === undefined ? `record:${key}` : key;
  return toOutboxRecord({ type: 'charge.settled', key: eventKey, data }, now, now + graceMs);
}

function pass(ledger: CreditLedger): CreditLedger {
  return {
    balance: (...args) => ledger.balance(...args),
    hold: (...args) => ledger.hold(...args),
    renew: (...args) => ledger.renew(...args),
    settle: (...args) => ledger.settle(...args),
    release: (...args) => ledger.release(...args),
    record: (...args) => ledger.record(...args),
    grant: (...args) => ledger.grant(...args),
    entries: (...args) => ledger.entries(...args),
    charges: (...args) => ledger.charges(...args),
    spent: (...args) => ledger.spent(...args),
    capUsed: (...args) => ledger.capUsed(...args),
    sweep: (...args) => ledger.sweep(...args),
    ...passReports(ledger),
  };
}
