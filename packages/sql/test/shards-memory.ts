import { createMemoryPorts } from '@questline/core/memory';
import {
  type CollectionDefinition,
  defineCollection,
  type Store,
  type StoredRecord,
} from '@questline/core/ports';
import { createFakeClock } from '@questline/testing';
import { type ShardOptions, type ShardPorts, shard } from '../src/index.ts';

export interface Letter extends StoredRecord {
  readonly ownerId: string;
  readonly size?: number;
}
export interface Page extends StoredRecord {
  readonly title: string;
}

/** With the owner. */
export const LETTERS = defineCollection<Letter>({
  name: 'letters',
  columns: { ownerId: 'text', size: 'integer' },
  unique: [],
  indexes: [],
});
/** Where the step writes. */
export const PAGES = defineCollection<Page>({
  name: 'pages',
  columns: { title: 'text' },
  unique: [],
  indexes: [],
});

export const letter = (id: string, ownerId: string, size?: number): Letter => ({
  ...{ id, ownerId },
  ...(size !== undefined && { size }),
});

/** A collection of the service, which only a process that uses it knows. */
export const named = (name: string): typeof LETTERS =>
  ({ ...LETTERS, name, columns: { ownerId: 'text' } }) as unknown as typeof LETTERS;

/** Two shards `a` and `b`, and a home database, in memory. An owner is on the shard with the first letter of its name. */
export function openShards(
  options: Partial<ShardOptions> = {},
  change: (ports: ShardPorts, name: string) => Partial<ShardPorts> = () => ({}),
) {
  const clock = createFakeClock();
  /** Calls of the databases: `a get letters`, or `a transaction`. */
  const calls: string[] = [];
  const places: string[] = [];
  const watchStore = (name: string, store: Store, within = ''): Store => ({
    ...store,
    collection: <R extends StoredRecord>(definition: CollectionDefinition<R>) => {
      const collection = store.collection(definition);
      const { name: noun } = definition;
      const note = (verb: string): void => {
        if (noun !== 'shard_moves') calls.push(`${name}${within} ${verb} ${noun}`);
      };
      const watched: typeof collection = {
        ...collection,
        get(...args) {
          note('get');
          return collection.get(...args);
        },
        find(...args) {
          note('find');
          return collection.find(...args);
        },
        insert(...args) {
          note('insert');
          return collection.insert(...args);
        },
      };
      return watched;
    },
    transaction(work, call) {
      calls.push(`${name} transaction`);
      return store.transaction((inner) => work(watchStore(name, inner, ' inside')), call);
    },
  });
  const open = (name: string): ShardPorts & { readonly plain: Store } => {
    const ports = createMemoryPorts({ clock });
    const changed = { ...ports, ...change(ports, name) };
    return { ...changed, store: watchStore(name, changed.store), plain: ports.store };
  };
  const [home, a, b] = [open('home'), open('a'), open('b')];
  const known = new Set<string>();
  const toShard = (owner: string) => owner.slice(0, 1);
  const directory = {
    async find(owner: string) {
      places.push(`find ${owner}`);
      return known.has(owner) ? toShard(owner) : undefined;
    },
    async place(owner: string) {
      places.push(`place ${owner}`);
      known.add(owner);
      return toShard(owner);
    },
  };
  const defaults = { directory, clock, isOwner: (name: string) => /^[ab]/.test(name) };
  const ports = shard({ home, shards: { a, b }, ...defaults, ...options });
  /** The databases that have a record. */
  const isIn = async (definition: CollectionDefinition<StoredRecord>, id: string) => {
    const found = await Promise.all(
      Object.entries({ home, a, b }).map(async ([name, { plain }]) =>
        (await plain.collection(definition).get(id)) === undefined ? [] : [name],
      ),
    );
    return found.flat();
  };
  const isLetterIn = (id: string) => isIn(LETTERS as unknown as CollectionDefinition<StoredRecord>, id);
  const isPageIn = (id: string) => isIn(PAGES as unknown as CollectionDefinition<StoredRecord>, id);
  return { ports, store: ports.store, clock, calls, places, nodes: { home, a, b }, isLetterIn, isPageIn };
}
