import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSqlLedger } from '../src/index.ts';
import { ENGINES } from './engines.ts';
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
