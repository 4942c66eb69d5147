import { type Collection, defineCollection, type Store, type StoredRecord } from '@questline/core';
import type { Case, Subject } from '../suite.ts';

export interface StoreSubject extends Subject {
  readonly store: Store;
  /** More of the same over the same engine, as other processes would have it. The races are spread over all. */
  readonly peers?: readonly Store[];
}

export type StoreCase = Case<StoreSubject>;

export interface Note extends StoredRecord {
  readonly ownerId: string;
  readonly title?: string | null;
  readonly rank?: number;
  readonly isPinned?: boolean;
  readonly tags?: readonly string[];
  readonly slug?: string | null;
  readonly code?: string;
  readonly createdAt: number;
  /** No column: it just travels. */
  readonly body?: unknown;
}

export const notes = defineCollection<Note>({
  name: 'suite_notes',
  columns: {
    ownerId: 'text',
    title: 'text',
    rank: 'integer',
    isPinned: 'boolean',
    tags: 'list',
    slug: 'text',
    code: 'text',
    createdAt: 'integer',
  },
  unique: [['ownerId', 'slug'], ['code']],
  indexes: [['ownerId', 'createdAt'], ['ownerId', 'rank'], ['tags']],
});

export interface Wallet extends StoredRecord {
  readonly ownerId: string;
  readonly coins?: number;
}

const wallets = defineCollection<Wallet>({
  name: 'suite_wallets',
  columns: { ownerId: 'text', coins: 'integer' },
  unique: [],
  indexes: [['ownerId']],
});

/** The collections the suite uses, for engines that want tables before anything is stored. */
export const storeSuiteCollections = [notes, wallets] as const;

/** An id by a number: ids grow with it. */
export function idOf(number: number): string {
  return number.toString(16).padStart(24, '0');
}

/** A note with only what must be. */
export function note(number: number, more: Partial<Note> = {}): Note {
  return { id: idOf(number), ownerId: 'alice', createdAt: number, ...more };
}

export function notesOf({ store }: Pick<StoreSubject, 'store'>): Collection<Note> {
  return store.collection(notes);
}

export function walletsOf(store: Store): Collection<Wallet> {
  return store.collection(wallets);
}

export function allStores({ store, peers = [] }: StoreSubject): readonly Store[] {
  return [store, ...peers];
}

/** Puts notes in, failing when one does not go in. */
export async function fill(subject: Pick<StoreSubject, 'store'>, records: readonly Note[]): Promise<void> {
  for (const record of records) {
    if (!(await notesOf(subject).insert(record))) throw new Error(`${record.id} could not be inserted`);
  }
}

/** The numbers that stand in the ids. */
export function numbersOf(records: readonly StoredRecord[]): number[] {
  return records.map(({ id }) => Number.parseInt(id, 16));
}
