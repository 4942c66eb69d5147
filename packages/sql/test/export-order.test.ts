import type { CreditLedger } from '@questline/core/ports';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createShardDirectory,
  createSqliteDatabase,
  createSqlLedger,
  createSqlPorts,
  migrate,
  SHARD_COLLECTIONS,
  type SqlDatabase,
  shard,
} from '../src/index.ts';
import { type OpenEngine, POSTGRES, POSTGRES_URL } from './engines.ts';

const ALICE = 'user:alice';

type Before = () => Promise<unknown>;

/** A handle that awaits `before` ahead of each statement and transaction. */
function awaiting(database: SqlDatabase, before: Before): SqlDatabase {
  const run: SqlDatabase['run'] = async (...asked) => {
    await before();
    return database.run(...asked);
  };
  const transaction: SqlDatabase['transaction'] = async (...asked) => {
    await before();
    return database.transaction(...asked);
  };
  return { ...database, run, transaction };
}

const exportAfter = async (ledger: CreditLedger, after: number) =>
  (await ledger.exportEntries?.({ after, limit: 100 })) ?? [];

/** Exports, while another reader exports ahead of one statement: each in turn. @returns the number of turns. */
async function exportBeside(other: CreditLedger, open: (before: Before) => CreditLedger): Promise<number> {
  for (let at = 1; ; at += 1) {
    const after = (await exportAfter(other, 0)).at(-1)?.position ?? 0;
    await other.grant({ account: ALICE, amount: 1, key: `new ${at}`, reason: 'test' });
    let statements = 0;
    const late = open(async () => {
      statements += 1;
      if (statements === at) await exportAfter(other, after);
    });
    const keys = (await exportAfter(late, after)).map(({ key }) => key);
    expect(keys, `the other one exports before statement ${at}`).toEqual([`new ${at}`]);
    if (statements < at) return at - 1;
  }
}

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

  it('contains an entry that another reader gives its position meanwhile', async () => {
    const options = { clock: createFakeClock(), ids: createFakeIds(1) };
    const turns = await exportBeside(createSqlLedger(open.database, options), (before) =>
      createSqlLedger(awaiting(open.database, before), options),
    );
    expect(turns).toBeGreaterThan(1);
  });

  it('contains all entries where more have no position than one step gives', async () => {
    const { database } = open;
    const options = { clock: createFakeClock(), ids: createFakeIds(1) };
    const ledger = createSqlLedger(database, options);
    const account = 'user:carol';
    await database.run({
      sql: `insert into ${database.names.table('ledgerEntries')} (account, kind, amount, key, reason, created_at)
        select '${account}', 'grant', 1, 'key ' || g, 'test', 1 from generate_series(1, 2500) g order by g`,
      parameters: [],
    });
    const all = (await ledger.exportEntries?.({ account, after: 0, limit: 10_000 })) ?? [];
    expect(all.map(({ key }) => key)).toEqual(Array.from({ length: 2500 }, (_, at) => `key ${at + 1}`));
  });
});

describe('an export of two databases', () => {
  const open = async () => {
    const options = { clock: createFakeClock(), ids: createFakeIds(1) };
    const create = () => createSqliteDatabase({ path: ':memory:' });
    const databases = { home: create(), a: create(), b: create() };
    for (const database of Object.values(databases)) {
      await migrate(database, { collections: SHARD_COLLECTIONS });
    }
    return (before: Before): CreditLedger => {
      const { home: place, ...shards } = databases;
      const toPorts = (database: SqlDatabase) => createSqlPorts(awaiting(database, before), options);
      const home = toPorts(place);
      const choose = (owner: string) => (owner === 'alice' ? 'a' : 'b');
      return shard({
        ...{ home, shards: { a: toPorts(shards.a), b: toPorts(shards.b) }, isOwner: () => true },
        directory: createShardDirectory({ store: home.store, shards: ['a', 'b'], choose }),
      }).ledger;
    };
  };

  it('contains an entry that another reader places meanwhile', async () => {
    const create = await open();
    const other = create(async () => {});
    expect(await exportBeside(other, create)).toBeGreaterThan(3);
  });

  it('continues at any entry, with pages of any size, when others were added since', async () => {
    const ledger = (await open())(async () => {});
    const added: string[] = [];
    for (const [at, count] of [3, 2, 4, 1].entries()) {
      for (const account of [ALICE, 'user:bob']) {
        for (let number = 0; number < count; number += 1) {
          const key = `${account} ${at} ${number}`;
          added.push(key);
          await ledger.grant({ account, amount: 1, key, reason: 'test' });
        }
      }
      await exportAfter(ledger, 0);
    }
    const all = await exportAfter(ledger, 0);
    expect(all.map(({ key }) => key)).toEqual(added);
    expect(all.map(({ position }) => position)).toEqual(added.map((_, at) => at + 1));
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (let limit = 1; limit <= added.length + 1; limit += 1) {
      for (let after = 0; after <= added.length; after += 1) {
        const page = await ledger.exportEntries?.({ after, limit });
        expect(page, `${limit} after ${after}`).toEqual(all.slice(after, after + limit));
      }
    }
  });
});
