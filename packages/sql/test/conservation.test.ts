import { DatabaseSync } from 'node:sqlite';
import { type CreditLedger, type Hold, isStorageUnavailable } from '@questline/core/ports';
import {
  checkConservation,
  createFakeClock,
  createFakeIds,
  createRandom,
  type Random,
} from '@questline/testing';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createPostgresDatabase, createSqliteDatabase, createSqlLedger, migrate } from '../src/index.ts';
import { type Engine, type EngineAddress, POSTGRES, POSTGRES_URL, SQLITE_FILE } from './engines.ts';
import { createFaults, type Fault, type Faults, faultyDatabase, faultyPool } from './faults.ts';

/** `npm run soak -w @questline/sql` runs it at full size. */
const isFull = process.env.QUESTLINE_TEST_SOAK === 'full';
const SEEDS = isFull ? 20 : 3;
const OPERATIONS = isFull ? 10_000 : 600;
const ACCOUNTS = ['user:a', 'user:b', 'organization:c'];
const CAPS = ['cap:1', 'cap:2'];
const MINUTE = 60_000;

/** A ledger in a process that may crash at any statement, and be restarted. */
interface FragileLedger {
  ledger(): CreditLedger;
  close(): Promise<void>;
}

type Clock = ReturnType<typeof createFakeClock>;

function openFragile(address: EngineAddress, faults: Faults, clock: Clock, seed: number): FragileLedger {
  let generation = 0;
  const ids = () => createFakeIds(seed * 10_000 + generation++);
  if (address.dialect === 'postgres') {
    const pool = new pg.Pool({ connectionString: address.url, max: 4 });
    const database = createPostgresDatabase({ pool: faultyPool(pool, faults), schema: address.schema });
    const ledger = createSqlLedger(database, { clock, ids: ids() });
    return { ledger: () => ledger, close: () => pool.end() };
  }
  const start = () => {
    const connection = new DatabaseSync(address.path);
    connection.exec('pragma synchronous = off; pragma busy_timeout = 5');
    const database = createSqliteDatabase({ database: faultyDatabase(connection, faults) });
    return { connection, ledger: createSqlLedger(database, { clock, ids: ids() }) };
  };
  let current = start();
  return {
    ledger() {
      if (!current.connection.isOpen) current = start();
      return current.ledger;
    },
    async close() {
      if (current.connection.isOpen) current.connection.close();
    },
  };
}

interface Tally {
  calls: number;
  unavailable: number;
  granted: { account: string; amount: number }[];
}

/** A caller that continues after errors: it retries, or stops and lets the hold expire. */
async function operate(
  fragile: FragileLedger,
  random: Random,
  clock: Clock,
  tally: Tally,
  count: number,
  name: string,
) {
  const holds: Hold[] = [];
  /** @returns undefined when it never got an answer, and does not know whether the call took effect. */
  const ask = async <T>(
    call: (ledger: CreditLedger) => Promise<T>,
    isPatient: boolean,
  ): Promise<T | undefined> => {
    for (;;) {
      tally.calls += 1;
      try {
        return await call(fragile.ledger());
      } catch (error) {
        // A killed process interrupts the calls of others: they receive an error about a closed connection.
        const isGone = error instanceof Error && /not open|finalized/.test(error.message);
        if (!isStorageUnavailable(error) && !isGone) throw error;
        tally.unavailable += 1;
        if (!isPatient && random.chance(0.3)) return undefined;
      }
    }
  };
  const take = (): Hold | undefined => holds.splice(random.below(Math.max(1, holds.length)), 1)[0];

  for (let at = 0; at < count; at += 1) {
    const account = random.pick(ACCOUNTS);
    const amount = random.below(1000);
    const choice = random.below(100);
    if (choice < 10) {
      const grant = { account, amount: amount * 5 - 500, key: `${name} ${at}`, reason: 'test' };
      await ask((ledger) => ledger.grant(grant), true);
      tally.granted.push(grant);
    } else if (choice < 50) {
      const request = {
        account,
        amount,
        key: `${name} ${at}`,
        expiresAt: clock.now() + 1 + random.below(20 * MINUTE),
        details: { operation: 'test' },
        ...(random.chance(0.4) && { cap: { id: random.pick(CAPS), limit: 10_000_000 } }),
      };
      const outcome = await ask((ledger) => ledger.hold(request), false);
      if (outcome?.outcome === 'held') holds.push(outcome.hold);
    } else if (choice < 80) {
      const hold = take();
      if (hold === undefined) continue;
      const actual = random.chance(0.1) ? hold.amount + random.below(300) : random.below(hold.amount + 1);
      const settlement = await ask((ledger) => ledger.settle(hold, actual, { input: actual }), false);
      // Sometimes the caller settles twice by mistake.
      if (settlement !== undefined && random.chance(0.1)) {
        const again = await ask((ledger) => ledger.settle(hold, actual + 1), false);
        if (again !== undefined) expect(again).toEqual({ charged: settlement.charged, first: false });
      }
    } else if (choice < 88) {
      const hold = take();
      if (hold !== undefined) await ask((ledger) => ledger.release(hold), false);
    } else if (choice < 93) {
      const hold = holds[0];
      if (hold !== undefined) await ask((ledger) => ledger.renew(hold, clock.now() + 15 * MINUTE), false);
    } else if (choice < 96) await ask((ledger) => ledger.sweep(), false);
    else await clock.advance(random.below(5 * MINUTE));
  }
}

/** A SQLite transaction is several statements, so each of them may fail less often. */
const ENGINES: readonly (Engine & { kinds: readonly Fault[]; chance: number })[] = [
  { ...SQLITE_FILE, kinds: ['failed', 'lost', 'crashed'], chance: 0.02 },
  ...(POSTGRES_URL === undefined
    ? []
    : [{ ...POSTGRES, kinds: ['failed', 'lost', 'late'] as const, chance: 0.08 }]),
];

describe.each(ENGINES)('keeps money on $name with faults between any two statements', (engine) => {
  const all = { calls: 0, faults: 0, granted: 0, charged: 0, posted: 0, drift: 0 };

  it.each(Array.from({ length: SEEDS }, (_, at) => at + 1))(
    `is conserved over ${OPERATIONS} operations, seed %i`,
    { timeout: isFull ? 1_800_000 : 30_000 },
    async (seed) => {
      const open = await engine.open();
      await migrate(open.database, { collections: [] });
      const clock = createFakeClock();
      const random = createRandom(seed);
      const faults = createFaults(createRandom(seed + 1000), engine.chance, engine.kinds);
      const tally: Tally = { calls: 0, unavailable: 0, granted: [] };
      const fragile = openFragile(open.address, faults, clock, seed);

      const callers = 4;
      await Promise.all(
        Array.from({ length: callers }, (_, at) =>
          operate(
            fragile,
            createRandom(random.below(1e9)),
            clock,
            tally,
            OPERATIONS / callers,
            `caller ${at}`,
          ),
        ),
      );
      await fragile.close();

      // All callers have ended. Their open holds expire, and a healthy process audits the ledger.
      const ledger = createSqlLedger(open.database, { clock, ids: createFakeIds(seed) });
      const before = await checkConservation(ledger, ACCOUNTS, tally.granted);
      await clock.advance(60 * MINUTE);
      await ledger.sweep();
      const report = await checkConservation(ledger, ACCOUNTS, tally.granted);
      const caps = await Promise.all(CAPS.map((cap) => ledger.capUsed(cap)));
      const { counts } = faults;
      console.log(
        `${engine.name}, seed ${seed}: ${OPERATIONS} operations, ${tally.calls} calls, ` +
          `faults ${JSON.stringify(counts)}, granted ${report.granted}, charged ${report.charged}, ` +
          `posted ${report.posted}, entries ${report.entries}, held ${report.held}, caps ${caps}, drift ${report.drift}`,
      );
      await expectCapsAddUp(open.database, CAPS, caps);
      await open.close();

      expect(counts.failed).toBeGreaterThan(0);
      expect(counts.lost).toBeGreaterThan(0);
      expect(report.entries).toBeGreaterThan(OPERATIONS / 10);
      expect({ before: before.drift, after: report.drift, held: report.held }).toEqual({
        before: 0,
        after: 0,
        held: 0,
      });
      all.calls += tally.calls;
      all.faults += counts.failed + counts.lost + counts.late + counts.crashed;
      all.granted += report.granted;
      all.charged += report.charged;
      all.posted += report.posted;
      all.drift += Math.abs(report.granted - report.charged - report.posted);
    },
  );

  it('conserves money in total', () => {
    console.log(`${engine.name}: ${SEEDS} seeds x ${OPERATIONS} operations: ${JSON.stringify(all)}`);
    expect(all.drift).toBe(0);
  });
});

/** The count of a cap must equal the charges of its settled calls. */
async function expectCapsAddUp(
  database: Awaited<ReturnType<Engine['open']>>['database'],
  caps: readonly string[],
  used: readonly number[],
): Promise<void> {
  for (const [at, cap] of caps.entries()) {
    const table = database.names.table('ledgerCharges');
    const sql = `select coalesce(sum(charged), 0) as charged from ${table} where cap_id = '${cap}'`;
    const [row] = await database.run({ sql, parameters: [] });
    expect(Number(row?.charged)).toBe(used[at]);
  }
}
