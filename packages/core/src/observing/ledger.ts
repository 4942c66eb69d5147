import { createBoundedMap } from '../bounded-map.ts';
import type { ChargeDetails, CreditLedger } from '../ports/ledger.ts';
import type { Observer } from './observer.ts';

/** Holds that are remembered: open ones with their purpose, and that one has ended. */
const MOST_HOLDS = 20_000;

interface OpenHold {
  readonly about: ChargeDetails;
  readonly amount: number;
}

/** A ledger that does what the given one does, and tells each movement once it has happened. */
export function observedLedger(ledger: CreditLedger, tell: NonNullable<Observer['credit']>): CreditLedger {
  const holds = createBoundedMap<OpenHold | 'ended'>(MOST_HOLDS);
  const purposeOf = (about: ChargeDetails | undefined) => ({
    operation: about?.operation,
    model: about?.model,
  });

  /** @returns what it was for, if it was open. */
  const end = (id: string): OpenHold | undefined => {
    const known = holds.get(id);
    if (known === undefined || known === 'ended') return undefined;
    holds.set(id, 'ended');
    return known;
  };

  return {
    async hold(request, options) {
      const outcome = await ledger.hold(request, options);
      // The same key answers the same hold again: nothing moved then.
      if (outcome.outcome === 'held' && holds.get(outcome.hold.id) === undefined) {
        const { id, amount } = outcome.hold;
        holds.set(id, { about: request.details, amount });
        tell({ kind: 'held', amount, ...purposeOf(request.details) });
      }
      return outcome;
    },
    async settle(hold, actual, usage) {
      const settlement = await ledger.settle(hold, actual, usage);
      const known = end(hold.id);
      if (settlement.first) {
        const amount = settlement.charged;
        tell({ kind: 'settled', amount, ...purposeOf(known?.about), ...(usage !== undefined && { usage }) });
      }
      return settlement;
    },
    async release(hold) {
      await ledger.release(hold);
      const known = end(hold.id);
      if (known === undefined) return;
      tell({ kind: 'released', amount: known.amount, ...purposeOf(known.about) });
    },
    async record(charge) {
      await ledger.record(charge);
      const { details, usage } = charge;
      tell({
        kind: 'recorded',
        amount: 0,
        ...purposeOf(details),
        ...(usage !== undefined && { usage }),
      });
    },
    balance: (account, options) => ledger.balance(account, options),
    renew: (hold, expiresAt, options) => ledger.renew(hold, expiresAt, options),
    grant: (grant, options) => ledger.grant(grant, options),
    entries: (account, page, options) => ledger.entries(account, page, options),
    charges: (filter, limit, options) => ledger.charges(filter, limit, options),
    spent: (filter, since, options) => ledger.spent(filter, since, options),
    capUsed: (capId, options) => ledger.capUsed(capId, options),
    sweep: (options) => ledger.sweep(options),
  };
}
