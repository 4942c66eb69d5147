import type * as z from 'zod';
import type { Caller } from '../call.ts';
import type { Collection, CollectionDefinition, Filter, Store } from '../ports/store.ts';
import { canRead, type ShareableRecord } from './access.ts';

/** A kind of thing that has an address of its own and can be shared. */
export interface Resource {
  /** The word in its path. */
  readonly type: string;
  /** What a 404 calls it. */
  readonly subject: string;
  /** What is shown of it. */
  readonly schema: z.ZodType;
  records(store: Store): Collection<ShareableRecord>;
  /** @returns undefined when the caller may not read it. @throws ApiError 403 while the kind is switched off. */
  show(caller: Caller, id: string, mountPath: string): Promise<object | undefined>;
  /** Who may invite others to it: the owner, unless the kind says more. */
  canInvite(userId: string): Filter<ShareableRecord>;
  /** What else changes, in the same transaction, when somebody is let in. */
  joined(store: Store, id: string, userId: string): Promise<void>;
  /** What else changes, in the same transaction, when somebody is shut out. */
  left(store: Store, id: string, userId: string): Promise<void>;
}

export interface ResourceDefinition<R extends ShareableRecord> {
  readonly type: string;
  readonly subject: string;
  readonly schema: z.ZodType;
  readonly collection: CollectionDefinition<R>;
  /** The record, when the caller may read it. Default: the owner may, and those it is shared with. */
  readonly find?: (caller: Caller, id: string) => Promise<R | undefined>;
  readonly toWire: (record: R, mountPath: string) => object | Promise<object>;
  readonly canInvite?: (userId: string) => Filter<ShareableRecord>;
  readonly joined?: Resource['joined'];
  readonly left?: Resource['left'];
}

const nothing = async (): Promise<void> => undefined;

export function defineResource<R extends ShareableRecord>(
  store: Store,
  { type, subject, schema, collection, find, toWire, canInvite, joined, left }: ResourceDefinition<R>,
): Resource {
  return {
    type,
    subject,
    schema,
    // Of any shareable record, only what sharing knows of it is looked at and changed here.
    records: (where) => where.collection(collection) as unknown as Collection<ShareableRecord>,
    async show(caller, id, mountPath) {
      const mine = canRead(caller.userId) as Filter<R>;
      const record = find ? await find(caller, id) : await store.collection(collection).get(id, mine);
      return record && toWire(record, mountPath);
    },
    canInvite: canInvite ?? ((userId) => ({ ownerId: userId })),
    joined: joined ?? nothing,
    left: left ?? nothing,
  };
}
