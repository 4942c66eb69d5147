import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryLedger } from './ledger.ts';

const account = 'user:a';
const retain = 10;

async function setUp() {
  const clock = createFakeClock();
  const ledger = createMemoryLedger({ clock, retain });
  await ledger.grant({ account, amount: 100_000, key: 'credit', reason: 'test' });
  const hold = async (key: string, amount = 10) => {
    const answer = await ledger.hold({
      account,
      amount,
      key,
      expiresAt: clock.now() + 60_000,
      details: { operation: 'createCompletion', keyId: 'k', userId: 'u' },
    });
    if (answer.outcome !== 'held') throw new Error(answer.outcome);
    return answer.hold;
  };
  const pay = async (calls: number) => {
    for (let at = 0; at < calls; at += 1) await ledger.settle(await hold(`call ${at}`), 7);
  };
  return { clock, ledger, hold, pay };
}

describe('memory ledger with little retention', () => {
  it('limits entries and charges, and keeps their sums exact', async () => {
    const { ledger, pay } = await setUp();
    await pay(1000);
    const entries = await ledger.entries(account, { limit: 1000 });
    expect(entries.length).toBeLessThanOrEqual(2 * retain + 1);
    expect(entries.length).toBeGreaterThanOrEqual(retain);
    expect(entries.at(-1)).toMatchObject({ key: 'opening', reason: 'opening balance' });
    expect(entries[0]).toMatchObject({ key: 'call 999', amount: -7 });
    expect(entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(93_000);
    for (const filter of [{ account }, { keyId: 'k' }, { userId: 'u' }, {}]) {
      expect((await ledger.charges(filter, 1000)).length).toBeLessThanOrEqual(2 * retain);
      expect(await ledger.spent(filter, 0)).toBe(7000);
    }
    expect(await ledger.balance(account)).toEqual({ posted: 93_000, held: 0, available: 93_000 });
  });

  it('pages through the remaining entries without gap or repetition', async () => {
    const { ledger, pay } = await setUp();
    await pay(77);
    const all = await ledger.entries(account, { limit: 1000 });
    const paged = [];
    for (let before: string | undefined; ; ) {
      const page = await ledger.entries(account, { limit: 3, ...(before !== undefined && { before }) });
      if (page.length === 0) break;
      paged.push(...page);
      before = page.at(-1)?.id;
    }
    expect(paged).toEqual(all);
    expect(paged.reduce((sum, { amount }) => sum + amount, 0)).toBe((await ledger.balance(account)).posted);
  });

  it('keeps open holds of any age, and charges them once', async () => {
    const { ledger, hold, pay } = await setUp();
    const old = await hold('old', 500);
    await pay(200);
    expect(await ledger.balance(account)).toMatchObject({ held: 500 });
    expect((await ledger.charges({ account }, 1000)).at(-1)).toMatchObject({
      status: 'reserved',
      amount: 500,
    });
    expect(await ledger.settle(old, 400)).toEqual({ charged: 400, first: true });
    expect(await ledger.settle(old, 400)).toEqual({ charged: 400, first: false });
    expect((await ledger.balance(account)).posted).toBe(100_000 - 1400 - 400);
  });

  it('does nothing for a hold that it has deleted', async () => {
    const { ledger, hold, pay } = await setUp();
    const old = await hold('old', 500);
    await ledger.settle(old, 400);
    await pay(200);
    expect(await ledger.settle(old, 400)).toEqual({ charged: 0, first: false });
    await ledger.release(old);
    expect(await ledger.renew(old, 0)).toBe(false);
    expect(await ledger.balance(account)).toEqual({ posted: 98_200, held: 0, available: 98_200 });
  });

  it('keeps every grant: the same key never grants twice', async () => {
    const { ledger, pay } = await setUp();
    await pay(200);
    const again = { account, amount: 100_000, key: 'credit', reason: 'test' };
    expect(await ledger.grant(again)).toBe(false);
  });
});
