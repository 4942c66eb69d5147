import { createMemoryQueue, createMemoryStore } from '@questline/core/memory';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createLine } from './line.ts';
import { newQuest, QUESTS } from './records.ts';
import { createWorkLine } from './work-line.ts';

/** A line, and the number of jobs in it as the test says. */
function setUp(max: number, hasOwners = true) {
  const clock = createFakeClock();
  const waiting = { count: 0, counts: 0, go: Promise.resolve() };
  const line = createLine({ clock, max, hasOwners }, async () => {
    waiting.counts += 1;
    const { count } = waiting;
    await waiting.go;
    return count;
  });
  /** Accepts work as far as it is admitted. @returns the waits of those that are refused. */
  const accept = async (owner: string, times = 1) => {
    const waits: number[] = [];
    for (let at = 0; at < times; at += 1) {
      const wait = await line.enter(owner);
      if (wait !== undefined) waits.push(wait);
      else {
        line.leave(true);
        waiting.count += 1;
      }
    }
    return waits;
  };
  return { clock, line, waiting, accept };
}

describe('line of waiting work', () => {
  it('admits up to its maximum, and then promises places after 5 seconds', async () => {
    const { accept, waiting, clock } = setUp(10);
    expect(await accept('a', 10)).toEqual([]);
    expect(await accept('b')).toEqual([5000]);
    // It has one place for a tenth of its maximum.
    expect(await accept('c')).toEqual([5000]);
    expect(waiting.count).toBe(10);
    await clock.advance(5000);
    expect(await accept('b')).toEqual([]);
    expect((await accept('c')).length).toBe(1);
    expect(waiting.count).toBe(11);
  });

  it('counts what is not stored yet, and not what was not accepted', async () => {
    const { line, accept, waiting } = setUp(2);
    expect(await line.enter('a')).toBeUndefined();
    expect(await line.enter('a')).toBeUndefined();
    expect(await line.enter('b')).toBe(5000);
    line.leave(false);
    line.leave(false);
    const { counts } = waiting;
    waiting.count = 0;
    expect(await accept('a')).toEqual([]);
    expect(waiting.counts).toBe(counts);
  });

  it('counts only when it may be long: rarely before', async () => {
    const { accept, waiting, clock } = setUp(1000);
    expect(await accept('a', 49)).toEqual([]);
    expect(waiting.counts).toBe(0);
    expect(await accept('a', 2)).toEqual([]);
    expect(waiting.counts).toBe(1);
    await accept('a', 200);
    const { counts } = waiting;
    expect(counts).toBeLessThanOrEqual(6);
    await clock.advance(60_000);
    await accept('a');
    expect(waiting.counts).toBeLessThanOrEqual(counts + 1);
  });

  it('counts each second while it is longer than a half', async () => {
    const { accept, waiting, clock, line } = setUp(1000);
    await accept('a', 51);
    waiting.count = 600;
    await accept('a', 50);
    const { counts } = waiting;
    await clock.advance(999);
    await line.enter('a');
    expect(waiting.counts).toBe(counts);
    await clock.advance(1);
    await line.enter('a');
    expect(waiting.counts).toBe(counts + 1);
  });

  it('estimates the wait from the speed at which work leaves it', async () => {
    const { accept, waiting, clock } = setUp(10);
    await accept('a', 10);
    expect(await accept('b')).toEqual([5000]);
    await clock.advance(2000);
    // One job has left in 2 seconds, and its place is promised.
    waiting.count = 9;
    expect(await accept('c')).toEqual([2000]);
    expect(await accept('d')).toEqual([4000]);
    // A count after more than 10 seconds says nothing about the speed.
    await clock.advance(40_000);
    waiting.count = 10;
    expect(await accept('e')).toEqual([5000]);
  });

  it('waits a minute where nothing leaves it', async () => {
    const { accept, clock } = setUp(10);
    await accept('a', 10);
    await clock.advance(1000);
    await accept('z');
    await clock.advance(1000);
    expect(await accept('b')).toEqual([60_000]);
  });

  it('keeps a place for its owner for 30 seconds', async () => {
    const { accept, clock } = setUp(10);
    await accept('a', 10);
    expect(await accept('b')).toEqual([5000]);
    await clock.advance(4999);
    expect(await accept('b')).toEqual([1000]);
    await clock.advance(30_001);
    expect((await accept('b')).length).toBe(1);
  });

  it('counts once for requests that come together', async () => {
    const { line, waiting, clock, accept } = setUp(10);
    let go = (): void => undefined;
    waiting.go = new Promise<void>((resolve) => {
      go = resolve;
    });
    await accept('z');
    waiting.count = 9;
    const entering = [line.enter('a'), line.enter('b')];
    await clock.advance(0);
    expect(waiting.counts).toBe(1);
    go();
    expect(await Promise.all(entering)).toEqual([undefined, 5000]);
  });

  it('of one owner lets the owner have all places', async () => {
    for (const hasOwners of [true, false]) {
      const { line, accept, clock } = setUp(20, hasOwners);
      await accept('a', 20);
      await line.enter('a');
      await line.enter('a');
      await clock.advance(5000);
      expect((await accept('a', 2)).length).toBe(hasOwners ? 1 : 0);
    }
  });
});

describe('lines of a process', () => {
  const open = (maxWaiting: number | null, maxWaitingPerOwner: number | null) => {
    const clock = createFakeClock();
    const store = createMemoryStore();
    const queue = createMemoryQueue({ clock, ids: createFakeIds() });
    const lines = createWorkLine({ store, queue, clock }, { maxWaiting, maxWaitingPerOwner });
    let last = 0;
    const accept = async (owner: string) => {
      const admission = lines.open(owner);
      let isStored = false;
      try {
        await admission.enter();
        last += 1;
        const id = `q${last}`;
        const quest = { id, kind: 'chat', sessionId: 's', ownerId: owner, request: {} as never };
        await store.collection(QUESTS).insert(newQuest(quest, clock.now()));
        await queue.enqueue({ kind: 'chat', key: id, owner, payload: {} });
        isStored = true;
        return 200;
      } catch (error) {
        const { status, headers } = error as { status: number; headers: Record<string, string> };
        return [status, headers['Retry-After']];
      } finally {
        admission.end(isStored);
      }
    };
    return { clock, accept, store };
  };

  it('refuse the work of one owner, of all owners, or none', async () => {
    const own = open(null, 2);
    expect([await own.accept('a'), await own.accept('a'), await own.accept('a')]).toEqual([
      200,
      200,
      [503, '5'],
    ]);
    expect(await own.accept('b')).toBe(200);
    const all = open(2, 0);
    expect([await all.accept('a'), await all.accept('b'), await all.accept('c')]).toEqual([
      200,
      200,
      [503, '5'],
    ]);
    const none = open(null, null);
    for (let at = 0; at < 20; at += 1) expect(await none.accept('a')).toBe(200);
  });

  it('refuse an owner as often as it asks, and count only its own work that waits', async () => {
    const { accept, store } = open(null, 2);
    const add = (id: string, ownerId: string, status: 'pending' | 'running') => {
      const quest = { id, kind: 'chat', sessionId: 's', ownerId, request: {} as never };
      return store.collection(QUESTS).insert({ ...newQuest(quest, 1), status });
    };
    for (let at = 0; at < 5; at += 1) {
      await add(`b${at}`, 'b', 'pending');
      await add(`a${at}`, 'a', 'running');
    }
    const answers: unknown[] = [];
    for (let at = 0; at < 7; at += 1) answers.push(await accept('a'));
    expect(answers.slice(0, 2)).toEqual([200, 200]);
    for (const answer of answers.slice(2)) expect(answer).toMatchObject([503, expect.any(String)]);
  });

  it('refuse the owners of a full line as often as they ask, and keep a place for the first', async () => {
    const { accept, clock } = open(2, null);
    for (const owner of ['a', 'a']) expect(await accept(owner)).toBe(200);
    for (const owner of ['b', 'c', 'd', 'e', 'c']) expect(await accept(owner)).toMatchObject([503, '5']);
    await clock.advance(5000);
    expect(await accept('c')).toMatchObject([503, expect.any(String)]);
    expect(await accept('b')).toBe(200);
  });

  it('refuse with a code of the application', async () => {
    const lines = createWorkLine(
      {
        store: createMemoryStore(),
        queue: { counts: async () => ({ ready: 9, delayed: 0, leased: 0 }) } as never,
        clock: createFakeClock(),
      },
      { maxWaiting: 1, maxWaitingPerOwner: null },
    );
    const enter = async () => {
      const admission = lines.open('a');
      await admission.enter();
      admission.end(true);
    };
    await enter();
    await expect(enter()).rejects.toMatchObject({ status: 503, applicationCode: 'INTERNAL_ERROR' });
  });

  it('admit again once the work of an owner that was refused by the line of all has left', async () => {
    const { accept, clock } = open(2, 5);
    for (const owner of ['a', 'a', 'b', 'b', 'b']) await accept(owner);
    await clock.advance(5000);
    expect(await accept('b')).toBe(200);
  });
});
