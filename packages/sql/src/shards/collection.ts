import {
  type Collection,
  type CollectionDefinition,
  CrossShardWrite,
  removeWhere,
  type StoredRecord,
} from '@questline/core/ports';
import { countInAll, findInAll } from './merge.ts';
import type { MoveWatch } from './moves.ts';
import type { ShardNode } from './nodes.ts';
import { type Seen, type ShardRouter, toSeenKey } from './router.ts';

type AnyDefinition = CollectionDefinition<StoredRecord>;
type AnyCollection = Collection<StoredRecord>;

/** How a store reaches its databases: directly, or within one transaction. */
export interface ShardAccess {
  readonly seen: Seen;
  /** The collection of one database, to read. */
  read(node: ShardNode, definition: AnyDefinition): AnyCollection;
  /** The collection of one database, to write. */
  write(node: ShardNode, definition: AnyDefinition): AnyCollection;
  /** Called with the database of a record that was read. */
  touch(node: ShardNode): void;
  /** The database of a record that goes where the step writes. */
  getStepNode(): ShardNode | undefined;
  /** True: such a record counts as inserted while the database of the step is not known. */
  readonly assumesSteps: boolean;
}

/** One collection over several databases. */
export function createShardedCollection(
  router: ShardRouter,
  access: ShardAccess,
  definition: AnyDefinition,
  watch: MoveWatch,
  checksIds = false,
): AnyCollection {
  const { seen } = access;
  const { home } = router.nodes;
  router.know(definition);

  const note = <T extends StoredRecord | undefined>(node: ShardNode, record: T): T => {
    if (record !== undefined) seen.set(toSeenKey(definition.name, record.id), node.name);
    return record;
  };

  /** Asks the likely database, then the others at once. */
  const find = async (
    ...[id, guard, options]: Parameters<AnyCollection['get']>
  ): Promise<{ readonly node: ShardNode; readonly record: StoredRecord } | undefined> => {
    const { first, others } = await router.forId(definition, id, guard, seen, options);
    if (first !== undefined && others.length === 0) access.touch(first);
    const ask = async (nodes: readonly ShardNode[]) => {
      const records = await Promise.all(
        nodes.map((node) => access.read(node, definition).get(id, guard, options)),
      );
      const at = records.findIndex((record) => record !== undefined);
      const [node, record] = [nodes[at], records[at]];
      return node === undefined || record === undefined ? undefined : { node, record };
    };
    const found = (first && (await ask([first]))) ?? (others.length > 0 ? await ask(others) : undefined);
    if (found !== undefined) {
      note(found.node, found.record);
      access.touch(found.node);
    }
    return found;
  };

  /** Writes to a record where it is. */
  const write = async (
    [id, guard, options]: Parameters<AnyCollection['get']>,
    change: (collection: AnyCollection) => Promise<StoredRecord | undefined>,
  ): Promise<StoredRecord | undefined> => {
    const { first, others } = await router.forId(definition, id, guard, seen, options);
    if (first !== undefined && others.length === 0) {
      return note(first, await change(access.write(first, definition)));
    }
    const found = await find(id, guard, options);
    return found && note(found.node, await change(access.write(found.node, definition)));
  };

  return {
    get: async (id, guard, options) => (await find(id, guard, options))?.record,
    async find(filter, options) {
      const nodes = await router.forFilter(definition, filter, seen, options);
      const [only, ...others] = nodes;
      if (only !== undefined && others.length === 0) access.touch(only);
      return findInAll(
        nodes.map((node) => {
          const collection = access.read(node, definition);
          return {
            async find(...args: Parameters<AnyCollection['find']>) {
              const records = await collection.find(...args);
              for (const record of records) note(node, record);
              return records;
            },
          };
        }),
        filter,
        options,
      );
    },
    async count(filter, options) {
      const nodes = await router.forFilter(definition, filter, seen, options);
      const collections = nodes.map((node) => access.read(node, definition));
      return countInAll(collections, filter, options, watch.moving.size > 0);
    },
    async insert(record, options) {
      const placed = (await router.forInsert(definition, record, seen, options)) ?? access.getStepNode();
      if (placed === undefined && access.assumesSteps) return true;
      const node = placed ?? home;
      if (checksIds && (await find(record.id, undefined, options)) !== undefined) return false;
      const isNew = await access.write(node, definition).insert(record, options);
      if (isNew) note(node, record);
      return isNew;
    },
    async update(id, patch, guard, options) {
      await assertStays(patch, [id, guard, options]);
      return write([id, guard, options], (collection) => collection.update(id, patch, guard, options));
    },
    add: (id, deltas, guard, options) =>
      write([id, guard, options], (collection) => collection.add(id, deltas, guard, options)),
    take: (id, guard, options) =>
      write([id, guard, options], (collection) => collection.take(id, guard, options)),
    async removeWhere(filter, options = {}) {
      const nodes = await router.forFilter(definition, filter, seen, options);
      const { limit = 1000, ...rest } = options;
      let removed = 0;
      for (const node of nodes) {
        // The engine rejects an invalid limit.
        if (removed > 0 && removed >= limit) break;
        if (nodes.length > 1) {
          const [match] = await access.read(node, definition).find(filter, { ...rest, limit: 1 });
          if (match === undefined) continue;
        }
        const collection = access.write(node, definition);
        removed += await removeWhere(collection, filter, { ...rest, limit: limit - removed });
      }
      return removed;
    },
  };

  /** @throws CrossShardWrite if the new owner of a record has another shard. */
  async function assertStays(patch: object, args: Parameters<AnyCollection['get']>): Promise<void> {
    const field = router.getOwnerField(definition);
    if (field === undefined || !Object.hasOwn(patch, field)) return;
    const owner: unknown = patch[field as keyof typeof patch];
    const found = typeof owner === 'string' ? await find(...args) : undefined;
    if (found === undefined || typeof owner !== 'string' || found.record[field as 'id'] === owner) return;
    if ((await router.forOwner(owner)) === found.node) return;
    throw new CrossShardWrite(`a record of ${definition.name} does not change to an owner of another shard`);
  }
}
