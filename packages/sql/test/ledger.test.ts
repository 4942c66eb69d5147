import { createFakeClock, createFakeIds, fakeTime, ledgerSuite } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSqlLedger, type SqlDatabase } from '../src/index.ts';
import { HOUR_MS, LEDGER_HOURS } from '../src/ledger/hours-tables.ts';
import { LEDGER_REPORTS } from '../src/ledger/report-tables.ts';
import { LEDGER_HOLD_CAPS, LEDGER_TABLES } from '../src/ledger/tables.ts';
import { ENGINES } from './engines.ts';
import { shareDatabase } from './shared.ts';

describe.each(ENGINES)('$name', (engine) => {
  const shared = shareDatabase(engine);

  const create = async () => {
    const clock = createFakeClock();
    const ledger = createSqlLedger(await shared.fresh(), { clock, ids: createFakeIds(1) });
    const peer = createSqlLedger(shared.peer(), { clock, ids: createFakeIds(2) });
    return { ledger, peers: [peer], time: fakeTime(clock) };
  };

  ledgerSuite({ name: engine.name, create });

  it('returns a known hold with the expiry of its last renewal', async () => {
    const { ledger, time } = await create();
    await ledger.grant({ account: 'user:a', amount: 10, key: 'a', reason: 'start' });
    const details = { operation: 'chat' };
    const request = { account: 'user:a', amount: 10, key: 'b', expiresAt: time.now() + 10, details };
    const first = await ledger.hold(request);
    if (first.outcome !== 'held') throw new Error(first.outcome);
    const expiresAt = time.now() + 20;
    expect(await ledger.renew(first.hold, expiresAt)).toBe(true);
    expect(await ledger.hold(request)).toEqual({ outcome: 'held', hold: { ...first.hold, expiresAt } });
  });

  it('frees what an expired hold of another account has taken of a cap', async () => {
    const { ledger, time } = await create();
    const hold = async (account: string) => {
      await ledger.grant({ account, amount: 100, key: account, reason: 'start' });
      const common = { amount: 60, expiresAt: time.now() + 10, details: { operation: 'chat' } };
      const cap = { id: 'cap', limit: 100 };
      return (await ledger.hold({ ...common, account, key: account, cap })).outcome;
    };
    expect([await hold('user:a'), await hold('user:b')]).toEqual(['held', 'spend_cap_exceeded']);
    await time.advance(10);
    expect(await hold('user:c')).toBe('held');
  });

  it('keeps amounts exact up to the largest safe integer and rejects larger ones', async () => {
    const { ledger } = await create();
    const most = Number.MAX_SAFE_INTEGER;
    await ledger.grant({ account: 'user:a', amount: most, key: 'a', reason: 'all' });

    expect(await ledger.balance('user:a')).toEqual({ posted: most, held: 0, available: most });
    await expect(ledger.grant({ account: 'user:a', amount: 1, key: 'b', reason: 'more' })).rejects.toThrow(
      RangeError,
    );
    expect((await ledger.balance('user:a')).posted).toBe(most);
    expect(await ledger.entries('user:a', { limit: 10 })).toHaveLength(1);
    const beyond = ledger.grant({ account: 'user:a', amount: 1, key: 'c', reason: 'more' });
    expect(await beyond.catch((error: Error) => error.cause)).toBeInstanceOf(Error);
  });

  it('keeps nothing of the caps of a settled hold', async () => {
    const { ledger, time } = await create();
    await ledger.grant({ account: 'user:a', amount: 10, key: 'a', reason: 'start' });
    const caps = [{ id: 'requests', unit: 'requests', amount: 1, limit: 9 }] as const;
    const details = { operation: 'chat' };
    const request = { account: 'user:a', amount: 10, key: 'b', expiresAt: time.now() + 10, details, caps };
    const held = await ledger.hold(request);
    if (held.outcome !== 'held') throw new Error(held.outcome);
    const { account, amount, expiresAt } = request;
    expect(held.hold).toEqual({ id: expect.any(String), account, amount, expiresAt });
    await ledger.settle(held.hold, 3);
    const database = shared.peer();
    const sql = `select count(*) as kept from ${database.names.table('ledgerHoldCaps')}`;
    expect(Number((await database.run({ sql, parameters: [] }))[0]?.kept)).toBe(0);
  });

  it('names an amount below 0', async () => {
    const { ledger, time } = await create();
    const wrong = /^-1 is no amount/;
    const details = { operation: 'chat' };
    const request = { account: 'user:a', key: 'a', expiresAt: time.now() + 10, details };
    await expect(ledger.hold({ ...request, amount: -1 })).rejects.toThrow(wrong);
    const first = await ledger.hold({ ...request, amount: 0 });
    if (first.outcome !== 'held') throw new Error(first.outcome);
    await expect(ledger.settle(first.hold, -1)).rejects.toThrow(wrong);
  });
});

/** Pays calls over three days, one in each quarter of an hour or so. */
async function payCalls(database: SqlDatabase) {
  const clock = createFakeClock(1_790_000_000_000);
  const ledger = createSqlLedger(database, { clock, ids: createFakeIds(1) });
  await ledger.grant({ account: 'user:a', amount: 1_000_000, key: 'start', reason: 'start' });
  const start = clock.now();
  const calls: { readonly at: number; readonly amount: number; readonly keyId: string | undefined }[] = [];
  for (let number = 0; number < 40; number += 1) {
    const keyId = [undefined, 'key 1', 'key 2'][number % 3];
    const details = { operation: 'chat', userId: 'a', ...(keyId !== undefined && { keyId }) };
    const request = {
      account: 'user:a',
      amount: 100,
      key: `call ${number}`,
      expiresAt: clock.now() + 10,
      details,
    };
    const outcome = await ledger.hold(request);
    if (outcome.outcome !== 'held') throw new Error(outcome.outcome);
    calls.push({ at: clock.now(), amount: number, keyId });
    // The hour is that of the call, not of its end.
    await clock.advance(HOUR_MS * 0.7);
    await ledger.settle(outcome.hold, number);
    await ledger.settle(outcome.hold, number);
    await clock.advance(HOUR_MS * (number % 4) * 0.35);
  }
  const expected = (since: number, keyId?: string) =>
    calls
      .filter((call) => call.at >= since && (keyId === undefined || call.keyId === keyId))
      .reduce((sum, { amount }) => sum + amount, 0);
  return { ledger, start, calls, expected };
}

describe.each(ENGINES)('sums of charges on $name', (engine) => {
  const shared = shareDatabase(engine);

  it('are exact from any moment, for an account, a user and a key', async () => {
    const { ledger, start, calls, expected } = await payCalls(await shared.fresh());
    const fullHour = Math.ceil(start / HOUR_MS) * HOUR_MS;
    const moments = [0, start, fullHour, fullHour + 1, fullHour + 3 * HOUR_MS - 1];
    for (const since of [...moments, ...calls.flatMap(({ at }) => [at, at + 1])]) {
      expect(await ledger.spent({ account: 'user:a' }, since)).toBe(expected(since));
      expect(await ledger.spent({ account: 'user:a', userId: 'a' }, since)).toBe(expected(since));
      expect(await ledger.spent({ keyId: 'key 1' }, since)).toBe(expected(since, 'key 1'));
    }
    expect(await ledger.spent({ userId: 'b' }, 0)).toBe(0);
  });

  it('read the charges of at most one hour', async () => {
    const database = await shared.fresh();
    const { ledger, start, expected } = await payCalls(database);
    const later = start + 24 * HOUR_MS;
    const table = database.names.table('ledgerCharges');
    await database.run({
      sql: `delete from ${table} where created_at >= ${later + HOUR_MS}`,
      parameters: [],
    });
    expect(await ledger.spent({ account: 'user:a' }, later)).toBe(expected(later));
  });
});

describe.each(ENGINES)('charges of an older version on $name', (engine) => {
  it('are in the sums, before and after the migration', async () => {
    const { database, close } = await engine.open();
    const { dialect, names } = database;
    const run = async (statements: readonly string[]) => {
      for (const sql of statements) await database.run({ sql, parameters: [] });
    };
    for (const step of [LEDGER_TABLES, LEDGER_HOLD_CAPS, LEDGER_REPORTS]) {
      await run(step.statements(dialect, names));
    }
    const add = (id: string, charged: number) =>
      run([
        `insert into ${names.table('ledgerCharges')} (id, kind, key, account, reserved, expires_at, charged,
           operation, key_id, created_at)
         values ('${id}', 'hold', '${id}', 'user:a', 9, 0, ${charged}, 'chat', 'key 1', ${7 * HOUR_MS + 5})`,
      ]);
    await add('one', 3);
    await add('two', 4);
    await add('open', 0);
    await run(LEDGER_HOURS.statements(dialect, names));
    await run([`update ${names.table('ledgerCharges')} set charged = 5 where id = 'open'`]);
    const ledger = createSqlLedger(database, { clock: createFakeClock(), ids: createFakeIds() });
    for (const since of [0, 7 * HOUR_MS, 7 * HOUR_MS + 5]) {
      expect(await ledger.spent({ account: 'user:a' }, since)).toBe(12);
      expect(await ledger.spent({ keyId: 'key 1' }, since)).toBe(12);
    }
    expect(await ledger.spent({ account: 'user:a' }, 7 * HOUR_MS + 6)).toBe(0);
    await close();
  });
});
