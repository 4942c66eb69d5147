import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import { defineCollection, type Store, type StoredRecord } from '../ports/store.ts';
import { type StoreWrite, writeInTransaction, writesTo } from '../ports/write-all.ts';
import { captureAudit } from './audit-capture.ts';
import { AUDIT_LOG } from './audit-records.ts';
import { defineAuditSource } from './audit-source.ts';

interface Thing extends StoredRecord {
  readonly name: string;
  readonly size: number;
}

const shape = { columns: { name: 'text', size: 'integer' }, unique: [], indexes: [] } as const;
const THINGS = defineCollection<Thing>({ name: 'things', ...shape });
const OTHERS = defineCollection<Thing>({ name: 'others', ...shape });
const A: Thing = { id: 'a', name: 'old', size: 1 };
const ALL = { inserts: true, deletions: true };

/** @param acts the changes that the source records, beside those of the name. */
function setUp(acts: typeof ALL | object, plain: Store) {
  const source = defineAuditSource({
    collection: THINGS,
    fields: ['name'],
    ...acts,
    toEntries: ({ before, after }) => [
      { action: 'user.updated', target: { type: 'thing', id: `${before?.name ?? ''}>${after?.name ?? ''}` } },
    ],
  });
  const store = captureAudit(plain, [source], createFakeClock());
  const listActs = async () => (await plain.collection(AUDIT_LOG).find({})).map((one) => one.targetId);
  return { plain, store, listActs };
}

/** A store that names the writes that it gets. */
function createWholeStore(got: string[]): Store {
  const plain = createMemoryStore();
  return {
    ...plain,
    writeAll(writes) {
      got.push(...writes.map((write) => write.do));
      return writeInTransaction(plain, writes);
    },
  };
}

const to = writesTo(THINGS);
const engine: StoreWrite = { do: 'engine', engine: {}, work: undefined, applied() {} };

it.each<[name: string, write: StoreWrite, act: string]>([
  ['an insert', to.insert({ ...A, id: 'b' }), '>old'],
  ['an update', to.update('a', { name: 'new' }), 'old>new'],
  ['a deletion', to.remove('a'), 'old>'],
  ['a deletion of many', to.removeWhere({ name: 'old' }, 1), 'old>'],
])('writes an entry in the transaction of %s', async (_name, write, act) => {
  const got: string[] = [];
  const { plain, store, listActs } = setUp(ALL, createWholeStore(got));
  await plain.collection(THINGS).insert(A);
  expect(await store.writeAll?.([writesTo(OTHERS).insert(A), write])).toBe(true);
  expect(await listActs()).toEqual([act]);
  expect(got).toEqual([]);
  expect(await plain.collection(OTHERS).count({})).toBe(1);
});

it.each<[name: string, write: StoreWrite, acts: typeof ALL | object]>([
  ['an insert that is no act', to.insert({ ...A, id: 'b' }), {}],
  ['a deletion that is no act', to.remove('a'), {}],
  ['a deletion of many that is no act', to.removeWhere({ name: 'old' }, 1), {}],
  ['an update of other fields', to.update('a', { size: 2 }), ALL],
  ['an expected absence', to.removeWhere({ name: 'none' }, 0), ALL],
  ['a counter', to.add('a', { size: 1 }), ALL],
  ['an expectation', to.expect('a'), ALL],
  ['a record of another collection', writesTo(OTHERS).insert(A), ALL],
])('passes writes in one step on with %s', async (_name, write, acts) => {
  const got: string[] = [];
  const { plain, store, listActs } = setUp(acts, createWholeStore(got));
  await plain.collection(THINGS).insert(A);
  expect(await store.writeAll?.([write])).toBe(true);
  expect(got).toEqual([write.do]);
  expect(await listActs()).toEqual([]);
});

it('passes writes of an engine on, which have no effect beside an act', async () => {
  const got: string[] = [];
  const { store, listActs } = setUp(ALL, createWholeStore(got));
  expect(await store.writeAll?.([engine])).toBe(false);
  expect(got).toEqual(['engine']);
  expect(await store.writeAll?.([engine, to.insert(A)])).toBe(false);
  expect(got).toEqual(['engine']);
  expect(await listActs()).toEqual([]);
});

it('has no writes in one step where the store has none', () => {
  expect(setUp(ALL, createMemoryStore()).store).not.toHaveProperty('writeAll');
});
