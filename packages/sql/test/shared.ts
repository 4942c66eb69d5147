import type { CollectionShape } from '@questline/core/ports';
import { afterAll, beforeAll } from 'vitest';
import { migrate, type SqlDatabase } from '../src/index.ts';
import type { Engine, OpenEngine } from './engines.ts';

const TABLES = [
  'ledgerAccounts',
  'ledgerCaps',
  'ledgerHolds',
  'ledgerCharges',
  'ledgerEntries',
  'ledgerHoldCaps',
  'ledgerHours',
  'ledgerArchivedHours',
  'ledgerArchivedKeys',
  'ledgerMoves',
  'rateWindows',
  'jobs',
  'eventBatches',
];

/**
 * One database for all tests of a `describe`, emptied for each: creating tables takes longer than most tests.
 */
export interface SharedDatabase {
  /** The emptied database. */
  fresh(): Promise<SqlDatabase>;
  /** Another handle on the same database, the same in every test. */
  peer(): SqlDatabase;
}

export function shareDatabase(engine: Engine, collections: readonly CollectionShape[] = []): SharedDatabase {
  let open: OpenEngine | undefined;
  let peer: SqlDatabase | undefined;
  const opened = (): OpenEngine => {
    if (open === undefined) throw new Error('only inside a test');
    return open;
  };
  beforeAll(async () => {
    open = await engine.open();
    await migrate(open.database, { collections });
    // PGlite starts slowly on a busy machine.
  }, 180_000);
  afterAll(() => open?.close());
  return {
    async fresh() {
      const { database } = opened();
      for (const table of [...TABLES, ...collections.map(({ name }) => name)]) {
        await database.run({ sql: `delete from ${database.names.table(table)}`, parameters: [] });
      }
      return database;
    },
    peer() {
      peer ??= opened().peer();
      return peer;
    },
  };
}
