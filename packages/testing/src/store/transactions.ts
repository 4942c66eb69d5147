import { setImmediate as turn } from 'node:timers/promises';
import type { Store } from '@questline/core/ports';
import { expect } from 'vitest';
import { inParallel } from '../parallel.ts';
import { allStores, fill, getId, getNotes, getWallets, note, type StoreCase } from './subject.ts';

const gone = new Error('changed my mind');

export const transactionCases: readonly StoreCase[] = [
  {
    name: 'returns the result of a transaction and keeps its writes',
    section: 'behaviour',
    async run({ store }) {
      const answer = await store.transaction(async (inside) => {
        await getNotes({ store: inside }).insert(note(1));
        await getWallets(inside).insert({ id: getId(2), ownerId: 'alice', coins: 5 });
        await getWallets(inside).add(getId(2), { coins: 1 });
        return 'done';
      });
      expect(answer).toBe('done');
      expect(await getNotes({ store }).get(getId(1))).toEqual(note(1));
      expect(await getWallets(store).get(getId(2))).toMatchObject({ coins: 6 });
    },
  },
  {
    name: 'writes nothing to any collection when the work rejects',
    section: 'behaviour',
    async run({ store }) {
      await fill({ store }, [note(1, { rank: 1, slug: 'one' }), note(2)]);
      const doomed = store.transaction(async (inside) => {
        await getNotes({ store: inside }).update(getId(1), { rank: 2, slug: 'moved' });
        await getNotes({ store: inside }).insert(note(3, { slug: 'one' }));
        await getNotes({ store: inside }).take(getId(2));
        await getWallets(inside).insert({ id: getId(4), ownerId: 'alice' });
        throw gone;
      });
      await expect(doomed).rejects.toBe(gone);
      expect(await getNotes({ store }).find({})).toEqual([note(1, { rank: 1, slug: 'one' }), note(2)]);
      expect(await getWallets(store).count({})).toBe(0);
      expect(await getNotes({ store }).insert(note(5, { slug: 'moved' }))).toBe(true);
    },
  },
  {
    name: 'shows a transaction its own writes in every method',
    section: 'behaviour',
    async run({ store }) {
      await fill(
        { store },
        [1, 2, 3, 4].map((at) => note(at, { rank: at, slug: `s${at}` })),
      );
      await store.transaction(async (inside) => {
        const collection = getNotes({ store: inside });
        await collection.update(getId(2), { rank: 9, slug: 'moved' });
        await collection.take(getId(3));
        await collection.insert(note(5, { rank: 0 }));
        expect(await collection.get(getId(2))).toMatchObject({ rank: 9 });
        expect(await collection.get(getId(3))).toBeUndefined();
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
        expect(await collection.take(getId(3))).toBeUndefined();
        expect(await collection.add(getId(5), { rank: 3 })).toMatchObject({ rank: 3 });
      });
      expect(await getNotes({ store }).get(getId(5))).toMatchObject({ rank: 3 });
      expect(await getNotes({ store }).count({})).toBe(5);
    },
  },
  {
    name: 'continues a transaction after a rejected insert',
    section: 'behaviour',
    async run({ store }) {
      await fill({ store }, [note(1, { code: 'c1' })]);
      await store.transaction(async (inside) => {
        expect(await getNotes({ store: inside }).insert(note(1))).toBe(false);
        expect(await getNotes({ store: inside }).insert(note(2, { code: 'c1' }))).toBe(false);
        expect(await getNotes({ store: inside }).insert(note(3))).toBe(true);
      });
      expect(await getNotes({ store }).count({})).toBe(2);
    },
  },
  {
    name: 'hides a write until it is committed',
    section: 'behaviour',
    async run({ store }) {
      await fill({ store }, [note(1, { rank: 1 })]);
      const written = signal();
      const looked = signal();
      const running = store.transaction(async (inside) => {
        await getNotes({ store: inside }).update(getId(1), { rank: 2 });
        await getNotes({ store: inside }).insert(note(2));
        written.set();
        await looked.wait();
      });
      await Promise.race([written.wait(), running]);
      const early = Promise.all([getNotes({ store }).get(getId(1)), getNotes({ store }).count({})]);
      // An engine may return the state before, or let the reader wait for the state after.
      const seen = await Promise.race([early, soon()]);
      looked.set();
      await running;
      if (seen !== undefined) expect(seen).toEqual([note(1, { rank: 1 }), 1]);
      else {
        // A slow result may be either state, for each of the two reads.
        const [record, count] = await early;
        expect([note(1, { rank: 1 }), note(1, { rank: 2 })]).toContainEqual(record);
        expect([1, 2]).toContain(count);
      }
      expect(await getNotes({ store }).get(getId(1))).toMatchObject({ rank: 2 });
    },
  },
  {
    name: 'keeps a plain write made during a transaction',
    section: 'behaviour',
    async run({ store }) {
      await fill({ store }, [note(1, { rank: 10 })]);
      const read = signal();
      const wrote = signal();
      const running = store.transaction(async (inside) => {
        const before = await getNotes({ store: inside }).get(getId(1));
        read.set();
        await wrote.wait();
        await getNotes({ store: inside }).update(getId(1), { rank: (before?.rank ?? 0) + 1 });
      });
      await Promise.race([read.wait(), running]);
      const plain = getNotes({ store }).add(getId(1), { rank: 100 });
      await Promise.race([plain, soon()]);
      wrote.set();
      await Promise.all([running, plain]);
      expect(await getNotes({ store }).get(getId(1))).toMatchObject({ rank: 111 });
    },
  },
  {
    name: 'loses no update in transactions that read and then write',
    section: 'race',
    async run(subject) {
      const { store } = subject;
      await getWallets(store).insert({ id: getId(1), ownerId: 'alice', coins: 0 });
      await inParallel(20, allStores(subject), (each) =>
        each.transaction(async (inside) => {
          const wallet = await getWallets(inside).get(getId(1));
          await getWallets(inside).update(getId(1), { coins: (wallet?.coins ?? 0) + 1 });
        }),
      );
      expect(await getWallets(store).get(getId(1))).toMatchObject({ coins: 20 });
    },
  },
  {
    name: 'keeps the total of values moved in parallel',
    section: 'race',
    async run(subject) {
      const { store } = subject;
      for (let at = 0; at < 4; at += 1) {
        await getWallets(store).insert({ id: getId(at), ownerId: 'alice', coins: 10 });
      }
      const move = (each: Store, from: number, to: number) =>
        each.transaction(async (inside) => {
          const taken = await getWallets(inside).add(getId(from), { coins: -3 }, { coins: { gte: 3 } });
          if (taken === undefined) return false;
          await getWallets(inside).add(getId(to), { coins: 3 });
          if (from === 3) throw gone;
          return true;
        });
      await inParallel(40, allStores(subject), (each, at) =>
        move(each, at % 4, (at + 1 + (at % 3)) % 4).catch(() => false),
      );
      const coins = (await getWallets(store).find({})).map((wallet) => wallet.coins ?? 0);
      expect(coins.reduce((sum, each) => sum + each, 0)).toBe(40);
      for (const each of coins) expect(each).toBeGreaterThanOrEqual(0);
    },
  },
  {
    name: 'finds nothing in only one of parallel transactions that look first and then insert',
    section: 'race',
    async run(subject) {
      const made = await inParallel(12, allStores(subject), (each, at) =>
        each.transaction(async (inside) => {
          const collection = getNotes({ store: inside });
          if ((await collection.count({ ownerId: 'alice', title: 'default' })) > 0) return false;
          await turn();
          return collection.insert(note(at + 1, { title: 'default', slug: 'default' }));
        }),
      );
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await getNotes(subject).count({ title: 'default' })).toBe(1);
    },
  },
];

/** A signal between two parts of a case. */
function signal(): { set(): void; wait(): Promise<void> } {
  let set = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    set = resolve;
  });
  return { set: () => set(), wait: () => promise };
}

/** Long enough for an engine that does not wait. */
async function soon(): Promise<undefined> {
  for (let turns = 0; turns < 200; turns += 1) await turn();
  return undefined;
}
