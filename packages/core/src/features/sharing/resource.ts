import { canRead, type ShareableRecord } from '../../access/access.ts';
import type { Caller } from '../../contract/call.ts';
import type { Collection, CollectionDefinition, Filter, Store } from '../../ports/store.ts';
import type { ResourceOperations } from './contract.ts';

/** What the operations of a kind depend on. */
export interface ResourceKind {
  /** The word in its path. */
  readonly type: string;
  /** The resource name in a 404 message. */
  readonly subject: string;
  readonly operations: ResourceOperations;
}

/** A kind of resource that has a path of its own and can be shared. */
export interface Resource extends ResourceKind {
  records(store: Store): Collection<ShareableRecord>;
  /** @returns undefined when the caller may not read it. @throws ApiError 403 while the kind is switched off. */
  show(caller: Caller, id: string, mountPath: string): Promise<object | undefined>;
  /** The names of those that exist, by id. Up to 1,000 ids, in one store call. */
  findNames(store: Store, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Who may invite others: the owner, unless the kind permits more. */
  canInvite(userId: string): Filter<ShareableRecord>;
  /** Further changes in the same transaction when a user gets a share. */
  joined(store: Store, id: string, userId: string): Promise<void>;
  /** Further changes in the same transaction when a share is revoked. */
  left(store: Store, id: string, userId: string): Promise<void>;
}

export interface ResourceDefinition<R extends ShareableRecord> {
  readonly collection: CollectionDefinition<R>;
  readonly getName: (record: R) => string;
  /** Returns the record, when the caller may read it. Default: the owner, and users with a share. */
  readonly find?: (caller: Caller, id: string) => Promise<R | undefined>;
  readonly toWire: (record: R, mountPath: string, caller: Caller) => object | Promise<object>;
  readonly canInvite?: (userId: string) => Filter<ShareableRecord>;
  readonly joined?: Resource['joined'];
  readonly left?: Resource['left'];
}

const nothing = async (): Promise<void> => undefined;

export function defineResource<R extends ShareableRecord>(
  store: Store,
  kind: ResourceKind,
  definition: ResourceDefinition<R>,
): Resource {
  const { collection, find, toWire, canInvite, joined, left } = definition;
  return {
    ...kind,
    async findNames(where, ids) {
      if (ids.length === 0) return new Map();
      const wanted: { id: { in: readonly string[] } } = { id: { in: ids } };
      const found = await where.collection(collection).find(wanted as Filter<R>);
      return new Map(found.map((record) => [record.id, definition.getName(record)]));
    },
    // Sharing reads and changes only the common fields of a shareable record.
    records: (where) => where.collection(collection) as unknown as Collection<ShareableRecord>,
    async show(caller, id, mountPath) {
      const mine = canRead(caller.userId) as Filter<R>;
      const record = find ? await find(caller, id) : await store.collection(collection).get(id, mine);
      return record && toWire(record, mountPath, caller);
    },
    canInvite: canInvite ?? ((userId) => ({ ownerId: userId })),
    joined: joined ?? nothing,
    left: left ?? nothing,
  };
}
