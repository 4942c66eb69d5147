import { createFakeClock, createFakeIds } from '@questline/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSqlLedger, migrate } from '../src/index.ts';
import { type OpenEngine, POSTGRES, POSTGRES_URL } from './engines.ts';

const ALICE = 'user:alice';

describe.skipIf(POSTGRES_URL === undefined)('an export on PostgreSQL', () => {
  let open: OpenEngine;
  beforeAll(async () => {
    open = await POSTGRES.open();
    await migrate(open.database, { collections: [] });
  }, 60_000);
  afterAll(() => open.close());

  it('contains an entry that is committed after a later one was read', async () => {
    const { database } = open;
    const ledger = createSqlLedger(database, { clock: createFakeClock(), ids: createFakeIds(1) });
    const read = async (after: number) =>
      (await ledger.exportEntries?.({ after, limit: 10 }))?.map(({ key, position }) => ({ key, position })) ??
      [];
    await ledger.grant({ account: ALICE, amount: 1, key: 'first', reason: 'test' });
    const entries = database.names.table('ledgerEntries');
    const seen = await database.transaction(
      async (connection) => {
        // It takes its number now, and is committed after the next grant.
        const sql = `insert into ${entries} (account, kind, amount, key, reason, created_at)
          values ('user:bob', 'grant', 1, 'slow', 'test', 1)`;
        await connection.run({ sql, parameters: [] });
        await ledger.grant({ account: ALICE, amount: 1, key: 'quick', reason: 'test' });
        return read(0);
      },
      { isolation: 'read committed' },
    );
    expect(seen.map(({ key }) => key)).toEqual(['first', 'quick']);
    const rest = await read(seen.at(-1)?.position ?? 0);
    expect(rest.map(({ key }) => key)).toEqual(['slow']);
  });
});
