import { QUESTS, SESSIONS } from '@questline/core/internal';
import type { CollectionDefinition, StoredRecord } from '@questline/core/ports';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSqlPorts, type SqlDatabase } from '../src/index.ts';
import { SHARD_PLACEMENTS } from '../src/shards/directory.ts';
import {
  copyOwner,
  deleteCopied,
  insertMove,
  type MoveContext,
  placeOwner,
  removeMove,
} from '../src/shards/move-steps.ts';
import { MAX_CALL_MS, MOVES_VERSION, SHARD_MOVES } from '../src/shards/moves.ts';
import { createShardNodes } from '../src/shards/nodes.ts';
import { SQLITE_MEMORY } from './engines.ts';
import { shareDatabase } from './shared.ts';

const OWNED = [SESSIONS, QUESTS] as unknown as readonly CollectionDefinition<StoredRecord>[];
const COLLECTIONS = [...OWNED, SHARD_MOVES, SHARD_PLACEMENTS];
const TAKEN_OVER = new Error('taken over');
const MOVE = { id: 'ada', move: 'm', source: 'a', target: 'b', mover: 'first' } as const;

describe('the steps of a move', () => {
  const shared = Array.from({ length: 3 }, () => shareDatabase(SQLITE_MEMORY, COLLECTIONS));

  const open = async () => {
    const [home, a, b] = await Promise.all(shared.map((one) => one.fresh()));
    if (!home || !a || !b) throw new Error('three databases');
    const given = { clock: createFakeClock(), ids: createFakeIds() };
    const ports = (database: SqlDatabase) => createSqlPorts(database, given);
    const nodes = createShardNodes(ports(home), { a: ports(a), b: ports(b) });
    let checks = Number.POSITIVE_INFINITY;
    const context: MoveContext = {
      ...{ owner: 'ada', mover: 'first', home: nodes.home.store, nodes, clock: given.clock },
      source: { node: nodes.get('a'), database: a },
      target: { node: nodes.get('b'), database: b },
      ...{ collections: OWNED, placements: undefined, accounts: ['user:ada', 'organization:ada'] },
      async assertOwn() {
        checks -= 1;
        if (checks < 0) throw TAKEN_OVER;
      },
    };
    /** Lets a step pass so many of its checks of the mover. */
    const pass = async (count: number, step: () => Promise<unknown>): Promise<void> => {
      checks = count;
      const stopped = expect(step()).rejects.toBe(TAKEN_OVER);
      await given.clock.advance(MAX_CALL_MS);
      await stopped;
      checks = Number.POSITIVE_INFINITY;
    };
    return { context, clock: given.clock, home: nodes.home.store, databases: { a, b }, nodes, pass };
  };

  type Opened = Awaited<ReturnType<typeof open>>;

  /** One of each kind, and the count of a cap. */
  const fill = async ({ nodes, clock }: Opened): Promise<void> => {
    const { store, queue, limiter, eventLog, ledger } = nodes.get('a');
    for (const definition of OWNED) {
      const record = { id: definition.name, ownerId: 'ada' };
      expect(await store.collection(definition).insert(record as never)).toBe(true);
    }
    await eventLog.append('quests', { attempt: 1, after: 0, events: [{ text: 'Hi' }], keepMs: 1e9 });
    await queue.enqueue({ kind: 'test', key: 'job', owner: 'ada', payload: null });
    await limiter.take('user:ada:standard', [{ name: 'day', limit: 5, lengthMs: 1e9 }], clock.now());
    const account = 'user:ada';
    await ledger.grant({ account, amount: 100, key: 'start', reason: 'test' });
    const cap = { id: 'user:ada:total', limit: 10 };
    const details = { operation: 'chat' };
    const held = await ledger.hold({ account, amount: 5, key: 'call', expiresAt: 2e12, cap, details });
    if (held.outcome === 'held') await ledger.settle(held.hold, 5);
  };

  /** What a database has of the owner. */
  const list = async ({ databases, nodes }: Opened, name: 'a' | 'b'): Promise<string> => {
    const { names, run } = databases[name];
    const found: string[] = [];
    for (const table of ['sessions', 'quests', 'eventBatches', 'rateWindows', 'jobs']) {
      const rows = await run({ sql: `select 1 from ${names.table(table)}`, parameters: [] });
      if (rows.length > 0) found.push(table);
    }
    if ((await nodes.get(name).ledger.capUsed('user:ada:total')) > 0) found.push('caps');
    return found.join(' ');
  };

  it('copy nothing more after the move was taken over', async () => {
    const opened = await open();
    await fill(opened);
    const copied: string[] = [];
    for (let checks = 0; checks < 5; checks += 1) {
      await opened.pass(checks, () => copyOwner(opened.context, MOVE));
      copied.push(await list(opened, 'b'));
    }
    await copyOwner(opened.context, MOVE);
    expect([...copied, await list(opened, 'b')]).toEqual([
      '',
      'sessions',
      'sessions quests eventBatches',
      'sessions quests eventBatches rateWindows',
      'sessions quests eventBatches rateWindows jobs',
      'sessions quests eventBatches rateWindows jobs caps',
    ]);
  });

  it('copy what is missing next to a record that is there', async () => {
    const { nodes, context } = await open();
    const toSession = (id: string, name: string) => ({ id, ownerId: 'ada', name }) as never;
    const [from, to] = [nodes.get('a').store.collection(SESSIONS), nodes.get('b').store.collection(SESSIONS)];
    for (const id of ['1', '2', '3']) await from.insert(toSession(id, 'new'));
    await to.insert(toSession('2', 'there'));
    expect(await copyOwner(context, MOVE)).toEqual({ records: 3, jobs: 0 });
    const found = await to.find({});
    expect(found.map(({ id, name }) => `${id} ${name}`)).toEqual(['1 new', '2 there', '3 new']);
  });

  it('delete nothing more after the move was taken over', async () => {
    const left: string[] = [];
    for (let checks = 0; checks < 5; checks += 1) {
      const opened = await open();
      await fill(opened);
      await opened.pass(checks, () => deleteCopied(opened.context));
      left.push(await list(opened, 'a'));
    }
    expect(left).toEqual([
      'sessions quests eventBatches rateWindows jobs caps',
      'sessions quests rateWindows jobs caps',
      'sessions rateWindows jobs caps',
      'rateWindows jobs caps',
      'jobs caps',
    ]);
  });

  it('move no further account after the move was taken over', async () => {
    const opened = await open();
    const { nodes, context, home } = opened;
    const amounts: Record<string, number> = { 'user:ada': 5, 'organization:ada': 7 };
    for (const [account, amount] of Object.entries(amounts)) {
      await nodes.get('a').ledger.grant({ account, amount, key: account, reason: 'test' });
    }
    await home.collection(SHARD_PLACEMENTS).insert({ id: 'ada', shard: 'a' });
    await home.collection(SHARD_MOVES).insert({ ...MOVE, amounts, phase: 'copying' });
    const moved: number[][] = [];
    for (let checks = 0; checks < 2; checks += 1) {
      await opened.pass(checks, () => placeOwner(context, { ...MOVE, amounts }));
      const { ledger } = nodes.get('b');
      moved.push(
        await Promise.all(Object.keys(amounts).map(async (one) => (await ledger.balance(one)).posted)),
      );
    }
    expect(moved).toEqual([
      [0, 0],
      [5, 0],
    ]);
  });

  it.each([
    ['in another phase', { phase: 'deleting' }],
    ['of another process', { phase: 'copying', mover: 'later' }],
  ] as const)('leave the owner in its place if the move is %s', async (_, more) => {
    const { context, home } = await open();
    const placed = { id: 'ada', shard: 'a' };
    await home.collection(SHARD_PLACEMENTS).insert(placed);
    await home.collection(SHARD_MOVES).insert({ ...MOVE, ...more });
    await expect(placeOwner(context, MOVE)).rejects.toThrow(
      'the move of ada was taken over by another process',
    );
    expect(await home.collection(SHARD_PLACEMENTS).get('ada')).toEqual(placed);
    expect(await home.collection(SHARD_MOVES).get('ada')).toEqual({ ...MOVE, ...more });
  });

  it('do not end the move of another process', async () => {
    const { context, home } = await open();
    const later = { ...MOVE, mover: 'later' };
    await home.collection(SHARD_MOVES).insert(later);
    await expect(removeMove(context)).rejects.toThrow('the move of ada was taken over by another process');
    expect(await home.collection(SHARD_MOVES).find({})).toEqual([later]);
  });

  it('begin no move of an owner that is elsewhere', async () => {
    const { home } = await open();
    const placed = { id: 'ada', shard: 'c' };
    await home.collection(SHARD_PLACEMENTS).insert(placed);
    expect(await insertMove(home, MOVE)).toBe(false);
    expect(await home.collection(SHARD_MOVES).find({})).toEqual([]);
    await home.collection(SHARD_PLACEMENTS).update('ada', { shard: 'a' });
    expect(await insertMove(home, MOVE)).toBe(true);
    expect(await home.collection(SHARD_MOVES).get(MOVES_VERSION)).toMatchObject({ version: 1 });
    expect(await home.collection(SHARD_PLACEMENTS).get('ada')).toEqual({ ...placed, shard: 'a' });
  });
});
