import { createMemoryPorts } from '@questline/core/memory';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { shard } from '../src/index.ts';
import { copyLedger, copyQueue, createHomeLedger } from '../src/shards/copied-ports.ts';
import { createShardNodes, mapNodes } from '../src/shards/nodes.ts';

describe('the databases of shards', () => {
  const open = () => createMemoryPorts();

  it('are the shards and the home database, which may be one of them', () => {
    const [home, first, second] = [open(), open(), open()];
    const apart = createShardNodes(home, { a: first, b: second });
    expect(apart.all.map(({ name }) => name)).toEqual(['a', 'b', 'home']);
    expect([apart.home.name, apart.home.store === home.store]).toEqual(['home', true]);
    const shared = createShardNodes(first, { a: first, b: second });
    expect(shared.all.map(({ name }) => name)).toEqual(['a', 'b']);
    expect([shared.home.name, shared.home]).toEqual(['a', shared.get('a')]);
    expect(createShardNodes(first, { home: first }).home.name).toBe('home');
  });

  it('have the ports of each, and no more', () => {
    const ports = open();
    const { store, ledger, queue, limiter, eventLog } = ports;
    const nodes = createShardNodes(open(), { a: ports });
    expect(nodes.get('a')).toEqual({ name: 'a', store, ledger, queue, limiter, eventLog });
  });

  it('are refused without a shard, and with another one named home', () => {
    expect(() => createShardNodes(open(), {})).toThrow('expected at least one shard');
    expect(() => createShardNodes(open(), { home: open() })).toThrow('only the home database is named home');
    const nodes = createShardNodes(open(), { a: open() });
    expect(() => nodes.get('b')).toThrow('the shard b is not configured');
  });

  it('are the same after a change of each', () => {
    const nodes = createShardNodes(open(), { a: open(), b: open() });
    const changed = mapNodes(nodes, (node) => ({ ...node, name: `${node.name}!` }));
    expect(changed.all.map(({ name }) => name)).toEqual(['a!', 'b!', 'home!']);
    expect(changed.home).toBe(changed.get('home!'));
    expect(changed.home.store).toBe(nodes.home.store);
  });
});

describe('copies of ports', () => {
  /** A port whose calls answer with their name and arguments. */
  const answering = (port: object) =>
    Object.fromEntries(
      Object.keys(port).map((verb) => [
        verb,
        function call(this: unknown, ...args: unknown[]) {
          return [verb, ...args];
        },
      ]),
    );
  const { ledger, queue } = createMemoryPorts();
  const LEDGER = {
    ...answering(ledger),
    ...answering({
      ...{ toSettlement: 1, renewAll: 1, sumCharges: 1, exportEntries: 1, capUsage: 1 },
      ...{ archiveCharges: 1, countArchivable: 1 },
    }),
  };
  const QUEUE = { ...answering(queue), ...answering({ findKeys: 1 }), writes: { of: 'the queue' } };

  it.each(Object.keys(LEDGER))('pass on %s of a ledger', (verb) => {
    const copy = copyLedger(LEDGER as never) as unknown as Record<string, (...args: unknown[]) => unknown>;
    expect(copy[verb]?.(1, 2, 3, 4)).toEqual([verb, 1, 2, 3, 4]);
  });

  it.each(Object.keys(QUEUE).filter((verb) => verb !== 'writes'))('pass on %s of a queue', (verb) => {
    const copy = copyQueue(QUEUE as never) as unknown as Record<string, (...args: unknown[]) => unknown>;
    const args = verb === 'onReady' ? [1] : [1, 2, 3, 4];
    expect(copy[verb]?.(...args)).toEqual([verb, ...args]);
  });

  it('have the optional verbs of their port only', () => {
    const verbs = (port: object) => Object.keys(port).toSorted();
    expect(verbs(copyLedger(LEDGER as never))).toEqual(verbs(LEDGER));
    expect(verbs(createHomeLedger(LEDGER as never))).toEqual(
      verbs(LEDGER).filter((verb) => verb !== 'toSettlement'),
    );
    const required = [
      ...['balance', 'capUsed', 'charges', 'entries', 'grant', 'hold', 'record'],
      ...['release', 'renew', 'settle', 'spent', 'sweep'],
    ];
    const plain = Object.fromEntries(Object.entries(LEDGER).filter(([verb]) => required.includes(verb)));
    expect(verbs(copyLedger(plain as never))).toEqual(required);
    const { findKeys: _, writes: __, ...plainQueue } = QUEUE as Record<string, unknown>;
    expect(verbs(copyQueue(plainQueue as never))).toEqual(verbs(plainQueue));
    expect(copyQueue(QUEUE as never).writes).toBe(QUEUE.writes);
  });
});

describe('the limiter of several databases', () => {
  const WINDOWS = [{ name: 'minute', limit: 2, lengthMs: 60_000 }];
  const ids = Object.fromEntries(['a', 'b'].map((name) => [name, name.repeat(24)] as const));

  function setUp(isOwner?: (name: string) => boolean) {
    const clock = createFakeClock();
    const open = () => createMemoryPorts({ clock });
    const [home, a, b] = [open(), open(), open()];
    const directory = {
      find: async (owner: string) => owner.slice(0, 1),
      place: async (owner: string) => owner.slice(0, 1),
    };
    const { limiter } = shard({ home, shards: { a, b }, directory, clock, ...(isOwner && { isOwner }) });
    const isIn = async (key: string) => {
      const used = Object.entries({ home, a, b }).map(async ([name, ports]) => {
        const [state] = await ports.limiter.peek(key, WINDOWS, 0);
        return state?.remaining === 2 ? [] : [name];
      });
      return (await Promise.all(used)).flat();
    };
    return { limiter, isIn, home, a, b };
  }

  it.each([
    [`user:${ids.a}`, 'a'],
    [`paid:${ids.b}:day`, 'b'],
    [`identity:${ids.b}`, 'b'],
    [`key:${ids.a}`, 'home'],
    ['user:someone', 'home'],
    [`other user:${ids.a}`, 'home'],
  ])('has the windows of %s in the database %s', async (key, name) => {
    const { limiter, isIn } = setUp();
    expect(await limiter.take(key, WINDOWS, 0)).toMatchObject({ allowed: true });
    expect(await isIn(key)).toEqual([name]);
    expect(await limiter.peek(key, WINDOWS, 0)).toMatchObject([{ remaining: 1 }]);
  });

  it('has owners as the host says', async () => {
    const { limiter, isIn } = setUp((name) => name === 'b-owner');
    await limiter.take('user:b-owner', WINDOWS, 0);
    await limiter.take(`user:${ids.a}`, WINDOWS, 0);
    expect([await isIn('user:b-owner'), await isIn(`user:${ids.a}`)]).toEqual([['b'], ['home']]);
  });

  it('takes from keys of one database at once, and from others in turn', async () => {
    const { limiter, isIn, a } = setUp();
    const taken: (readonly string[])[] = [];
    const { takeAll } = a.limiter;
    a.limiter.takeAll = (takes, ...rest) => {
      taken.push(takes.map(({ key }) => key));
      return takeAll?.call(a.limiter, takes, ...rest) ?? Promise.resolve([]);
    };
    const take = (key: string, windows = WINDOWS) => ({ key, windows });
    const [one, two, other] = [`user:${ids.a}`, `paid:${ids.a}`, `user:${ids.b}`] as const;
    expect(await limiter.takeAll?.([take(one), take(two)], 0)).toMatchObject([
      { allowed: true },
      { allowed: true },
    ]);
    expect(taken).toEqual([[one, two]]);
    const none = [{ name: 'minute', limit: 0, lengthMs: 60_000 }];
    expect(await limiter.takeAll?.([take(one, none), take(other)], 0)).toMatchObject([{ allowed: false }]);
    expect(await isIn(other)).toEqual([]);
    expect(await limiter.takeAll?.([take(other), take(one)], 0)).toMatchObject([
      { allowed: true },
      { allowed: true },
    ]);
    expect([await isIn(one), await isIn(two), await isIn(other)]).toEqual([['a'], ['a'], ['b']]);
    expect(taken).toHaveLength(1);
    expect(await limiter.takeAll?.([], 0)).toEqual([]);
  });
});
