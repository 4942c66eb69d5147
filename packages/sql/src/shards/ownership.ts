import type { Collection, CollectionDefinition, CollectionShape, StoredRecord } from '@questline/core/ports';
import { getPlacement, type Placement } from './placement.ts';

/** How the owner of a record is found. */
export interface OwnershipReads {
  /** The definition of a named collection, if it is known. */
  getDefinition(name: string): CollectionDefinition<StoredRecord> | undefined;
  read(definition: CollectionDefinition<StoredRecord>): Pick<Collection<StoredRecord>, 'get'>;
  readonly placements?: Readonly<Record<string, Placement>> | undefined;
}

/** The owner with whom a record is placed, found through its parents in one database; undefined: it has no owner. */
export async function findRecordOwner(
  definition: CollectionShape,
  record: StoredRecord,
  reads: OwnershipReads,
): Promise<string | undefined> {
  const placement = getPlacement(definition, reads.placements);
  switch (placement.by) {
    case 'home':
    case 'step':
      return undefined;
    case 'owner':
      return getText(record, placement.field);
    case 'id': {
      const { owner, rest } = parseOwnedId(record.id);
      return placement.atHome?.includes(rest) ? undefined : owner;
    }
    case 'parent': {
      const parent = await findParentRecord(placement, record, reads);
      if (parent !== undefined) return findRecordOwner(parent.definition, parent.record, reads);
      return placement.orOwner === undefined ? undefined : getText(record, placement.orOwner);
    }
  }
}

/** The parent of a record in the same database. */
export async function findParentRecord(
  { field, of }: Extract<Placement, { by: 'parent' }>,
  record: StoredRecord,
  { getDefinition, read }: OwnershipReads,
): Promise<
  { readonly definition: CollectionDefinition<StoredRecord>; readonly record: StoredRecord } | undefined
> {
  const id = getText(record, field);
  if (id === undefined) return undefined;
  for (const name of of) {
    const definition = getDefinition(name);
    const parent = definition && (await read(definition).get(id));
    if (definition && parent) return { definition, record: parent };
  }
  return undefined;
}

/** Ids that begin with that of an owner. */
export function parseOwnedId(id: string): { readonly owner: string; readonly rest: string } {
  const [owner = id, ...rest] = id.split(':');
  return { owner, rest: rest.join(':') };
}

function getText(record: StoredRecord, field: string): string | undefined {
  const value: unknown = record[field as keyof StoredRecord];
  return typeof value === 'string' ? value : undefined;
}
