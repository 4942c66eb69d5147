import { setTimeout as pause } from 'node:timers/promises';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createSqliteDatabase, createSqlPorts } from '@questline/sql';
import { checkConservation } from '@questline/testing';

const WITHIN_MS = 60_000;

/** Reads the database of a running server. */
export function openLedgerAudit(path: string) {
  const clock = createSystemClock();
  const database = createSqliteDatabase({ path });
  const { ledger, queue } = createSqlPorts(database, { clock, ids: createIds({ clock }) });

  const isBusy = async (accounts: readonly string[]): Promise<boolean> => {
    const { ready, leased } = await queue.counts();
    if (ready + leased > 0) return true;
    for (const account of accounts) if ((await ledger.balance(account)).held > 0) return true;
    return false;
  };

  return {
    /** Waits at most a minute until no work runs and no credit is held. */
    async settled(accounts: readonly string[]): Promise<void> {
      for (const ends = Date.now() + WITHIN_MS; Date.now() < ends; ) {
        if (!(await isBusy(accounts))) return;
        await pause(500);
      }
    },
    counts: () => queue.counts(),
    audit: (grants: readonly { readonly account: string; readonly amount: number }[]) =>
      checkConservation(
        ledger,
        grants.map(({ account }) => account),
        grants,
      ),
    close: () => database.close(),
  };
}
