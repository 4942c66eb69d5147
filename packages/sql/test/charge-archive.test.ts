import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSqlLedger } from '../src/index.ts';
import { ENGINES, POSTGRES, POSTGRES_URL } from './engines.ts';
import { shareDatabase } from './shared.ts';

const DAY_MS = 86_400_000;
const details = { operation: 'chat' };

describe.each(ENGINES)('archived charges on $name', (engine) => {
  const shared = shareDatabase(engine);

  const create = async () => {
    const clock = createFakeClock();
    const database = await shared.fresh();
    const ledger = createSqlLedger(database, { clock, ids: createFakeIds(1) });
    const call = async (key: string) => {
      const expiresAt = clock.now() + DAY_MS;
      const request = {
        account: 'user:a',
        amount: 0,
        key,
        expiresAt,
        ignoresBalance: true,
        details,
      } as const;
      const outcome = await ledger.hold(request);
      if (outcome.outcome !== 'held') throw new Error(outcome.outcome);
      return outcome.hold;
    };
    const archive = () => ledger.archiveCharges?.({ before: clock.now() + 1, limit: 100 }, async () => {});
    return { clock, database, ledger, call, archive };
  };

  it('keep the key of the first where an older version has charged one again', async () => {
    const { clock, database, ledger, call, archive } = await create();
    await ledger.settle(await call('call'), 5);
    expect(await archive()).toBe(1);
    const table = database.names.table('ledgerCharges');
    await database.run({
      sql: `insert into ${table} (id, kind, key, account, reserved, expires_at, charged, settled_at, operation, created_at)
        values ('second', 'hold', 'call', 'user:a', 0, 0, 7, ${clock.now()}, 'chat', ${clock.now()})`,
      parameters: [],
    });
    expect(await archive()).toBe(1);
    expect(await ledger.settle(await call('call'), 9)).toEqual({ charged: 5, first: false });
    const query = { filter: {}, from: 0, to: clock.now() + DAY_MS, groupBy: [], limit: 1 };
    expect(await ledger.sumCharges?.(query)).toMatchObject([{ requests: 2, amount: 12 }]);
  });

  it('leave an expired hold until it is swept, and charge its late settlement', async () => {
    const { clock, ledger, call, archive } = await create();
    const hold = await call('call');
    await clock.advance(2 * DAY_MS);
    expect(await archive()).toBe(0);
    expect(await ledger.sweep()).toBe(1);
    expect(await archive()).toBe(1);
    expect(await ledger.sweep()).toBe(0);
    expect(await ledger.settle(hold, 3)).toEqual({ charged: 3, first: true });
    expect((await ledger.balance('user:a')).posted).toBe(-3);
  });

  it('leave their keys and one row of sums per hour, model and operation', async () => {
    const { database, ledger, call, archive } = await create();
    for (const key of ['one', 'two', 'three']) await ledger.settle(await call(key), 2, { input: 1 });
    await ledger.release(await call('released'));
    expect(await archive()).toBe(4);
    const count = async (table: string) => {
      const sql = `select count(*) as rows from ${database.names.table(table)}`;
      const [row] = await database.run({ sql, parameters: [] });
      return Number(row?.rows);
    };
    expect(await count('ledgerCharges')).toBe(0);
    expect(await count('ledgerArchivedKeys')).toBe(4);
    expect(await count('ledgerArchivedHours')).toBe(1);
    expect(await count('ledgerEntries')).toBe(3);
  });
});

describe.skipIf(POSTGRES_URL === undefined)('the archive of charges on PostgreSQL', () => {
  const shared = shareDatabase(POSTGRES);
  const record = { account: 'user:a', key: 'call', details };

  const create = async () => {
    const clock = createFakeClock();
    const database = await shared.fresh();
    return { clock, database, ledger: createSqlLedger(database, { clock, ids: createFakeIds(1) }) };
  };

  it('waits for no charge that another transaction uses', async () => {
    const { clock, database, ledger } = await create();
    for (const key of ['call', 'other']) await ledger.record({ ...record, key });
    const page = { before: clock.now() + 1, limit: 10 };
    const table = database.names.table('ledgerCharges');
    await shared.peer().transaction(async (connection) => {
      await connection.run({ sql: `select 1 from ${table} where key = 'call' for update`, parameters: [] });
      expect(await ledger.archiveCharges?.(page, async () => {})).toBe(1);
    });
    expect(await ledger.archiveCharges?.(page, async () => {})).toBe(1);
  });

  it('leaves a key known to a call that begins while its charge moves', async () => {
    const { database, ledger } = await create();
    await ledger.record(record);
    const charges = database.names.table('ledgerCharges');
    let repeated: Promise<void> | undefined;
    await shared.peer().transaction(async (connection) => {
      const sql = `with moved as (delete from ${charges} returning *)
        insert into ${database.names.table('ledgerArchivedKeys')} (key, kind, account, reserved, expires_at, charged)
        select key, kind, account, reserved, expires_at, charged from moved`;
      await connection.run({ sql, parameters: [] });
      let isAnswered = false;
      repeated = ledger.record(record).finally(() => {
        isAnswered = true;
      });
      // The end of this transaction comes while the call waits for it, if it does.
      for (let isWaiting = false; !isAnswered && !isWaiting; ) {
        const waiting =
          'select 1 from pg_stat_activity where pid <> pg_backend_pid() and wait_event_type = $1 and query like $2';
        const found = await connection.run({
          sql: waiting,
          parameters: ['Lock', `%insert into ${charges}%`],
        });
        isWaiting = found.length > 0;
      }
    });
    await repeated;
    expect(await ledger.charges({}, 10)).toEqual([]);
  });
});
