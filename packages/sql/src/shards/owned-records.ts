import type { CollectionDefinition, Filter, Store, StoredRecord } from '@questline/core/ports';
import { removeWhere } from '@questline/core/ports';
import { findParentRecord, parseOwnedId } from './ownership.ts';
import { getPlacement, type Placement } from './placement.ts';

type AnyDefinition = CollectionDefinition<StoredRecord>;
type AnyFilter = Filter<StoredRecord>;

/** Records of one collection that belong to an owner. */
export interface OwnedPage {
  readonly definition: AnyDefinition;
  readonly records: readonly StoredRecord[];
}

const PAGE = 500;
/** Parents whose children are found in one call. */
const PARENTS = 200;
/** Records that one step inserts. */
const INSERTS = 50;

/** Finds all records that are placed with an owner in one database, parents before their children. */
export async function* findOwnedRecords(
  store: Store,
  owner: string,
  collections: readonly AnyDefinition[],
  placements?: Readonly<Record<string, Placement>>,
): AsyncGenerator<OwnedPage> {
  const byName = new Map(collections.map((definition) => [definition.name, definition]));
  const reads = {
    getDefinition: (name: string) => byName.get(name),
    read: (definition: AnyDefinition) => store.collection(definition),
  };
  /** The ids of the collections that were read. */
  const ids = new Map<string, Set<string>>();
  for (const definition of parentsFirst(collections, placements)) {
    const known = new Set<string>();
    ids.set(definition.name, known);
    const placement = getPlacement(definition, placements);
    for (const filter of listFilters(placement, owner, ids)) {
      const isByOwner = placement.by === 'parent' && Object.hasOwn(filter, placement.orOwner ?? '');
      for await (const page of findPages(store, definition, filter)) {
        const records: StoredRecord[] = [];
        for (const record of page) {
          if (known.has(record.id)) continue;
          if (placement.by === 'id' && placement.atHome?.includes(parseOwnedId(record.id).rest)) continue;
          // It is with its parent, which belongs to another owner.
          if (isByOwner && (await findParentRecord(placement, record, reads)) !== undefined) continue;
          known.add(record.id);
          records.push(record);
        }
        if (records.length > 0) yield { definition, records };
      }
    }
  }
}

function* listFilters(
  placement: Placement,
  owner: string,
  ids: ReadonlyMap<string, ReadonlySet<string>>,
): Generator<AnyFilter> {
  switch (placement.by) {
    case 'home':
    case 'step':
      return;
    case 'owner':
      yield { [placement.field]: owner } as AnyFilter;
      return;
    case 'id':
      yield { id: owner };
      yield { id: { gte: `${owner}:`, lt: `${owner};` } };
      return;
    case 'parent': {
      const parents = placement.of.flatMap((name) => [...(ids.get(name) ?? [])]);
      for (let at = 0; at < parents.length; at += PARENTS) {
        yield { [placement.field]: { in: parents.slice(at, at + PARENTS) } } as AnyFilter;
      }
      if (placement.orOwner !== undefined) yield { [placement.orOwner]: owner } as AnyFilter;
    }
  }
}

function parentsFirst(
  collections: readonly AnyDefinition[],
  placements: Readonly<Record<string, Placement>> | undefined,
): readonly AnyDefinition[] {
  const names = new Set(collections.map(({ name }) => name));
  const ordered = new Map<string, AnyDefinition>();
  for (let before = -1; ordered.size > before; ) {
    before = ordered.size;
    for (const definition of collections) {
      const placement = getPlacement(definition, placements);
      const parents = placement.by === 'parent' ? placement.of.filter((name) => names.has(name)) : [];
      if (parents.every((name) => ordered.has(name))) ordered.set(definition.name, definition);
    }
  }
  if (ordered.size < names.size) throw new TypeError('placements: collections are their own parents');
  return [...ordered.values()];
}

/** Finds all matching records, in the order of their ids. */
export async function* findPages(
  store: Store,
  definition: AnyDefinition,
  filter: AnyFilter,
): AsyncGenerator<readonly StoredRecord[]> {
  const collection = store.collection(definition);
  for (let last: StoredRecord | undefined; ; ) {
    const page: readonly StoredRecord[] = await collection.find(filter, {
      limit: PAGE,
      ...(last !== undefined && { after: { value: last.id, id: last.id } }),
    });
    if (page.length > 0) yield page;
    last = page.at(-1);
    if (page.length < PAGE) return;
  }
}

/** Inserts the records that a database does not have. @throws Error if another record has a unique value of one of them. */
export async function insertMissing(store: Store, { definition, records }: OwnedPage): Promise<void> {
  const collection = store.collection(definition);
  for (let at = 0; at < records.length; at += INSERTS) {
    const batch = records.slice(at, at + INSERTS);
    const writes = batch.map((record) => ({
      do: 'insert' as const,
      collection: definition,
      id: record.id,
      record,
    }));
    if (await store.writeAll?.(writes)) continue;
    for (const record of batch) {
      if (await collection.insert(record)) continue;
      if ((await collection.get(record.id)) !== undefined) continue;
      throw new Error(
        `another record of ${definition.name} in the target has a unique value of ${record.id}`,
      );
    }
  }
}

/** Deletes the records of an owner, children before their parents, so that what is left can still be found. */
export async function deleteOwnedRecords(
  store: Store,
  pages: AsyncIterable<OwnedPage>,
  beforeEach: () => Promise<void>,
): Promise<void> {
  const found: { readonly definition: AnyDefinition; readonly ids: readonly string[] }[] = [];
  for await (const { definition, records } of pages) {
    found.push({ definition, ids: records.map(({ id }) => id) });
  }
  for (const { definition, ids } of found.reverse()) {
    await beforeEach();
    await removeWhere(store.collection(definition), { id: { in: ids } });
  }
}
