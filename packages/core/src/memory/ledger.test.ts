import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { UsageQuery } from '../ports/ledger.ts';
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

  it('limits charges to twice its retention, and counts evicted ones only in sums from before them', async () => {
    const { clock, ledger, hold, pay } = await setUp();
    const start = clock.now();
    await pay(25);
    expect((await ledger.charges({ account }, 1000)).length).toBeLessThanOrEqual(2 * retain);
    await clock.advance(1);
    await ledger.settle(await hold('late'), 5);
    expect(await ledger.spent({ account }, start)).toBe(25 * 7 + 5);
    expect(await ledger.spent({ account }, start + 1)).toBe(5);
    expect(await ledger.spent({ account }, start + 2)).toBe(0);
  });

  it('records usage under a key again once it has deleted the charge', async () => {
    const { ledger, pay } = await setUp();
    const record = () =>
      ledger.record({ account, key: 'free', details: { operation: 'free' }, usage: { input: 1 } });
    const count = async () =>
      (await ledger.charges({ account }, 1000)).filter(({ operation }) => operation === 'free').length;
    await record();
    await record();
    expect(await count()).toBe(1);
    await pay(200);
    expect(await count()).toBe(0);
    await record();
    expect(await count()).toBe(1);
  });
});

describe('memory ledger', () => {
  it('rejects every request whose signal is aborted, and changes nothing', async () => {
    const { clock, ledger, hold } = await setUp();
    const held = await hold('call');
    const reason = new Error('left');
    const options = { signal: AbortSignal.abort(reason) };
    const details = { operation: 'createCompletion' };
    const sum = { filter: {}, from: 0, to: 1, groupBy: ['model'], limit: 1 } satisfies UsageQuery;
    const verbs: readonly (() => Promise<unknown>)[] = [
      () => ledger.balance(account, options),
      () => ledger.hold({ account, amount: 1, key: 'new', expiresAt: 1, details }, options),
      () => ledger.renew(held, 1, options),
      async () => ledger.renewAll?.([held], 1, options),
      () => ledger.grant({ account, amount: 1, key: 'new', reason: 'test' }, options),
      () => ledger.entries(account, { limit: 1 }, options),
      () => ledger.charges({}, 1, options),
      () => ledger.spent({}, 0, options),
      async () => ledger.sumCharges?.(sum, options),
      async () => ledger.exportEntries?.({ after: 0, limit: 1 }, options),
      async () =>
        ledger.archiveCharges?.({ before: 1, limit: 1 }, () => Promise.reject(new Error('moved')), options),
      async () => ledger.countArchivable?.(1, options),
      () => ledger.capUsed('cap', options),
      async () => ledger.capUsage?.(['cap'], options),
      () => ledger.sweep(options),
    ];
    for (const verb of verbs) await expect(verb()).rejects.toBe(reason);
    expect(await ledger.balance(account)).toEqual({ posted: 100_000, held: 10, available: 99_990 });
    await clock.advance(60_000);
    expect(await ledger.sweep()).toBe(1);
  });

  it.each(['renew', 'renewAll'])(
    'releases a hold in the order of its renewed lease: %s first',
    async (first) => {
      const { clock, ledger, hold } = await setUp();
      const renewed = await hold('renewed', 30);
      const together = await hold('together', 20);
      await hold('left', 10);
      if (first === 'renew') await ledger.renew(renewed, clock.now() + 300_000);
      await ledger.renewAll?.([together], clock.now() + 200_000);
      if (first === 'renewAll') await ledger.renew(renewed, clock.now() + 300_000);
      await clock.advance(60_000);
      expect(await ledger.balance(account)).toMatchObject({ held: 50 });
      await clock.advance(140_000);
      expect(await ledger.balance(account)).toMatchObject({ held: 30 });
    },
  );

  it('renews no hold whose lease has ended, and lists its charge as released', async () => {
    const { clock, ledger, hold } = await setUp();
    const held = await hold('call');
    expect(held).toEqual({ id: 'call', account, amount: 10, expiresAt: clock.now() + 60_000 });
    await clock.advance(60_000);
    expect(await ledger.renewAll?.([held], clock.now() + 60_000)).toBe(0);
    const other = await hold('other');
    await clock.advance(60_000);
    expect(await ledger.charges({ account }, 1)).toMatchObject([{ status: 'released', amount: 0 }]);
    expect(await ledger.renew(other, clock.now() + 1)).toBe(false);
  });

  it('counts each lapsed hold in one sweep, unless it was settled or released before', async () => {
    const { clock, ledger, hold } = await setUp();
    expect(await ledger.sweep()).toBe(0);
    const [swept, both] = [await hold('swept'), await hold('both')];
    await clock.advance(60_000);
    await ledger.release(both);
    await ledger.settle(both, 5);
    expect(await ledger.sweep()).toBe(1);
    await ledger.settle(swept, 5);
    await hold('next');
    await clock.advance(60_000);
    expect(await ledger.sweep()).toBe(1);
    expect(await ledger.sweep()).toBe(0);
  });

  it('keeps its own copy of a usage, writes no entry for nothing, and names the operation', async () => {
    const { ledger, hold } = await setUp();
    const usage = { input: 1 };
    await ledger.settle(await hold('call'), 5, usage);
    await ledger.record({ account, key: 'free', details: { operation: 'free' }, usage });
    await ledger.record({ account, key: 'bare', details: { operation: 'bare' } });
    await ledger.settle(await hold('nothing'), 0);
    Object.assign(usage, { input: 2 });
    const charges = await ledger.charges({ account }, 10);
    expect(charges.map(({ operation, usage: kept }) => [operation, kept])).toEqual([
      ['createCompletion', undefined],
      ['bare', undefined],
      ['free', { input: 1 }],
      ['createCompletion', { input: 1 }],
    ]);
    expect(charges.filter((charge) => 'usage' in charge)).toHaveLength(2);
    expect(await ledger.entries(account, { limit: 10 })).toMatchObject([
      { kind: 'charge', amount: -5, reason: 'createCompletion' },
      { kind: 'grant', amount: 100_000 },
    ]);
  });

  it('rejects amounts that are not exact', async () => {
    const { ledger } = await setUp();
    const grant = (amount: number, key = 'more') => ledger.grant({ account, amount, key, reason: 'test' });
    for (const amount of [0.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1, Number.MAX_SAFE_INTEGER]) {
      await expect(grant(amount)).rejects.toThrow(RangeError);
    }
    expect(await grant(Number.MAX_SAFE_INTEGER - 100_000)).toBe(true);
    await expect(grant(1, 'one')).rejects.toThrow(RangeError);
    const owing = { account: 'user:owing', reason: 'test' };
    await ledger.grant({ ...owing, amount: -1000, key: 'debt' });
    await expect(ledger.grant({ ...owing, amount: 2 ** 53, key: 'much' })).rejects.toThrow(RangeError);
  });

  it('lists the newest charges of all accounts, with ids of 24 hexadecimal digits', async () => {
    const { clock, ledger } = await setUp();
    const start = clock.now();
    for (let at = 0; at < 20; at += 1) {
      const name = at % 2 === 0 ? account : 'user:b';
      const usage = { account: name, key: `${at}`, details: { operation: `call ${at}` } };
      await ledger.record(usage);
      await clock.advance(1);
    }
    const charges = await ledger.charges({}, 3);
    expect(charges.map(({ operation }) => operation)).toEqual(['call 19', 'call 18', 'call 17']);
    expect(charges.map(({ createdAt }) => createdAt - start)).toEqual([19, 18, 17]);
    const ids = (await ledger.charges({}, 100)).map(({ id }) => id);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{24}$/);
    expect(new Set(ids).size).toBe(20);
  });

  it('counts the charges of an account, a key and a user that match all of a filter', async () => {
    const { clock, ledger } = await setUp();
    const start = clock.now();
    const call = async (name: string, keyId: string, userId: string, amount: number) => {
      const key = `${name} ${keyId} ${userId}`;
      const details = { operation: 'call', keyId, userId };
      const expiresAt = clock.now() + 1000;
      const held = await ledger.hold({ account: name, amount: 0, key, expiresAt, details });
      if (held.outcome === 'held') await ledger.settle(held.hold, amount);
      await clock.advance(1);
    };
    await call(account, 'k', 'u', 1);
    await call(account, 'k', 'v', 2);
    await call(account, 'l', 'u', 4);
    await call('user:b', 'k', 'u', 8);
    const sum = async (filter: object, from = start, to = start + 100) => {
      const groups = await ledger.sumCharges?.({ filter, from, to, groupBy: ['model'], limit: 10 });
      return groups?.reduce((total, { amount }) => total + amount, 0);
    };
    const cases = [
      [{}, 15],
      [{ account }, 7],
      [{ keyId: 'k' }, 11],
      [{ userId: 'u' }, 13],
      [{ account, keyId: 'k' }, 3],
      [{ account, userId: 'u' }, 5],
      [{ keyId: 'k', userId: 'u' }, 9],
      [{ account, keyId: 'k', userId: 'u' }, 1],
    ] as const;
    for (const [filter, expected] of cases) {
      expect(await sum(filter)).toBe(expected);
      expect(await ledger.spent(filter, 0)).toBe(expected);
    }
    expect(await sum({}, start + 1, start + 3)).toBe(6);
    expect(await ledger.spent({}, start + 1)).toBe(14);
  });

  it('accepts caps of nothing, and rejects a limit or an amount below it', async () => {
    const { ledger } = await setUp();
    const hold = (amount: number, limit: number) =>
      ledger.hold({
        ...{ account, amount: 1, key: 'capped', expiresAt: 1e15, details: { operation: 'call' } },
        caps: [{ id: 'cap', unit: 'tokens', amount, limit }],
      });
    await expect(hold(0, -1)).rejects.toThrow(RangeError);
    await expect(hold(-1, 0)).rejects.toThrow(RangeError);
    expect(await hold(0, 0)).toMatchObject({ outcome: 'held' });
  });
});
