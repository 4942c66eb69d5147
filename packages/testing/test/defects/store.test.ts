import { createMemoryStore } from '@questline/core/memory';
import type { Collection, Filter, Store, StoredRecord } from '@questline/core/ports';
import { getWithMatch, removeWhere, writeAll } from '@questline/core/ports';
import { createFakeClock, fakeTime, type StoreSubject, storeCases } from '@questline/testing';
import { type Defect, defectTests, gap } from './red.ts';

type AnyRecord = StoredRecord & Record<string, unknown>;
type AnyCollection = Collection<AnyRecord>;
type AnyFilter = Record<string, unknown>;

/** Applies a defect to every collection of a store, also inside transactions. */
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

/** Changes every filter before the call. */
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
      removeWhere: (filter, options) => removeWhere(sound, changed(filter), options),
    };
  };
}

defectTests('store', storeCases, [
  defect(
    'reads and then writes its counters',
    ['counts 100 parallel deltas and never passes a guard twice for one slot'],
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
  defect('writes whole records back', ['keeps parallel updates of different fields'], (sound) => ({
    async update(id, patch, guard) {
      const { id: _, ...old } = (await sound.get(id, guard)) ?? { id };
      if (Object.keys(old).length === 0) return undefined;
      await gap();
      return sound.update(id, { ...old, ...patch }, guard);
    },
  })),
  defect(
    'checks the guard before it updates',
    ['passes one of 50 parallel guarded updates of one state'],
    (sound) => ({
      async update(id, patch, guard) {
        if ((await sound.get(id, guard)) === undefined) return undefined;
        await gap();
        return sound.update(id, patch);
      },
    }),
  ),
  defect(
    'gives a taken record to every reader',
    ['gives one record to one of 50 parallel takes'],
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
    ['accepts one of 50 parallel inserts of one unique value'],
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
      'writes nothing to any collection when the work rejects',
      'hides a write until it is committed',
      'loses no update in transactions that read and then write',
    ],
    (store) => ({ ...store, transaction: (work) => work(store) }),
  ),
  storeDefect(
    'lets transactions overwrite each other',
    ['loses no update in transactions that read and then write'],
    (store) => ({
      ...store,
      // Reads come from outside the transaction, so outdated reads are not detected.
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
    'forgets the guard on take',
    ['treats a record as unknown for every method when a guard fails'],
    (sound) => ({ take: (id) => sound.take(id) }),
  ),
  storeDefect(
    'ignores the filter of a reference',
    [
      'returns a record, and whether its reference matches',
      'matches references within one collection, by lists too',
      'reads no reference with an undefined condition',
    ],
    (store) => ({
      ...store,
      collection: (definition) => ({
        ...store.collection(definition),
        getWithMatch: (id, reference, options) =>
          getWithMatch(store, definition, id, { ...reference, filter: {} }, options),
      }),
    }),
  ),
  storeDefect(
    'reads references outside of the transaction',
    ['matches what its transaction has written'],
    (store) => ({
      ...store,
      transaction: (work) =>
        store.transaction((inside) =>
          work({
            ...inside,
            collection: (definition) => ({
              ...inside.collection(definition),
              getWithMatch: (id, reference, options) =>
                getWithMatch(store, definition, id, reference, options),
            }),
          }),
        ),
    }),
  ),
  defect(
    'deletes more than the limit',
    ['deletes at most the limit, and fewer only when no other record matches'],
    (sound) => ({ removeWhere: (filter) => removeWhere(sound, filter) }),
  ),
  defect(
    'selects the records that it deletes in a step before',
    [
      'counts each of 60 deleted records for one of 20 parallel callers',
      'deletes no record that a parallel update takes out of the filter',
    ],
    (sound) => ({
      async removeWhere(filter, options = {}) {
        const found = await sound.find(filter, options);
        await gap();
        for (const { id } of found) await sound.take(id);
        return found.length;
      },
    }),
  ),
  storeDefect(
    'writes a step one by one',
    [
      'applies none of the writes of a step when one of them has no effect',
      'rejects a step with an invalid value or an undefined condition, and writes nothing',
    ],
    (store) => ({
      ...store,
      async writeAll(writes) {
        for (const write of writes) if (!(await writeAll(store, [write]))) return false;
        return true;
      },
    }),
  ),
  storeDefect(
    'ignores the expectations of a step',
    [
      'applies none of the writes of a step when one of them has no effect',
      'adds nothing to a record that was deleted, and loses no count',
    ],
    (store) => ({
      ...store,
      writeAll: (writes) =>
        writeAll(
          store,
          writes.filter(({ do: what }) => what !== 'expect' && what !== 'expect-none'),
        ),
    }),
  ),
  storeDefect(
    'deletes more records in a step than it may',
    ['deletes, and adds to records that exist, in one step with other writes'],
    (store) => ({
      ...store,
      writeAll: (writes) =>
        writeAll(
          store,
          writes.map((write) => (write.do === 'remove-where' ? { ...write, max: 999 } : write)),
        ),
    }),
  ),
  storeDefect(
    'reads what the writes of the step have written',
    ['reads records as they were before the writes of the step'],
    (store) => ({
      ...store,
      async writeAll(writes) {
        const reads = writes.filter((write) => write.do === 'read');
        if (
          !(await writeAll(
            store,
            writes.filter((write) => write.do !== 'read'),
          ))
        )
          return false;
        return writeAll(store, reads);
      },
    }),
  ),
  storeDefect(
    'reads for a step without effect',
    ['reads records as they were before the writes of the step'],
    (store) => ({
      ...store,
      async writeAll(writes) {
        await writeAll(
          store,
          writes.filter((write) => write.do === 'read'),
        );
        return writeAll(store, writes);
      },
    }),
  ),
  storeDefect(
    'deletes outside of the transaction',
    ['deletes within a transaction, and restores the records when the work rejects'],
    (store) => ({
      ...store,
      transaction: (work) =>
        store.transaction((inside) =>
          work({
            ...inside,
            collection: (definition) => ({
              ...inside.collection(definition),
              removeWhere: (filter, options) => removeWhere(store.collection(definition), filter, options),
            }),
          }),
        ),
    }),
  ),
  defect(
    'ignores undefined conditions',
    [
      'rejects an undefined condition instead of ignoring it',
      'deletes nothing for an undefined condition or a limit out of bounds',
    ],
    asking((filter) => Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))),
  ),
  defect(
    'returns its stored objects',
    ['keeps stored values when the caller changes a returned value'],
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
    'reads the position of an order by id from its value',
    ['continues after the id alone where records are ordered by id, whatever the value of the position'],
    (sound) => ({
      find(filter, options = {}) {
        const { after, order } = options;
        if (after === undefined || (order !== undefined && order.field !== 'id')) {
          return sound.find(filter, options);
        }
        return sound.find(filter, { ...options, after: { ...after, id: String(after.value) } });
      },
    }),
  ),
  defect(
    'pages by the value alone',
    ['visits every record once by keyset paging in both directions, also with equal values'],
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
    'treats a substring as a pattern',
    ['filters by substring, ignoring case and without patterns'],
    asking((filter) =>
      Object.fromEntries(
        Object.entries(filter).map(([field, value]) => {
          const text = (value as { contains?: string } | null)?.contains;
          return [field, text === undefined ? value : { contains: text.replaceAll(/[%_]/g, '') }];
        }),
      ),
    ),
  ),
  defect('does not match absent values with not', ['filters by not, which absent values match'], (sound) => ({
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
