import type { HoldCap, HoldRequest, JobWrites, StoreWrite, Usage } from '@questline/core/ports';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSqlLedger, createSqlQueue, createSqlStore } from '../src/index.ts';
import { POSTGRES, POSTGRES_URL } from './engines.ts';
import { shareDatabase } from './shared.ts';

const ACCOUNT = 'user:a';
const TOKENS: HoldCap = { id: 'tokens', unit: 'tokens', amount: 50, limit: 1000 };

describe.runIf(POSTGRES_URL !== undefined)('a settlement in a step with other writes, on PostgreSQL', () => {
  const shared = shareDatabase(POSTGRES);

  /** A ledger with a hold of 60 out of 100. */
  const open = async (more: Partial<HoldRequest> = {}) => {
    const database = await shared.fresh();
    const clock = createFakeClock();
    const ledger = createSqlLedger(database, { clock, ids: createFakeIds(1) });
    const queue = createSqlQueue(database, { clock, ids: createFakeIds(2) });
    const store = createSqlStore(database);
    await ledger.grant({ account: ACCOUNT, amount: 100, key: 'start', reason: 'start' });
    const expiresAt = clock.now() + 1000;
    const details = { operation: 'chat' };
    const held = await ledger.hold({
      account: ACCOUNT,
      amount: 60,
      key: 'call',
      expiresAt,
      details,
      ...more,
    });
    if (held.outcome !== 'held') throw new Error(held.outcome);
    const { hold } = held;
    const settle = (actual: number, usage?: Usage, id = hold.id): StoreWrite => {
      const write = ledger.toSettlement?.({ ...hold, id }, actual, usage);
      if (write === undefined) throw new Error('no settlement');
      return write;
    };
    const addJob = (key: string): StoreWrite =>
      (queue.writes as JobWrites).enqueue({ kind: 'work', key, payload: null });
    const write = (...writes: readonly StoreWrite[]) => store.writeAll?.(writes);
    return { ledger, queue, hold, settle, addJob, write };
  };

  it('takes effect together with the writes before and after it', async () => {
    const { ledger, queue, settle, addJob, write } = await open();
    expect(await write(addJob('before'), settle(25, { input: 5 }), addJob('after'))).toBe(true);
    expect(await ledger.balance(ACCOUNT)).toEqual({ posted: 75, held: 0, available: 75 });
    const [charge] = await ledger.charges({ account: ACCOUNT }, 1);
    expect(charge).toMatchObject({ status: 'settled', amount: 25, usage: { input: 5 } });
    expect((await queue.counts()).ready).toBe(2);
  });

  it('has no effect, nor have the others, if the hold is settled already or unknown', async () => {
    const { ledger, queue, settle, addJob, write } = await open();
    expect(await write(settle(25))).toBe(true);
    expect(await write(settle(30))).toBe(false);
    expect(await write(addJob('a'), settle(30))).toBe(false);
    expect(await write(addJob('b'), settle(30, undefined, 'unknown'))).toBe(false);
    expect(await ledger.balance(ACCOUNT)).toEqual({ posted: 75, held: 0, available: 75 });
    expect((await queue.counts()).ready).toBe(0);
  });

  it('of 0 ends the hold, without an entry', async () => {
    const { ledger, settle, write } = await open();
    expect(await write(settle(0))).toBe(true);
    expect(await ledger.balance(ACCOUNT)).toEqual({ posted: 100, held: 0, available: 100 });
    expect(await ledger.entries(ACCOUNT, { limit: 9 })).toHaveLength(1);
  });

  it.each([
    ['those of its usage', { input: 7, output: 5 }, 12],
    ['the reserved ones without a usage', undefined, 50],
  ])('counts tokens against a cap: %s', async (_, usage, spent) => {
    const { ledger, settle, write } = await open({ caps: [TOKENS] });
    expect(await write(settle(25, usage))).toBe(true);
    expect(await ledger.capUsage?.(['tokens'])).toEqual([{ spent, reserved: 0 }]);
  });

  it.each([-1, 0.5, Number.NaN, 2 ** 53])(
    'is not built for %d, which a settlement rejects',
    async (actual) => {
      const { ledger, hold } = await open();
      expect(ledger.toSettlement?.(hold, actual)).toBeUndefined();
      await expect(ledger.settle(hold, actual)).rejects.toThrow(RangeError);
      expect(await ledger.balance(ACCOUNT)).toEqual({ posted: 100, held: 60, available: 40 });
    },
  );
});
