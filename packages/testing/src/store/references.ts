import { getWithMatch, type Reference, type Store } from '@questline/core/ports';
import { expect } from 'vitest';
import {
  fill,
  getId,
  getWallets,
  type Note,
  note,
  notes,
  type StoreCase,
  type Wallet,
  wallets,
} from './subject.ts';

/** Reads a note, and whether the wallet in its slug matches. */
function readWithWallet(store: Store, note: number, filter: Reference<Note, Wallet>['filter']) {
  return getWithMatch(store, notes, getId(note), { field: 'slug', collection: wallets, filter });
}

/** Cases of `getWithMatch`; a store without it passes by reading one record after the other. */
export const referenceCases: readonly StoreCase[] = [
  {
    name: 'returns a record, and whether its reference matches',
    section: 'behaviour',
    async run(subject) {
      const record = note(1, { slug: getId(7) });
      await fill(subject, [record]);
      await getWallets(subject.store).insert({ id: getId(7), ownerId: 'alice', coins: 5 });
      await getWallets(subject.store).insert({ id: getId(8), ownerId: 'bob', coins: 9 });
      const read = (filter: Reference<Note, Wallet>['filter']) => readWithWallet(subject.store, 1, filter);
      expect(await read({})).toEqual({ record, matches: true });
      expect(await read({ ownerId: 'alice' })).toEqual({ record, matches: true });
      expect(await read({ ownerId: 'bob' })).toEqual({ record, matches: false });
      expect(await read({ coins: { gte: 6 } })).toEqual({ record, matches: false });
      expect(await read({ anyOf: [{ ownerId: 'bob' }, { coins: 5 }] })).toEqual({ record, matches: true });
    },
  },
  {
    name: 'matches no absent reference, and returns no absent record',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1), note(2, { slug: null }), note(3, { slug: getId(9) })]);
      for (const number of [1, 2, 3]) {
        expect(await readWithWallet(subject.store, number, {})).toMatchObject({
          record: { id: getId(number) },
          matches: false,
        });
      }
      expect(await readWithWallet(subject.store, 4, {})).toBeUndefined();
    },
  },
  {
    name: 'matches references within one collection, by lists too',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { tags: ['a', 'b'] }), note(2, { tags: ['c'], slug: getId(1) })]);
      const read = (filter: Reference<Note, Note>['filter']) =>
        getWithMatch(subject.store, notes, getId(2), { field: 'slug', collection: notes, filter });
      expect(await read({ tags: { has: 'b' } })).toMatchObject({ record: { id: getId(2) }, matches: true });
      expect(await read({ tags: { has: 'c' } })).toMatchObject({ matches: false });
      expect(await read({ slug: null })).toMatchObject({ matches: true });
    },
  },
  {
    name: 'matches what its transaction has written',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { slug: getId(7) })]);
      const inside = await subject.store.transaction(async (store) => {
        await getWallets(store).insert({ id: getId(7), ownerId: 'alice' });
        return readWithWallet(store, 1, { ownerId: 'alice' });
      });
      expect(inside).toMatchObject({ matches: true });
    },
  },
  {
    name: 'reads no reference with an undefined condition',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { slug: getId(7) })]);
      await getWallets(subject.store).insert({ id: getId(7), ownerId: 'alice' });
      const withoutOwner = { ownerId: undefined } as unknown as Reference<Note, Wallet>['filter'];
      await expect(readWithWallet(subject.store, 1, withoutOwner)).rejects.toThrow();
    },
  },
];
