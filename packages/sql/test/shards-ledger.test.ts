import type { Charge, CreditLedger, EngineWrite, Hold, UsageSum } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { openShards } from './shards-memory.ts';

const grantOf = (account: string, amount: number) => ({ account, amount, key: account, reason: 'start' });
const holdOf = (account: string, amount: number) => ({
  ...{ account, amount, key: `hold ${account}`, expiresAt: Number.MAX_SAFE_INTEGER },
  details: { operation: 'chat' },
});

function setUp(
  change: (ledger: CreditLedger, name: string) => Partial<CreditLedger> = () => ({}),
  options: Parameters<typeof openShards>[0] = {},
) {
  const open = openShards(options, ({ ledger }, name) => ({
    ledger: { ...ledger, ...change(ledger, name) },
  }));
  const { ledger } = open.ports;
  const hold = async (account: string, amount: number): Promise<Hold> => {
    const outcome = await ledger.hold(holdOf(account, amount));
    if (outcome.outcome !== 'held') throw new Error(outcome.outcome);
    return outcome.hold;
  };
  const ofEach = (account: string) =>
    Promise.all(
      [open.nodes.a, open.nodes.b, open.nodes.home].map(
        async (one) => (await one.ledger.balance(account)).available,
      ),
    );
  return { ...open, ledger, hold, ofEach };
}

describe('a ledger over several databases', () => {
  it.each([
    ['user:a1', [10, 0, 0]],
    ['organization:b1', [0, 10, 0]],
    ['user:someone', [0, 0, 10]],
  ])('has the account %s with its owner', async (account, expected) => {
    const { ledger, ofEach } = setUp();
    await ledger.grant(grantOf(account, 10));
    expect(await ofEach(account)).toEqual(expected);
    expect((await ledger.balance(account)).available).toBe(10);
    expect(await ledger.entries(account, { limit: 5 })).toMatchObject([{ amount: 10 }]);
  });

  it('has all accounts at home if the host wants that', async () => {
    const { ledger, ofEach } = setUp(() => ({}), { accounts: 'home' });
    await ledger.grant(grantOf('user:a1', 10));
    expect(await ofEach('user:a1')).toEqual([0, 0, 10]);
  });

  it('settles, renews and releases a hold where it is', async () => {
    const { ledger, hold } = setUp();
    await ledger.grant(grantOf('user:b1', 10));
    const first = await hold('user:b1', 4);
    expect(await ledger.renew(first, Number.MAX_SAFE_INTEGER - 1)).toBe(true);
    await ledger.settle(first, 3);
    expect((await ledger.balance('user:b1')).available).toBe(7);
    const refused = await ledger.hold({ ...holdOf('user:b1', 50), key: 'too much' });
    expect(refused.outcome).toBe('insufficient_credits');
    const other = await ledger.hold({ ...holdOf('user:b1', 2), key: 'other' });
    if (other.outcome === 'held') await ledger.release(other.hold);
    expect((await ledger.balance('user:b1')).available).toBe(7);
  });

  it('finds a hold where it was made, and one of another process with its account', async () => {
    const settled: string[] = [];
    const { ledger, hold } = setUp((inner, name) => ({
      settle: async (one) => {
        settled.push(`${name} ${one.account}`);
        return inner.settle(one, 0);
      },
    }));
    for (const account of ['user:a1', 'user:b1']) await ledger.grant(grantOf(account, 10));
    const own = await hold('user:a1', 1);
    // The place counts in which it was made, not its account.
    await ledger.settle({ ...own, account: 'user:b1' }, 1).catch(() => undefined);
    await ledger.settle({ ...own, id: 'of another process', account: 'user:b1' }, 1).catch(() => undefined);
    expect(settled).toEqual(['a user:b1', 'b user:b1']);
  });

  it('renews many holds, each in its database', async () => {
    const renewed: (readonly [string, readonly string[]])[] = [];
    const { ledger } = setUp((_, name) => ({
      async renewAll(holds) {
        renewed.push([name, holds.map(({ id }) => id)]);
        return holds.length;
      },
    }));
    const toHold = (id: string, account: string): Hold => ({ id, account, amount: 1, expiresAt: 5 });
    const holds = [toHold('1', 'user:a1'), toHold('2', 'user:b1'), toHold('3', 'user:a2')];
    expect(await ledger.renewAll?.(holds, 9)).toBe(3);
    expect(renewed).toEqual([
      ['a', ['1', '3']],
      ['b', ['2']],
    ]);
    expect(await ledger.renewAll?.([], 9)).toBe(0);
  });

  it('settles in a step of a store, in the database of the hold or of its account', async () => {
    const made: unknown[] = [];
    const toSettlement = (name: string) => (hold: Hold, amount: number) =>
      ({
        do: 'engine',
        engine: name,
        work: [hold.id, amount],
        applied: () => undefined,
      }) as unknown as EngineWrite;
    const open = openShards({}, ({ ledger, store }, name) => ({
      ledger: { ...ledger, toSettlement: toSettlement(name) as never },
      store: {
        ...store,
        async writeAll(all) {
          made.push([name, ...all.map((one) => (one.do === 'engine' ? one.work : one.do))]);
          return true;
        },
      },
    }));
    const { ledger, store } = open.ports;
    await ledger.grant(grantOf('user:a1', 10));
    const held = await ledger.hold(holdOf('user:a1', 1));
    if (held.outcome !== 'held') throw new Error(held.outcome);
    const settle = async (hold: Hold) => {
      const write = ledger.toSettlement?.(hold, 5, undefined);
      expect(await store.writeAll?.(write === undefined ? [] : [write])).toBe(true);
    };
    await settle({ ...held.hold, account: 'user:b1' });
    await settle({ ...held.hold, id: 'x', account: 'user:b1' });
    await settle({ ...held.hold, id: 'y', account: 'user:someone' });
    expect(made).toEqual([
      ['a', [held.hold.id, 5]],
      ['b', ['x', 5]],
      ['home', ['y', 5]],
    ]);
    const partly = openShards({}, (ports, name) => ({
      ledger: {
        ...ports.ledger,
        toSettlement: name === 'b' ? (undefined as never) : (toSettlement(name) as never),
      },
    }));
    expect(partly.ports.ledger.toSettlement?.(held.hold, 5, undefined)).toBeUndefined();
  });
});

describe('reports over several databases', () => {
  const charge = (id: string, createdAt: number, status: Charge['status'] = 'settled') =>
    ({ id, createdAt, status, account: 'user:a1' }) as unknown as Charge;
  const CHARGES: Readonly<Record<string, readonly Charge[]>> = {
    a: [charge('2', 3), charge('9', 1), charge('x', 5, 'released')],
    b: [charge('3', 3), charge('4', 4), charge('x', 5)],
    home: [],
  };

  it('list charges, newest first, each once', async () => {
    const limits: number[] = [];
    const { ledger } = setUp((_, name) => ({
      async charges(_filter, limit) {
        limits.push(limit);
        return CHARGES[name] ?? [];
      },
    }));
    const list = async (limit: number, filter: object = {}) =>
      (await ledger.charges(filter, limit)).map(({ id, status }) => `${id} ${status}`);
    expect(await list(9)).toEqual(['x settled', '4 settled', '3 settled', '2 settled', '9 settled']);
    expect(limits).toEqual([9, 9, 9]);
    expect(await list(2)).toEqual(['x settled', '4 settled']);
    expect(await list(9, { account: 'user:b1' })).toEqual(['x settled', '4 settled', '3 settled']);
  });

  it('add up what was spent and used, in all databases or in those of an account', async () => {
    const amounts: Readonly<Record<string, number>> = { a: 1, b: 20, home: 300 };
    const { ledger } = setUp((_, name) => ({
      spent: async () => amounts[name] ?? 0,
      capUsed: async () => amounts[name] ?? 0,
      sweep: async () => amounts[name] ?? 0,
      countArchivable: async () => amounts[name] ?? 0,
      capUsage: async (ids) =>
        ids.slice(0, 2).map((_id, at) => ({ spent: (amounts[name] ?? 0) * (at + 1), reserved: at })),
    }));
    expect(await ledger.spent({}, 0)).toBe(321);
    expect(await ledger.spent({ account: 'user:b1' }, 0)).toBe(20);
    expect(await ledger.spent({ account: 'user:someone' }, 0)).toBe(300);
    expect([await ledger.capUsed('c'), await ledger.sweep()]).toEqual([321, 321]);
    expect(await ledger.countArchivable?.(5)).toBe(321);
    expect(await ledger.capUsage?.(['c', 'd', 'e'])).toEqual([
      { spent: 321, reserved: 0 },
      { spent: 642, reserved: 3 },
      { spent: 0, reserved: 0 },
    ]);
  });

  it('join the sums of groups, in their order', async () => {
    const sum = (model: string | undefined, day: string, requests: number, usage: object): UsageSum =>
      ({
        group: { ...(model !== undefined && { model }), day },
        requests,
        amount: 10 * requests,
        usage,
      }) as never;
    const sums: Readonly<Record<string, readonly UsageSum[]>> = {
      a: [sum('m', '2', 1, { tokens: 1, images: 2 }), sum('z', '1', 1, {})],
      b: [sum('m', '1', 2, {}), sum('m', '2', 3, { tokens: 4, seconds: 5 }), sum(undefined, '1', 1, {})],
      home: [],
    };
    const { ledger } = setUp((_, name) => ({ sumCharges: async () => sums[name] ?? [] }));
    const ask = (limit: number, filter: object = {}) =>
      ledger.sumCharges?.({ filter, from: 0, to: 1, groupBy: ['model', 'day'] as never, limit });
    const all = [
      sum(undefined, '1', 1, {}),
      sum('m', '1', 2, {}),
      sum('m', '2', 4, { tokens: 5, images: 2, seconds: 5 }),
      sum('z', '1', 1, {}),
    ];
    expect(await ask(9)).toEqual(all);
    expect(await ask(2)).toEqual(all.slice(0, 2));
    expect(await ask(9, { account: 'user:b1' })).toEqual(sums.b);
  });

  it('archive charges of one database after another, up to a limit', async () => {
    const asked: (readonly [string, number])[] = [];
    const left: Record<string, number> = { a: 2, b: 3, home: 4 };
    const { ledger } = setUp((_, name) => ({
      async archiveCharges({ limit }) {
        asked.push([name, limit]);
        const moved = Math.min(limit, left[name] ?? 0);
        left[name] = (left[name] ?? 0) - moved;
        return moved;
      },
    }));
    const archive = (limit: number) =>
      ledger.archiveCharges?.({ before: 5, limit } as never, async () => undefined);
    expect([await archive(5), asked.splice(0)]).toEqual([
      5,
      [
        ['a', 5],
        ['b', 3],
      ],
    ]);
    expect([await archive(5), asked]).toEqual([
      4,
      [
        ['a', 5],
        ['b', 5],
        ['home', 5],
      ],
    ]);
  });

  it('export the entries of all accounts, or of one', async () => {
    const asked: unknown[] = [];
    const { ledger } = setUp((_, name) => ({
      async exportEntries(page) {
        asked.push([name, page]);
        return [];
      },
    }));
    await ledger.exportEntries?.({ account: 'user:b1', after: 3, limit: 5 });
    expect(asked.splice(0)).toEqual([['b', { account: 'user:b1', after: 3, limit: 5 }]]);
    await ledger.exportEntries?.({ after: 0, limit: 5 });
    expect(asked.map((one) => (one as unknown[])[0])).toEqual(['a', 'b', 'home']);
  });

  it('are there only if every database has them', () => {
    const verbs = [
      'renewAll',
      'sumCharges',
      'exportEntries',
      'capUsage',
      'archiveCharges',
      'countArchivable',
    ];
    const every = Object.fromEntries(verbs.map((verb) => [verb, async () => []]));
    const without = Object.fromEntries(verbs.map((verb) => [verb, undefined]));
    const { ledger } = setUp(() => every as never);
    expect(verbs.filter((verb) => verb in ledger)).toEqual(verbs);
    const partly = setUp((_, name) => (name === 'b' ? without : every) as never);
    expect(verbs.filter((verb) => verb in partly.ledger)).toEqual([]);
  });
});

describe('an account that has moved', () => {
  const former = [{ shard: 'a', position: 1, entry: `${'0'.repeat(23)}1` }];
  const directory = {
    find: async () => 'b',
    place: async () => 'b',
    findFormer: async (_owner: string, account: string) => (account === 'user:b1' ? former : []),
  };

  it('has its history in all of its databases', async () => {
    const entries = (name: string) => async () =>
      [{ id: `${'0'.repeat(23)}1`, key: name, amount: name === 'a' ? 1 : 2 }] as never;
    const { ledger } = setUp((_, name) => ({ spent: async () => 1, entries: entries(name) }), { directory });
    const list = async (account: string) =>
      (await ledger.entries(account, { limit: 5 })).map(({ key, amount }) => `${key} ${amount}`);
    expect(await list('user:b1')).toEqual(['b 2', 'a 1']);
    expect(await list('organization:b1')).toEqual(['b 2']);
    expect(await ledger.spent({ account: 'user:b1' }, 0)).toBe(2);
    expect(await ledger.spent({ account: 'organization:b1' }, 0)).toBe(1);
  });
});
