import {
  type Collection,
  type CollectionDefinition,
  defineCollection,
  type Filter,
  type FindOptions,
  type Patch,
  type Store,
} from '../../ports/store.ts';
import type { GenerationRecord } from './records.ts';

/** Names of stored fields that differ from the names in the code, so that older records stay readable. */
const STORED_NAMES = {
  input: 'wish',
  submittedBy: 'asker',
  submittedAt: 'askedAt',
  nextCheckAt: 'tendAt',
} as const;

type StoredNames = typeof STORED_NAMES;

/** A generation as the store contains it. */
export type StoredGeneration = {
  readonly [K in keyof GenerationRecord as K extends keyof StoredNames
    ? StoredNames[K]
    : K]: GenerationRecord[K];
};

export const GENERATIONS: CollectionDefinition<StoredGeneration> = defineCollection<StoredGeneration>({
  name: 'generations',
  columns: {
    kind: 'text',
    ownerId: 'text',
    state: 'text',
    step: 'text',
    source: 'text',
    asker: 'text',
    tendAt: 'integer',
    createdAt: 'integer',
  },
  unique: [],
  indexes: [['ownerId', 'kind', 'createdAt'], ['tendAt'], ['createdAt']],
});

const CODE_NAMES = Object.fromEntries(Object.entries(STORED_NAMES).map(([name, stored]) => [stored, name]));

/** Returns the generations, with the names of the code. */
export function getGenerations(store: Store): Collection<GenerationRecord> {
  const stored = store.collection(GENERATIONS);
  return {
    get: async (id, guard, options) => toRecord(await stored.get(id, toFilter(guard), options)),
    async find(filter, options) {
      const found = await stored.find(toFilter(filter), toFindOptions(options));
      return found.map((one) => rename(one, CODE_NAMES) as GenerationRecord);
    },
    count: (filter, options) => stored.count(toFilter(filter), options),
    insert: (record, options) => stored.insert(toStored(record), options),
    update: async (id, patch, guard, options) =>
      toRecord(await stored.update(id, toPatch(patch), toFilter(guard), options)),
    add: async (id, deltas, guard, options) =>
      toRecord(await stored.add(id, rename(deltas, STORED_NAMES), toFilter(guard), options)),
    take: async (id, guard, options) => toRecord(await stored.take(id, toFilter(guard), options)),
  };
}

function toRecord(stored: StoredGeneration | undefined): GenerationRecord | undefined {
  return stored === undefined ? undefined : (rename(stored, CODE_NAMES) as GenerationRecord);
}

function toStored(record: GenerationRecord): StoredGeneration {
  return rename(record, STORED_NAMES) as StoredGeneration;
}

function toPatch(patch: Patch<GenerationRecord>): Patch<StoredGeneration> {
  return rename(patch, STORED_NAMES);
}

function toFilter(filter: Filter<GenerationRecord>): Filter<StoredGeneration>;
function toFilter(filter: Filter<GenerationRecord> | undefined): Filter<StoredGeneration> | undefined;
function toFilter(filter: Filter<GenerationRecord> | undefined): Filter<StoredGeneration> | undefined {
  if (filter === undefined) return undefined;
  const { anyOf, ...fields } = filter;
  return {
    ...rename(fields, STORED_NAMES),
    ...(anyOf !== undefined && { anyOf: anyOf.map((one) => toFilter(one)) }),
  };
}

function toFindOptions(
  options: FindOptions<GenerationRecord> | undefined,
): FindOptions<StoredGeneration> | undefined {
  if (options?.order === undefined) return options as FindOptions<StoredGeneration> | undefined;
  const { field, direction } = options.order;
  const names: Readonly<Record<string, string>> = STORED_NAMES;
  return { ...options, order: { field: (names[field] ?? field) as keyof StoredGeneration, direction } };
}

function rename(fields: object, names: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [names[name] ?? name, value]));
}
