import { LRUCache } from 'lru-cache';
import type { ChargeDetails, CreditLedger } from '../ports/ledger.ts';
import { followed } from '../ports/write-all.ts';
import { withMaxEntries } from '../shared/cache-size.ts';
import { passReports } from './ledger-reports.ts';
import type { Observer } from './observer.ts';

/** Maximum number of tracked holds, open and closed. */
const MAX_HOLDS = 20_000;

interface OpenHold {
  readonly about: ChargeDetails;
  readonly amount: number;
}

/** Instruments a ledger: reports each credit movement after it happened. */
export function instrumentLedger(ledger: CreditLedger, tell: NonNullable<Observer['credit']>): CreditLedger {
  const holds = new LRUCache<string, OpenHold | 'ended'>(withMaxEntries(MAX_HOLDS));
  const getPurpose = (about: ChargeDetails | undefined) => ({
    operation: about?.operation,
    model: about?.model,
  });

  /** @returns the purpose of the hold, if it was open. */
  const end = (id: string): OpenHold | undefined => {
    const known = holds.get(id);
    if (known === undefined || known === 'ended') return undefined;
    holds.set(id, 'ended');
    return known;
  };

  return {
    async hold(request, options) {
      const outcome = await ledger.hold(request, options);
      // A repeated key returns the same hold: no movement.
      if (outcome.outcome === 'held' && holds.get(outcome.hold.id) === undefined) {
        const { id, amount } = outcome.hold;
        holds.set(id, { about: request.details, amount });
        tell({ kind: 'held', amount, ...getPurpose(request.details) });
      }
      return outcome;
    },
    async settle(hold, actual, usage, details) {
      const settlement = await ledger.settle(hold, actual, usage, details);
      const known = end(hold.id);
      if (settlement.first) {
        const amount = settlement.charged;
        tell({ kind: 'settled', amount, ...getPurpose(known?.about), ...(usage !== undefined && { usage }) });
      }
      return settlement;
    },
    toSettlement(hold, actual, usage, details) {
      const write = ledger.toSettlement?.(hold, actual, usage, details);
      return (
        write &&
        followed(write, () => {
          const purpose = getPurpose(end(hold.id)?.about);
          tell({ kind: 'settled', amount: actual, ...purpose, ...(usage !== undefined && { usage }) });
        })
      );
    },
    async release(hold) {
      await ledger.release(hold);
      const known = end(hold.id);
      if (known === undefined) return;
      tell({ kind: 'released', amount: known.amount, ...getPurpose(known.about) });
    },
    async record(charge) {
      await ledger.record(charge);
      const { details, usage } = charge;
      tell({
        kind: 'recorded',
        amount: 0,
        ...getPurpose(details),
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
    ...passReports(ledger),
  };
}
