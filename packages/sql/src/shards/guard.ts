import {
  type CallOptions,
  type Collection,
  type CollectionDefinition,
  isStoreRead,
  removeWhere,
  StorageUnavailable,
  type Store,
  type StoredRecord,
  type StoreWrite,
} from '@questline/core/ports';
import { copyLedger, copyQueue } from './copied-ports.ts';
import { endInTime, MAX_CALL_MS, type MoveWatch } from './moves.ts';
import type { ShardNode } from './nodes.ts';
import { findRecordOwner, type OwnershipReads } from './ownership.ts';

type AnyDefinition = CollectionDefinition<StoredRecord>;
type AnyCollection = Collection<StoredRecord>;

export interface GuardOptions {
  readonly watch: MoveWatch;
  readonly getDefinition: OwnershipReads['getDefinition'];
  readonly placements: OwnershipReads['placements'];
}

/** A database whose records of owners that move are refused with `StorageUnavailable`, whatever way leads to them. */
export function guardNode(node: ShardNode, options: GuardOptions): ShardNode {
  const { ledger, queue } = node;
  const inTime =
    <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> =>
      endInTime(options.watch, () => call(...args));
  return {
    ...node,
    store: guardStore(node, options),
    ledger: {
      ...copyLedger(ledger),
      balance: inTime((...args) => ledger.balance(...args)),
      hold: inTime((...args) => ledger.hold(...args)),
      settle: inTime((...args) => ledger.settle(...args)),
      release: inTime((...args) => ledger.release(...args)),
      record: inTime((...args) => ledger.record(...args)),
      grant: inTime((...args) => ledger.grant(...args)),
    },
    queue: { ...copyQueue(queue), enqueue: inTime((...args) => queue.enqueue(...args)) },
  };
}

function guardStore({ name, store }: ShardNode, options: GuardOptions): Store {
  const { watch } = options;
  const direct: Access = {
    begin: () => watch.refresh(),
    read: (definition) => store.collection(definition),
    end: (call) => endInTime(watch, call),
  };
  const { writeAll } = store;
  return {
    collection: toCollections(name, direct, options),
    async transaction(work, call) {
      await watch.refresh();
      const startedAt = watch.now();
      const within = (inner: Store): Access => ({
        // The moves are not read here: an engine may have one connection, which the transaction holds.
        async begin() {
          if (watch.now() - startedAt > MAX_CALL_MS)
            throw new StorageUnavailable('a transaction took too long');
        },
        read: (definition) => inner.collection(definition),
        end: (call) => call(),
      });
      const done = watch.allowOlder();
      try {
        return await endInTime(watch, () =>
          store.transaction(
            (inner) =>
              work({
                collection: toCollections(name, within(inner), options),
                transaction: inner.transaction,
              }),
            call,
          ),
        );
      } finally {
        done();
      }
    },
    ...(writeAll !== undefined && {
      async writeAll(writes: readonly StoreWrite[], call?: CallOptions) {
        await watch.refresh();
        const check = createCheck(name, direct, options);
        for (const write of writes) {
          if (write.do === 'engine' || write.do === 'remove-where' || isStoreRead(write)) continue;
          await (write.do === 'insert'
            ? check.record(write.collection, write.record)
            : check.id(write.collection, write.id));
        }
        return endInTime(watch, () => writeAll(writes, call));
      },
    }),
  };
}

interface Access {
  begin(): Promise<void>;
  read(definition: AnyDefinition): AnyCollection;
  /** Runs a call, and rejects if an owner has moved during it. */
  end<T>(call: () => Promise<T>): Promise<T>;
}

function toCollections(name: string, access: Access, options: GuardOptions): Store['collection'] {
  return <R extends StoredRecord>(definition: CollectionDefinition<R>) =>
    guardCollection(
      name,
      access,
      definition as unknown as AnyDefinition,
      options,
    ) as unknown as Collection<R>;
}

function createCheck(name: string, { read }: Access, { watch, ...options }: GuardOptions) {
  const isNeeded = (): boolean => watch.isAnyClosed && watch.involves(name);
  const record = async (definition: AnyDefinition, one: StoredRecord | undefined): Promise<void> => {
    if (one === undefined || !isNeeded()) return;
    watch.assertOpen(await findRecordOwner(definition, one, { ...options, read }));
  };
  return {
    record,
    async id(definition: AnyDefinition, id: string): Promise<void> {
      if (isNeeded()) await record(definition, await read(definition).get(id));
    },
  };
}

function guardCollection(
  name: string,
  access: Access,
  definition: AnyDefinition,
  options: GuardOptions,
): AnyCollection {
  const collection = access.read(definition);
  const check = createCheck(name, access, options);
  const change = async <T>(id: string, write: () => Promise<T>): Promise<T> => {
    await access.begin();
    await check.id(definition, id);
    return access.end(write);
  };
  return {
    async get(...args) {
      await access.begin();
      const record = await access.end(() => collection.get(...args));
      await check.record(definition, record);
      return record;
    },
    async find(...args) {
      await access.begin();
      return access.end(() => collection.find(...args));
    },
    async count(...args) {
      await access.begin();
      return access.end(() => collection.count(...args));
    },
    async insert(record, call) {
      await access.begin();
      await check.record(definition, record);
      return access.end(() => collection.insert(record, call));
    },
    update: (id, ...rest) => change(id, () => collection.update(id, ...rest)),
    add: (id, ...rest) => change(id, () => collection.add(id, ...rest)),
    take: (id, ...rest) => change(id, () => collection.take(id, ...rest)),
    async removeWhere(filter, call) {
      await access.begin();
      return access.end(() => removeWhere(collection, filter, call));
    },
  };
}
