import type { Collection, Filter, Store, StoredRecord } from '@questline/core';
import { createMemoryStore } from '@questline/core/memory';
import { createFakeClock, fakeTime, type StoreSubject, storeCases } from '@questline/testing';
import { type Defect, defectTests, gap } from './red.ts';

type AnyRecord = StoredRecord & Record<string, unknown>;
type AnyCollection = Collection<AnyRecord>;
type AnyFilter = Record<string, unknown>;

/** Spoils every collection of a store, inside transactions too. */
function spoilt(store: Store, spoil: (sound: AnyCollection, name: string) => Partial<AnyCollection>): Store {
  return {
    collection<R extends StoredRecord>(definition: Parameters<typeof store.collection<R>>[0]) {
      const sound = store.collection(definition) as unknown as AnyCollection;
      return { ...sound, ...spoil(sound, definition.name) } as unknown as Collection<R>;
    },
    transaction: (work, options) => store.transaction((inside) => work(spoilt(inside, spoil)), options),
  };
}

function defect(
  name: string,
  red: readonly string[],
  spoil: (sound: AnyCollection, name: string) => Partial<AnyCollection>,
): Defect<StoreSubject> {
  return storeDefect(name, red, (store) => spoilt(store, spoil));
}

function storeDefect(
  name: string,
  red: readonly string[],
  spoil: (sound: Store) => Store,
): Defect<StoreSubject> {
  return {
    name,
    red,
    create: async () => ({ store: spoil(createMemoryStore()), time: fakeTime(createFakeClock()) }),
  };
}

/** Changes every filter before it is asked. */
function asking(change: (filter: AnyFilter) => AnyFilter) {
  return (sound: AnyCollection): Partial<AnyCollection> => {
    const changed = (filter: Filter<AnyRecord>) => change(filter as AnyFilter) as Filter<AnyRecord>;
    return {
      find: (filter, options) => sound.find(changed(filter), options),
      count: (filter, options) => sound.count(changed(filter), options),
      get: (id, guard, options) => sound.get(id, guard && changed(guard), options),
      update: (id, patch, guard, options) => sound.update(id, patch, guard && changed(guard), options),
      add: (id, deltas, guard, options) => sound.add(id, deltas, guard && changed(guard), options),
      take: (id, guard, options) => sound.take(id, guard && changed(guard), options),
    };
  };
}

defectTests('store', storeCases, [
  defect(
    'reads, thinks and then writes its counters',
    ['100 parallel deltas all count, and a guard is never passed by two for one place'],
    (sound) => ({
      async add(id, deltas, guard) {
        const record = await sound.get(id, guard);
        if (record === undefined) return undefined;
        await gap();
        const moved = Object.entries(deltas).map(([field, by]) => [
          field,
          Number(record[field] ?? 0) + Number(by),
        ]);
        return sound.update(id, Object.fromEntries(moved) as Partial<AnyRecord>);
      },
    }),
  ),
  defect('writes whole records back', ['parallel updates of different fields keep each other'], (sound) => ({
    async update(id, patch, guard) {
      const { id: _, ...old } = (await sound.get(id, guard)) ?? { id };
      if (Object.keys(old).length === 0) return undefined;
      await gap();
      return sound.update(id, { ...old, ...patch }, guard);
    },
  })),
  defect(
    'checks the guard before it updates',
    ['of 50 parallel guarded updates of one state, one passes'],
    (sound) => ({
      async update(id, patch, guard) {
        if ((await sound.get(id, guard)) === undefined) return undefined;
        await gap();
        return sound.update(id, patch);
      },
    }),
  ),
  defect(
    'hands a taken record to whoever saw it',
    ['of 50 parallel takers of one record, one gets it'],
    (sound) => ({
      async take(id, guard) {
        const record = await sound.get(id, guard);
        await gap();
        if (record !== undefined) await sound.take(id);
        return record;
      },
    }),
  ),
  storeDefect(
    'looks for a unique value before it inserts',
    ['of 50 parallel inserts of one unique value, one goes in'],
    (store) => ({
      ...store,
      collection(definition) {
        const loose = store.collection({ ...definition, unique: [] });
        return {
          ...loose,
          async insert(record) {
            for (const fields of definition.unique) {
              const pairs = fields.map((field) => [field, record[field]] as const);
              if (pairs.some(([, value]) => value === undefined || value === null)) continue;
              if ((await loose.count(Object.fromEntries(pairs) as Filter<typeof record>)) > 0) return false;
            }
            await gap();
            return loose.insert(record);
          },
        };
      },
    }),
  ),
  storeDefect(
    'rolls nothing back',
    [
      'work that rejects leaves nothing, of no collection',
      'nobody sees a write before it is committed',
      'transactions that read and then write lose no update',
    ],
    (store) => ({ ...store, transaction: (work) => work(store) }),
  ),
  storeDefect(
    'lets transactions overwrite each other',
    ['transactions that read and then write lose no update'],
    (store) => ({
      ...store,
      // Reads come from outside the transaction, so nothing notices that they are old.
      transaction: (work) =>
        store.transaction((inside) =>
          work({
            ...inside,
            collection: (definition) => ({
              ...inside.collection(definition),
              get: async (id, guard) => {
                const record = await store.collection(definition).get(id, guard);
                await gap();
                return record;
              },
            }),
          }),
        ),
    }),
  ),
  defect(
    'forgets the guard when it takes',
    ['a guard that does not hold makes a record unknown, to every verb'],
    (sound) => ({ take: (id) => sound.take(id) }),
  ),
  defect(
    'leaves undefined conditions out',
    ['a condition that is undefined is refused, not left out'],
    asking((filter) => Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))),
  ),
  defect(
    'hands out what it keeps',
    ['what is handed out can be changed, if at all, without changing what is stored'],
    (sound) => {
      const kept = new Map<string, AnyRecord>();
      return {
        async get(id, guard) {
          const record = kept.get(id) ?? structuredClone(await sound.get(id, guard));
          if (record !== undefined) kept.set(id, record);
          return record;
        },
      };
    },
  ),
  defect(
    'pages by the value alone',
    ['keyset paging visits every record once, in both directions, equal values too'],
    (sound) => ({
      find(filter, options = {}) {
        const { after, order } = options;
        if (after === undefined) return sound.find(filter, options);
        const id = order?.direction === 'desc' ? '' : 'g';
        return sound.find(filter, { ...options, after: { value: after.value, id } });
      },
    }),
  ),
  defect(
    'takes a substring for a pattern',
    ['substrings, whatever their case, and nothing in them is a pattern'],
    asking((filter) =>
      Object.fromEntries(
        Object.entries(filter).map(([field, value]) => {
          const text = (value as { contains?: string } | null)?.contains;
          return [field, text === undefined ? value : { contains: text.replaceAll(/[%_]/g, '') }];
        }),
      ),
    ),
  ),
  defect('does not find the absent by not', ['not, which the absent also is'], (sound) => ({
    find: (filter, options) => {
      const strict = Object.entries(filter).flatMap(([field, value]) =>
        typeof (value as { not?: unknown } | null)?.not === 'string' ? [field] : [],
      );
      const anyOf = [
        Object.fromEntries(strict.map((field) => [field, { not: null }])),
      ] as Filter<AnyRecord>[];
      return sound.find(strict.length > 0 ? { ...filter, anyOf } : filter, options);
    },
  })),
]);
