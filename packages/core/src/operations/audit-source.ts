import { isDeepStrictEqual } from 'node:util';
import type { CollectionDefinition, CollectionShape, Json, StoredRecord } from '../ports/store.ts';
import type { NewAuditEntry } from './audit.ts';
import type { AuditActor, AuditChange } from './audit-records.ts';

/** A change of one record: `before` is absent for a new record, `after` for a deleted one. */
export interface AuditedChange<R> {
  readonly before?: R;
  readonly after?: R;
}

/** Derives audit entries from the changes of one collection, so that every code path that makes the change is recorded. */
export interface AuditSource<R extends StoredRecord = StoredRecord> {
  readonly collection: CollectionShape;
  /** Whether new records may be acts. Default false. */
  readonly inserts?: boolean;
  /** Whether deletions may be acts. Default false. */
  readonly deletions?: boolean;
  /** A patch of other fields only is written without a transaction. */
  readonly fields: readonly string[];
  toEntries(change: AuditedChange<R>, actor: AuditActor): readonly NewAuditEntry[];
}

/** Checks a source against its record type. */
export function defineAuditSource<R extends StoredRecord>(
  source: Omit<AuditSource<R>, 'collection' | 'fields'> & {
    readonly collection: CollectionDefinition<R>;
    readonly fields: readonly (keyof R & string)[];
  },
): AuditSource {
  return source as unknown as AuditSource;
}

/** The changed fields among these. Absent fields and null are equal. */
export function listChanges<R extends StoredRecord>(
  { before, after }: AuditedChange<R>,
  fields: readonly (keyof R & string)[],
): AuditChange[] {
  return fields.flatMap((field) => {
    const [old, next] = [before?.[field] ?? null, after?.[field] ?? null] as [Json, Json];
    if (isDeepStrictEqual(old, next)) return [];
    return [{ field, ...(old !== null && { before: old }), ...(next !== null && { after: next }) }];
  });
}
