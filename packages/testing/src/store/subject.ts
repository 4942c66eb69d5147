import { type Collection, defineCollection, type Store, type StoredRecord } from '@questline/core/ports';
import type { Case, Subject } from '../suite.ts';

export interface StoreSubject extends Subject {
  readonly store: Store;
  /** Further handles on the same engine, like other processes. Concurrency cases use all of them. */
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
  /** Without a column: stored and returned only. */
  readonly body?: unknown;
}

export const notes = defineCollection<Note>({
  name: 'suite_notes',
  secretFields: { code: false },
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

export const wallets = defineCollection<Wallet>({
  name: 'suite_wallets',
  columns: { ownerId: 'text', coins: 'integer' },
  unique: [],
  indexes: [['ownerId']],
});

/** The collections of the suite, for engines that need tables first. */
export const storeSuiteCollections = [notes, wallets] as const;

/** The id of a number; ids are in the order of the numbers. */
export function getId(number: number): string {
  return number.toString(16).padStart(24, '0');
}

/** A note with the required fields. */
export function note(number: number, more: Partial<Note> = {}): Note {
  return { id: getId(number), ownerId: 'alice', createdAt: number, ...more };
}

export function getNotes({ store }: Pick<StoreSubject, 'store'>): Collection<Note> {
  return store.collection(notes);
}

export function getWallets(store: Store): Collection<Wallet> {
  return store.collection(wallets);
}

export function allStores({ store, peers = [] }: StoreSubject): readonly Store[] {
  return [store, ...peers];
}

/** Inserts notes; fails if an insert returns false. */
export async function fill(subject: Pick<StoreSubject, 'store'>, records: readonly Note[]): Promise<void> {
  for (const record of records) {
    if (!(await getNotes(subject).insert(record))) throw new Error(`${record.id} could not be inserted`);
  }
}

/** The numbers of the ids. */
export function getNumbers(records: readonly StoredRecord[]): number[] {
  return records.map(({ id }) => Number.parseInt(id, 16));
}
