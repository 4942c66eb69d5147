import { createIds, createSystemClock } from '@questline/core/memory';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSqlPorts, migrate, type SqlPorts } from '../src/index.ts';
import { type OpenEngine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from './engines.ts';
import { type Children, startChildren } from './processes/children.ts';
import { CEILING, CREDIT, SLOTS } from './processes/protocol.ts';

const ROUNDS = 50;

const SETTINGS = [
  { engine: SQLITE_FILE, count: 2 },
  ...(POSTGRES_URL === undefined
    ? []
    : [
        { engine: POSTGRES, count: 2 },
        { engine: POSTGRES, count: 4 },
      ]),
].map((setting) => ({ ...setting, name: `${setting.engine.name}, ${setting.count} processes` }));

describe.each(SETTINGS)('$name', ({ name, engine, count }) => {
  let open: OpenEngine;
  let ports: SqlPorts;
  let children: Children;

  beforeAll(async () => {
    open = await engine.open();
    await migrate(open.database, { collections: [SLOTS] });
    const clock = createSystemClock();
    ports = createSqlPorts(open.database, { clock, ids: createIds({ clock }) });
    children = await startChildren(count, open.address);
  });
  afterAll(async () => {
    await children?.end();
    await open?.close();
  });

  const rounds = async (what: string, run: (round: string) => Promise<number>): Promise<number[]> => {
    const passed: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) passed.push(await run(`round ${round}`));
    console.log(`${name}: ${what}: passed in each of ${ROUNDS} rounds: ${[...new Set(passed)].join(', ')}`);
    return passed;
  };

  it(`grants exactly ${CREDIT} of 200 parallel holds on credit for ${CREDIT}`, async () => {
    const passed = await rounds('200 holds', async (round) => {
      const account = `user:${round}`;
      await ports.ledger.grant({ account, amount: CREDIT, key: 'credit', reason: 'test' });
      const granted = await children.run({ kind: 'hold', round }, 200);
      expect(await ports.ledger.balance(account)).toEqual({ posted: CREDIT, held: CREDIT, available: 0 });
      return granted;
    });
    expect(new Set(passed)).toEqual(new Set([CREDIT]));
  });

  it(`allows exactly ${CEILING} of 100 parallel takes under a limit of ${CEILING}`, async () => {
    const passed = await rounds('100 takes', (round) => children.run({ kind: 'take', round }, 100));
    expect(new Set(passed)).toEqual(new Set([CEILING]));
  });

  it('accepts exactly one of 50 parallel inserts of one unique value', async () => {
    // 48 divide evenly among 2 and 4 processes; this process adds two.
    const passed = await rounds('50 inserts', async (round) => {
      const slots = ports.store.collection(SLOTS);
      const here = ['a', 'b'].map((id) => slots.insert({ id: `${round} ${id}`, name: round }));
      const there = children.run({ kind: 'insert', round }, 48);
      const own = (await Promise.all(here)).filter(Boolean).length;
      return own + (await there);
    });
    expect(new Set(passed)).toEqual(new Set([1]));
  });

  it('gives each of 40 jobs to exactly one worker', async () => {
    const jobs = 40;
    for (let at = 0; at < jobs; at += 1) {
      await ports.queue.enqueue({ kind: 'round', key: `job ${at}`, payload: at });
    }
    const handed = await children.run({ kind: 'lease', round: 'round' }, 40);
    const left = await ports.queue.lease({ kinds: ['round'], limit: jobs, leaseMs: 1000 });
    console.log(`${name}: 40 jobs: delivered ${handed}, left ${left.length}`);
    expect(handed + left.length).toBe(jobs);
    expect(handed).toBeGreaterThan(0);
  });
});
