import { setImmediate as turn } from 'node:timers/promises';
import type { Store } from '@questline/core';
import { expect } from 'vitest';
import { inParallel } from '../parallel.ts';
import { allStores, fill, idOf, note, notesOf, type StoreCase, walletsOf } from './subject.ts';

const gone = new Error('changed my mind');

export const transactionCases: readonly StoreCase[] = [
  {
    name: 'a transaction answers what its work answers, and its writes stay',
    section: 'behaviour',
    async run({ store }) {
      const answer = await store.transaction(async (inside) => {
        await notesOf({ store: inside }).insert(note(1));
        await walletsOf(inside).insert({ id: idOf(2), ownerId: 'alice', coins: 5 });
        await walletsOf(inside).add(idOf(2), { coins: 1 });
        return 'done';
      });
      expect(answer).toBe('done');
      expect(await notesOf({ store }).get(idOf(1))).toEqual(note(1));
      expect(await walletsOf(store).get(idOf(2))).toMatchObject({ coins: 6 });
    },
  },
  {
    name: 'work that rejects leaves nothing, of no collection',
    section: 'behaviour',
    async run({ store }) {
      await fill({ store }, [note(1, { rank: 1, slug: 'one' }), note(2)]);
      const doomed = store.transaction(async (inside) => {
        await notesOf({ store: inside }).update(idOf(1), { rank: 2, slug: 'moved' });
        await notesOf({ store: inside }).insert(note(3, { slug: 'one' }));
        await notesOf({ store: inside }).take(idOf(2));
        await walletsOf(inside).insert({ id: idOf(4), ownerId: 'alice' });
        throw gone;
      });
      await expect(doomed).rejects.toBe(gone);
      expect(await notesOf({ store }).find({})).toEqual([note(1, { rank: 1, slug: 'one' }), note(2)]);
      expect(await walletsOf(store).count({})).toBe(0);
      expect(await notesOf({ store }).insert(note(5, { slug: 'moved' }))).toBe(true);
    },
  },
  {
    name: 'a transaction sees its own writes in every verb',
    section: 'behaviour',
    async run({ store }) {
      await fill(
        { store },
        [1, 2, 3, 4].map((at) => note(at, { rank: at, slug: `s${at}` })),
      );
      await store.transaction(async (inside) => {
        const collection = notesOf({ store: inside });
        await collection.update(idOf(2), { rank: 9, slug: 'moved' });
        await collection.take(idOf(3));
        await collection.insert(note(5, { rank: 0 }));
        expect(await collection.get(idOf(2))).toMatchObject({ rank: 9 });
        expect(await collection.get(idOf(3))).toBeUndefined();
        expect(await collection.count({ ownerId: 'alice' })).toBe(4);
        const byRank = { order: { field: 'rank' as const, direction: 'asc' as const } };
        const list = await collection.find({ ownerId: 'alice' }, byRank);
        expect(list.map(({ rank }) => rank)).toEqual([0, 1, 4, 9]);
        expect(await collection.find({ ownerId: 'alice' }, { ...byRank, limit: 2, offset: 1 })).toHaveLength(
          2,
        );
        expect(await collection.find({ rank: 2 })).toEqual([]);
        expect(await collection.insert(note(6, { slug: 'moved' }))).toBe(false);
        expect(await collection.insert(note(7, { slug: 's2' }))).toBe(true);
        expect(await collection.insert(note(8, { slug: 's1' }))).toBe(false);
        expect(await collection.take(idOf(3))).toBeUndefined();
        expect(await collection.add(idOf(5), { rank: 3 })).toMatchObject({ rank: 3 });
      });
      expect(await notesOf({ store }).get(idOf(5))).toMatchObject({ rank: 3 });
      expect(await notesOf({ store }).count({})).toBe(5);
    },
  },
  {
    name: 'a refused insert does not end the transaction',
    section: 'behaviour',
    async run({ store }) {
      await fill({ store }, [note(1, { code: 'c1' })]);
      await store.transaction(async (inside) => {
        expect(await notesOf({ store: inside }).insert(note(1))).toBe(false);
        expect(await notesOf({ store: inside }).insert(note(2, { code: 'c1' }))).toBe(false);
        expect(await notesOf({ store: inside }).insert(note(3))).toBe(true);
      });
      expect(await notesOf({ store }).count({})).toBe(2);
    },
  },
  {
    name: 'nobody sees a write before it is committed',
    section: 'behaviour',
    async run({ store }) {
      await fill({ store }, [note(1, { rank: 1 })]);
      const written = signal();
      const looked = signal();
      const running = store.transaction(async (inside) => {
        await notesOf({ store: inside }).update(idOf(1), { rank: 2 });
        await notesOf({ store: inside }).insert(note(2));
        written.set();
        await looked.wait();
      });
      await Promise.race([written.wait(), running]);
      const early = Promise.all([notesOf({ store }).get(idOf(1)), notesOf({ store }).count({})]);
      // An engine may answer what was before, or make the reader wait for what comes after.
      const seen = await Promise.race([early, soon()]);
      looked.set();
      await running;
      if (seen !== undefined) expect(seen).toEqual([note(1, { rank: 1 }), 1]);
      else {
        // A slow answer may be either, for each of the two reads.
        const [record, count] = await early;
        expect([note(1, { rank: 1 }), note(1, { rank: 2 })]).toContainEqual(record);
        expect([1, 2]).toContain(count);
      }
      expect(await notesOf({ store }).get(idOf(1))).toMatchObject({ rank: 2 });
    },
  },
  {
    name: 'a plain write during a transaction is not lost',
    section: 'behaviour',
    async run({ store }) {
      await fill({ store }, [note(1, { rank: 10 })]);
      const read = signal();
      const wrote = signal();
      const running = store.transaction(async (inside) => {
        const before = await notesOf({ store: inside }).get(idOf(1));
        read.set();
        await wrote.wait();
        await notesOf({ store: inside }).update(idOf(1), { rank: (before?.rank ?? 0) + 1 });
      });
      await Promise.race([read.wait(), running]);
      const plain = notesOf({ store }).add(idOf(1), { rank: 100 });
      await Promise.race([plain, soon()]);
      wrote.set();
      await Promise.all([running, plain]);
      expect(await notesOf({ store }).get(idOf(1))).toMatchObject({ rank: 111 });
    },
  },
  {
    name: 'transactions that read and then write lose no update',
    section: 'race',
    async run(subject) {
      const { store } = subject;
      await walletsOf(store).insert({ id: idOf(1), ownerId: 'alice', coins: 0 });
      await inParallel(20, allStores(subject), (each) =>
        each.transaction(async (inside) => {
          const wallet = await walletsOf(inside).get(idOf(1));
          await walletsOf(inside).update(idOf(1), { coins: (wallet?.coins ?? 0) + 1 });
        }),
      );
      expect(await walletsOf(store).get(idOf(1))).toMatchObject({ coins: 20 });
    },
  },
  {
    name: 'coins that move between wallets in parallel are neither made nor lost',
    section: 'race',
    async run(subject) {
      const { store } = subject;
      for (let at = 0; at < 4; at += 1) {
        await walletsOf(store).insert({ id: idOf(at), ownerId: 'alice', coins: 10 });
      }
      const move = (each: Store, from: number, to: number) =>
        each.transaction(async (inside) => {
          const taken = await walletsOf(inside).add(idOf(from), { coins: -3 }, { coins: { gte: 3 } });
          if (taken === undefined) return false;
          await walletsOf(inside).add(idOf(to), { coins: 3 });
          if (from === 3) throw gone;
          return true;
        });
      await inParallel(40, allStores(subject), (each, at) =>
        move(each, at % 4, (at + 1 + (at % 3)) % 4).catch(() => false),
      );
      const coins = (await walletsOf(store).find({})).map((wallet) => wallet.coins ?? 0);
      expect(coins.reduce((sum, each) => sum + each, 0)).toBe(40);
      for (const each of coins) expect(each).toBeGreaterThanOrEqual(0);
    },
  },
  {
    name: 'of parallel transactions that look first and then insert, one finds nothing',
    section: 'race',
    async run(subject) {
      const made = await inParallel(12, allStores(subject), (each, at) =>
        each.transaction(async (inside) => {
          const collection = notesOf({ store: inside });
          if ((await collection.count({ ownerId: 'alice', title: 'default' })) > 0) return false;
          await turn();
          return collection.insert(note(at + 1, { title: 'default', slug: 'default' }));
        }),
      );
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await notesOf(subject).count({ title: 'default' })).toBe(1);
    },
  },
];

/** Something one part of a case waits for until another says so. */
function signal(): { set(): void; wait(): Promise<void> } {
  let set = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    set = resolve;
  });
  return { set: () => set(), wait: () => promise };
}

/** Time enough for an engine that does not wait. */
async function soon(): Promise<undefined> {
  for (let turns = 0; turns < 200; turns += 1) await turn();
  return undefined;
}
