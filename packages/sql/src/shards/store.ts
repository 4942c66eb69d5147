import {
  type CallOptions,
  type Collection,
  type CollectionDefinition,
  type Filter,
  followed,
  isStoreRead,
  type Store,
  type StoredRecord,
  type StoreRead,
  type StoreWrite,
  writeAll,
} from '@questline/core/ports';
import { createShardedCollection, type ShardAccess } from './collection.ts';
import type { PlaceCache } from './directory.ts';
import { type MoveWatch, watchCall } from './moves.ts';
import type { ShardNode, ShardWork } from './nodes.ts';
import { createSeenOver, type Seen, type ShardRouter, toSeenKey } from './router.ts';
import { transactInOne } from './transaction.ts';

/** A store over several databases. Every transaction and every `writeAll` writes to one of them; reads of others come before it. */
export function createShardedStore(
  router: ShardRouter,
  seen: PlaceCache,
  engine: object,
  watch: MoveWatch,
  checksIds = false,
): Store {
  const { nodes } = router;
  const direct: ShardAccess = {
    seen,
    read: (node, definition) => node.store.collection(definition),
    write: (node, definition) => node.store.collection(definition),
    touch: () => undefined,
    getStepNode: () => undefined,
    assumesSteps: false,
  };
  const toStore = (within: ShardRouter, access: ShardAccess): Pick<Store, 'collection'> => ({
    collection: <R extends StoredRecord>(definition: CollectionDefinition<R>) =>
      createShardedCollection(
        within,
        access,
        definition as unknown as CollectionDefinition<StoredRecord>,
        watch,
        checksIds,
      ) as unknown as Collection<R>,
  });

  const toDirect = toStore(router, direct);
  const getCollection = <R extends StoredRecord>(definition: CollectionDefinition<R>): Collection<R> =>
    watchCollection(toDirect.collection(definition), watch);

  return {
    collection: getCollection,
    transaction: (work, options) =>
      watchCall(watch, () =>
        transactInOne(
          router,
          seen,
          (within, access) =>
            work({
              ...toStore(within, access),
              transaction: async () => {
                throw new Error('transactions do not nest');
              },
            }),
          options,
        ),
      ),
    writeAll: (writes, options) => watchCall(watch, () => writeInOne(writes, options)),
  };

  async function writeInOne(writes: readonly StoreWrite[], options?: CallOptions): Promise<boolean> {
    const added = createSeenOver(seen);
    // A record is found by that of a later write, whose collection may be new to this process.
    for (const write of writes) if (write.do !== 'engine') router.know(write.collection);
    const reads = writes.filter(isStoreRead);
    const steps = [];
    for (const write of writes) {
      if (!isStoreRead(write)) steps.push(await placeWrite(router, engine, write, added.seen, options));
    }
    const places = new Set(steps.flatMap(({ node }) => node ?? []));
    const [node = nodes.home, ...others] = places;
    const built = steps.map(({ build }) => build(node));
    const whole = built.filter((write) => write !== undefined);
    if (others.length > 0 || whole.length < built.length) return false;
    const there: StoreWrite[] = [];
    const elsewhere: (() => void)[] = [];
    for (const read of reads) {
      const { collection, filter, max, order } = read;
      const [at, ...more] = await router.forFilter(collection, filter, added.seen, options);
      if (at === node && more.length === 0) there.push(read);
      else {
        const inOrder = order && { order: order as { field: 'id'; direction: 'asc' } };
        const records = await getCollection(collection).find(filter, {
          ...options,
          ...inOrder,
          limit: max,
        });
        elsewhere.push(() => read.found(records));
      }
    }
    const isDone = await writeAll(node.store, [...there, ...whole], options);
    if (isDone) {
      for (const write of whole) {
        if (write.do === 'insert') added.seen.set(toSeenKey(write.collection.name, write.id), node.name);
      }
      added.keep();
      for (const give of elsewhere) give();
    }
    return isDone;
  }
}

/** A collection that reads the moves before each call. */
function watchCollection<R extends StoredRecord>(collection: Collection<R>, watch: MoveWatch): Collection<R> {
  const { removeWhere } = collection;
  return {
    get: (...args) => watchCall(watch, () => collection.get(...args)),
    find: (...args) => watchCall(watch, () => collection.find(...args)),
    count: (...args) => watchCall(watch, () => collection.count(...args)),
    insert: (...args) => watchCall(watch, () => collection.insert(...args)),
    update: (...args) => watchCall(watch, () => collection.update(...args)),
    add: (...args) => watchCall(watch, () => collection.add(...args)),
    take: (...args) => watchCall(watch, () => collection.take(...args)),
    ...(removeWhere && { removeWhere: (...args) => watchCall(watch, () => removeWhere(...args)) }),
  };
}

interface PlacedWrite {
  /** Undefined: where the other writes are. */
  readonly node: ShardNode | undefined;
  build(node: ShardNode): StoreWrite | undefined;
}

async function placeWrite(
  router: ShardRouter,
  engine: object,
  write: Exclude<StoreWrite, StoreRead>,
  seen: Seen,
  options: CallOptions | undefined,
): Promise<PlacedWrite> {
  const build = () => write;
  if (write.do === 'engine') {
    if (write.engine !== engine) return { node: undefined, build };
    const work = write.work as ShardWork;
    const node = await getWorkNode(router, work, options);
    return {
      node,
      build(one) {
        const inner = work.build(one);
        return inner && followed(inner, () => write.applied());
      },
    };
  }
  const { collection } = write;
  if (write.do === 'remove-where') {
    const filter = write.filter as Filter<StoredRecord>;
    const [node, ...others] = await router.forFilter(collection, filter, seen, options);
    return { node, build: others.length > 0 ? () => undefined : build };
  }
  const { id } = write;
  if (write.do === 'insert') {
    const node = await router.forInsert(collection, write.record, seen, options);
    // Later writes of this step may belong to this record.
    if (node !== undefined) seen.set(toSeenKey(collection.name, id), node.name);
    return { node, build };
  }
  const guard = ('guard' in write ? write.guard : undefined) as Filter<StoredRecord> | undefined;
  const { first, others } = await router.forId(collection, id, guard, seen, options);
  if (first !== undefined && others.length === 0) return { node: first, build };
  if (first !== undefined && seen.get(toSeenKey(collection.name, id)) === first.name) {
    return { node: first, build };
  }
  const candidates = first === undefined ? others : [first, ...others];
  const found = await Promise.all(
    candidates.map((node) => node.store.collection(collection).get(id, undefined, options)),
  );
  return { node: candidates[found.findIndex((record) => record !== undefined)], build };
}

async function getWorkNode(
  router: ShardRouter,
  { node, owner }: ShardWork,
  options: CallOptions | undefined,
): Promise<ShardNode> {
  if (node !== undefined) return router.nodes.get(node);
  return owner === undefined ? router.nodes.home : router.forOwner(owner, options);
}
