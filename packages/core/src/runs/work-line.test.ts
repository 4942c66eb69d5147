import { createMemoryQueue, createMemoryStore } from '@questline/core/memory';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { newQuest, QUESTS } from './records.ts';
import { createWorkLine } from './work-line.ts';

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
    return { clock, accept, store, queue };
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

  it('admit again once work has begun', async () => {
    const own = open(null, 2);
    for (let at = 0; at < 2; at += 1) expect(await own.accept('a')).toBe(200);
    expect(await own.accept('a')).toEqual([503, '5']);
    for (const id of ['q1', 'q2']) await own.store.collection(QUESTS).update(id, { status: 'running' });
    await own.clock.advance(1000);
    for (let at = 0; at < 2; at += 1) expect(await own.accept('a')).toBe(200);
    const all = open(2, null);
    for (const owner of ['a', 'b']) expect(await all.accept(owner)).toBe(200);
    expect(await all.accept('c')).toEqual([503, '5']);
    await all.queue.lease({ kinds: ['chat'], limit: 2, leaseMs: 60_000 });
    await all.clock.advance(1000);
    for (const owner of ['c', 'd']) expect(await all.accept(owner)).toBe(200);
  });

  it('of all owners have no room for what the line of an owner refuses', async () => {
    const { accept } = open(3, 1);
    expect(await accept('a')).toBe(200);
    for (let at = 0; at < 3; at += 1) expect(await accept('a')).toMatchObject([503, expect.any(String)]);
    for (const owner of ['b', 'c']) expect(await accept(owner)).toBe(200);
    expect(await accept('d')).toEqual([503, '5']);
  });

  it('of all owners keep one place for each owner, and that of an owner all of its places', async () => {
    const all = open(20, null);
    for (let at = 0; at < 20; at += 1) expect(await all.accept('a')).toBe(200);
    for (const owner of ['b', 'b', 'c']) expect(await all.accept(owner)).toEqual([503, '5']);
    await all.clock.advance(5000);
    expect([await all.accept('b'), await all.accept('c')]).toEqual([200, 200]);
    const own = open(null, 20);
    for (let at = 0; at < 20; at += 1) expect(await own.accept('a')).toBe(200);
    for (let at = 0; at < 2; at += 1) expect(await own.accept('a')).toEqual([503, '5']);
    await own.clock.advance(5000);
    expect([await own.accept('a'), await own.accept('a')]).toEqual([200, 200]);
  });

  it('say when to try again', async () => {
    const clock = createFakeClock();
    const queue = createMemoryQueue({ clock, ids: createFakeIds() });
    for (const [maxWaiting, maxWaitingPerOwner, whose] of [
      [1, null, 'requests'],
      [null, 1, 'of your requests'],
    ] as const) {
      const lines = createWorkLine(
        { store: createMemoryStore(), queue, clock },
        { maxWaiting, maxWaitingPerOwner },
      );
      await lines.open('a').enter();
      const enter = async () => lines.open('a').enter();
      await expect(enter()).rejects.toThrow(`Too many ${whose} wait. Try again in 5 seconds.`);
    }
  });
});
