import type {
  CallOptions,
  Collection,
  CollectionDefinition,
  Filter,
  StoredRecord,
} from '@questline/core/ports';
import type { PlaceCache, ShardDirectory } from './directory.ts';
import type { ShardNode, ShardNodes } from './nodes.ts';
import { parseOwnedId } from './ownership.ts';
import { getPlacement, type Placement } from './placement.ts';

/** Where records were seen, by collection and id. */
export type Seen = Pick<PlaceCache, 'get' | 'set'>;

/** The databases where a record can be. */
export interface Places {
  /** Where it is, if it is anywhere; to be asked first. */
  readonly first: ShardNode | undefined;
  /** The others to ask if it is not in the first. */
  readonly others: readonly ShardNode[];
}

/** How a router reads placements and records. */
export interface RouterAccess {
  readonly directory: ShardDirectory;
  read(
    node: ShardNode,
    definition: CollectionDefinition<StoredRecord>,
  ): Pick<Collection<StoredRecord>, 'get'>;
}

export interface ShardRouter {
  readonly nodes: ShardNodes;
  readonly directory: ShardDirectory;
  /** The same router, which reads within a transaction. */
  within(access: RouterAccess): ShardRouter;
  /** Keeps a definition, so that children can look for their parents. */
  know(definition: CollectionDefinition<StoredRecord>): void;
  /** The databases where a record with this id and guard can be. */
  forId(
    definition: CollectionDefinition<StoredRecord>,
    id: string,
    guard: Filter<StoredRecord> | undefined,
    seen: Seen,
    options?: CallOptions,
  ): Promise<Places>;
  /** The databases where matching records can be. */
  forFilter(
    definition: CollectionDefinition<StoredRecord>,
    filter: Filter<StoredRecord>,
    seen: Seen,
    options?: CallOptions,
  ): Promise<readonly ShardNode[]>;
  /** The database of a new record; undefined: that of the step. */
  forInsert(
    definition: CollectionDefinition<StoredRecord>,
    record: StoredRecord,
    seen: Seen,
    options?: CallOptions,
  ): Promise<ShardNode | undefined>;
  /** The field that places records of this collection with an owner. */
  getOwnerField(definition: CollectionDefinition<StoredRecord>): string | undefined;
  /** The database of an owner, chosen now for a new owner. */
  forOwner(owner: string, options?: CallOptions): Promise<ShardNode>;
  /** The database of the record of a named collection. */
  findParent(
    of: readonly string[],
    id: string,
    seen: Seen,
    options?: CallOptions,
  ): Promise<ShardNode | undefined>;
}

/** Before the name of a collection: where its record is most likely, not where it was seen. */
export const LIKELY = 'likely ';

export function toSeenKey(collection: string, id: string): string {
  return `${collection}/${id}`;
}

/** The value of a field that the filter requires, if it is one text. */
function getRequired(filter: Filter<StoredRecord> | undefined, field: string): string | undefined {
  const condition: unknown = filter?.[field as keyof typeof filter];
  return typeof condition === 'string' ? condition : undefined;
}

/** The owner that one of the alternatives requires: the first one to ask. */
function getLikely(filter: Filter<StoredRecord> | undefined, field: string): string | undefined {
  for (const one of filter?.anyOf ?? []) {
    const owner = getRequired(one, field);
    if (owner !== undefined) return owner;
  }
  return undefined;
}

function getOwnerField(placement: Placement): string | undefined {
  if (placement.by === 'owner') return placement.field;
  return placement.by === 'parent' ? placement.orOwner : undefined;
}

export function createShardRouter(
  nodes: ShardNodes,
  { directory, read }: RouterAccess,
  placements: Readonly<Record<string, Placement>> = {},
  definitions = new Map<string, CollectionDefinition<StoredRecord>>(),
): ShardRouter {
  const { home, all } = nodes;

  const findOwner = async (owner: string, options?: CallOptions): Promise<ShardNode | undefined> => {
    const shard = await directory.find(owner, options);
    return shard === undefined ? undefined : nodes.get(shard);
  };

  const getSeen = (seen: Seen, collection: string, id: string): ShardNode | undefined => {
    const name = seen.get(toSeenKey(collection, id));
    return name === undefined ? undefined : nodes.get(name);
  };

  const findParent: ShardRouter['findParent'] = async (of, id, seen, options) => {
    for (const name of of) {
      const known = getSeen(seen, name, id);
      if (known !== undefined) return known;
    }
    for (const name of of) {
      const definition = definitions.get(name);
      if (definition === undefined) continue;
      const found = await Promise.all(all.map((node) => read(node, definition).get(id, undefined, options)));
      const node = all[found.findIndex((record) => record !== undefined)];
      if (node === undefined) continue;
      seen.set(toSeenKey(name, id), node.name);
      return node;
    }
    return undefined;
  };

  const forOwner = async (owner: string, options?: CallOptions): Promise<ShardNode> =>
    nodes.get(await directory.place(owner, options));

  const except = (node: ShardNode | undefined): readonly ShardNode[] => all.filter((one) => one !== node);

  return {
    nodes,
    directory,
    within: (access) => createShardRouter(nodes, access, placements, definitions),
    know: (definition) => void definitions.set(definition.name, definition),
    async forId(definition, id, guard, seen, options) {
      const placement = getPlacement(definition, placements);
      if (placement.by === 'home') return { first: home, others: [] };
      if (placement.by === 'id') {
        const { owner, rest } = parseOwnedId(id);
        if (placement.atHome?.includes(rest)) return { first: home, others: [] };
        return { first: (await findOwner(owner, options)) ?? home, others: [] };
      }
      const field = getOwnerField(placement);
      const owner = field === undefined ? undefined : getRequired(guard, field);
      if (placement.by === 'owner' && owner !== undefined) {
        return { first: (await findOwner(owner, options)) ?? home, others: [] };
      }
      const known = getSeen(seen, definition.name, id);
      if (known !== undefined) return { first: known, others: except(known) };
      if (placement.by === 'parent') {
        const parentId = placement.field === 'id' ? id : getRequired(guard, placement.field);
        const [parent] = placement.of.flatMap((of) => (parentId && getSeen(seen, of, parentId)) || []);
        if (parent !== undefined) return { first: parent, others: except(parent) };
      }
      const guessed = getSeen(seen, LIKELY + definition.name, id);
      if (guessed !== undefined) return { first: guessed, others: except(guessed) };
      const likely = owner ?? (field === undefined ? undefined : getLikely(guard, field));
      const first = likely === undefined ? undefined : await findOwner(likely, options);
      return { first, others: except(first) };
    },
    async forFilter(definition, filter, seen, options) {
      const placement = getPlacement(definition, placements);
      if (placement.by === 'home') return [home];
      if (placement.by === 'owner') {
        const owner = getRequired(filter, placement.field);
        if (owner !== undefined) return [(await findOwner(owner, options)) ?? home];
      }
      if (placement.by === 'parent') {
        const parentId = getRequired(filter, placement.field);
        const node = parentId && (await findParent(placement.of, parentId, seen, options));
        if (node) return [node];
      }
      const id = getRequired(filter, 'id');
      const known = id === undefined ? undefined : getSeen(seen, definition.name, id);
      return known === undefined ? all : [known];
    },
    async forInsert(definition, record, seen, options) {
      const placement = getPlacement(definition, placements);
      const read = (field: string): string | undefined => {
        const value: unknown = record[field as keyof StoredRecord];
        return typeof value === 'string' ? value : undefined;
      };
      switch (placement.by) {
        case 'home':
          return home;
        case 'id': {
          const { owner, rest } = parseOwnedId(record.id);
          return placement.atHome?.includes(rest) ? home : forOwner(owner, options);
        }
        case 'step':
          return undefined;
        case 'owner': {
          const owner = read(placement.field);
          return owner === undefined ? undefined : forOwner(owner, options);
        }
        case 'parent': {
          const parentId = read(placement.field);
          const parent = parentId && (await findParent(placement.of, parentId, seen, options));
          if (parent) return parent;
          const owner = placement.orOwner === undefined ? undefined : read(placement.orOwner);
          return owner === undefined ? undefined : forOwner(owner, options);
        }
      }
    },
    getOwnerField(definition) {
      const placement = getPlacement(definition, placements);
      return placement.by === 'owner' ? placement.field : undefined;
    },
    forOwner,
    findParent,
  };
}

/** Places that become known when the step that writes them is committed. */
export function createSeenOver(below: Seen): { readonly seen: Seen; keep(): void } {
  const added = new Map<string, string>();
  return {
    seen: {
      get: (key) => added.get(key) ?? below.get(key),
      set: (key, node) => void added.set(key, node),
    },
    keep() {
      for (const [key, node] of added) below.set(key, node);
    },
  };
}
