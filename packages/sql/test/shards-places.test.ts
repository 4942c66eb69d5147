import { isStorageUnavailable } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createShardDirectory, SHARD_PLACEMENTS } from '../src/shards/directory.ts';
import { MOVES_VERSION, SHARD_MOVES } from '../src/shards/moves.ts';
import { LETTERS, letter, openShards } from './shards-memory.ts';

const QUEST = '1'.repeat(24);

describe('the events of several databases', () => {
  const batch = (event: string) => ({ attempt: 1, after: 0, events: [event], keepMs: 1000 });

  function setUp(options: Parameters<typeof openShards>[0] = {}) {
    const open = openShards(options);
    const { eventLog } = open.ports;
    const isIn = async (stream: string) => {
      const { a, b, home } = open.nodes;
      const found = await Promise.all(
        Object.entries({ a, b, home }).map(async ([name, ports]) =>
          (await ports.eventLog.read(stream, 0))?.length === 0 ? [] : [name],
        ),
      );
      return found.flat();
    };
    return { ...open, eventLog, isIn };
  }

  it('are where the quest of their stream is, or at home', async () => {
    const { eventLog, isIn, store, nodes } = setUp();
    const quests = { ...LETTERS, name: 'quests', columns: {} } as unknown as typeof LETTERS;
    await store.collection(quests).count({});
    await nodes.b.plain.collection(quests).insert(letter(QUEST, 'b1'));
    for (const stream of [QUEST, 'other']) await eventLog.append(stream, batch(stream));
    expect([await isIn(QUEST), await isIn('other')]).toEqual([['b'], ['home']]);
    expect((await eventLog.read(QUEST, 0))?.map(({ event }) => event)).toEqual([QUEST]);
  });

  it('are with the owner that the host names', async () => {
    const { eventLog, isIn, clock } = setUp({
      getStreamOwner: (stream) => (stream.startsWith('b') ? stream : undefined),
    });
    for (const stream of ['b1', 'other']) await eventLog.append(stream, batch(stream));
    expect([await isIn('b1'), await isIn('other')]).toEqual([['b'], ['home']]);
    await eventLog.compact('b1', 5000);
    await clock.advance(1000);
    expect(await eventLog.expire()).toBe(1);
    expect([await isIn('b1'), await isIn('other')]).toEqual([['b'], []]);
    await clock.advance(4000);
    await eventLog.append('a-other', batch('x'));
    await clock.advance(1000);
    expect(await eventLog.expire()).toBe(2);
  });
});

describe('a process that knows of a move', () => {
  async function setUp() {
    const open = openShards({ directory: undefined as never });
    const moves = open.nodes.home.plain.collection(SHARD_MOVES);
    await moves.insert({ id: MOVES_VERSION, version: 0 });
    const begin = async (owner: string, phase: 'draining' | 'closed') => {
      const { version = 0 } = (await moves.get(MOVES_VERSION)) ?? {};
      await moves.update(MOVES_VERSION, { version: version + 1 });
      if (!(await moves.insert({ id: owner, source: 'a', target: 'b', phase }))) {
        await moves.update(owner, { phase });
      }
      await open.clock.advance(2000);
    };
    return { ...open, begin, letters: open.store.collection(LETTERS) };
  }

  it('refuses its owner, wherever the owner is named', async () => {
    const { ports, letters, begin } = await setUp();
    const calls: readonly (() => Promise<unknown>)[] = [
      () => letters.insert(letter('new', 'a1')),
      () => letters.find({ ownerId: 'a1' }),
      () => ports.ledger.balance('user:a1'),
      () => ports.ledger.entries('user:a1', { limit: 1 }),
      () => ports.queue.enqueue({ kind: 'work', payload: {}, key: 'k', owner: 'a1' }),
      () => ports.limiter.take('user:a1', [{ name: 'm', limit: 9, lengthMs: 1000 }], 0),
    ];
    for (const call of calls) await call();
    await begin('a1', 'draining');
    for (const call of calls) await call();
    await begin('a1', 'closed');
    for (const call of calls) await expect(call()).rejects.toSatisfy(isStorageUnavailable);
    expect(await ports.ledger.balance('user:b1')).toMatchObject({ available: 0 });
  });

  it('remembers no places in its databases, and none of before', async () => {
    const { letters, begin, calls, nodes } = await setUp();
    await letters.insert(letter('one', 'a1'));
    calls.splice(0);
    await letters.get('one');
    expect(calls.splice(0)).toHaveLength(1);
    await begin('other', 'draining');
    await letters.get('one');
    await letters.get('one');
    expect(calls.splice(0).filter((call) => call.endsWith('get letters'))).toHaveLength(6);
    const placements = nodes.home.plain.collection(SHARD_PLACEMENTS);
    const [{ shard = '' } = {}] = await placements.find({ id: 'a1' });
    const other = shard === 'a' ? 'b' : 'a';
    await placements.update('a1', { shard: other });
    await begin('another', 'draining');
    await letters.insert(letter('two', 'a1'));
    expect(await nodes[other].plain.collection(LETTERS).get('two')).toBeDefined();
  });
});

it('places owners by the directory of the host, or by one in the home database', async () => {
  const own = openShards({ directory: undefined as never });
  await own.store.collection(LETTERS).insert(letter('one', 'x1'));
  const placed = await own.nodes.home.plain.collection(SHARD_PLACEMENTS).get('x1');
  expect(['a', 'b']).toContain(placed?.shard);
  const directory = createShardDirectory({
    store: own.nodes.home.plain,
    shards: ['a', 'b'],
    choose: () => 'b',
  });
  const given = openShards({ directory });
  await given.store.collection(LETTERS).insert(letter('two', 'x2'));
  expect(await given.isLetterIn('two')).toEqual(['b']);
});

it('has owners and placements as the host says', async () => {
  const { ports, nodes } = openShards({ isOwner: undefined as never });
  const id = 'b'.repeat(24);
  for (const owner of [id, 'b1']) await ports.queue.enqueue({ kind: 'work', payload: {}, key: owner, owner });
  const counts = [await nodes.b.queue.counts(), await nodes.home.queue.counts()];
  expect(counts.map(({ ready }) => ready)).toEqual([1, 1]);
  const placed = openShards({ placements: { letters: { by: 'home' } } });
  await placed.store.collection(LETTERS).insert(letter('one', 'b1'));
  expect(await placed.isLetterIn('one')).toEqual(['home']);
});
