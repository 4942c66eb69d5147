import { findAny, type PersonalData, type PersonalRecord } from '../operations/personal-data.ts';
import type { CollectionShape } from '../ports/store.ts';
import { COLLECTIONS } from './collections.ts';
import { FEATURES } from './features.ts';
import type { Services } from './services.ts';

/** What the features know of the data of a user. */
export function getPersonalData(services: Services): readonly PersonalData[] {
  return FEATURES.flatMap(({ personal }) => (personal === undefined ? [] : [personal(services)]));
}

/** The field that names the user: a new collection with one of these columns is personal too. */
function getOwnerField({ columns }: CollectionShape): 'ownerId' | 'userId' | undefined {
  if ('ownerId' in columns) return 'ownerId';
  return 'userId' in columns ? 'userId' : undefined;
}

/** Lists all records that end with a user, and the parts of each before the record itself. */
export async function* findPersonalRecords(
  { store }: Pick<Services, 'store'>,
  personal: readonly PersonalData[],
  userId: string,
): AsyncGenerator<PersonalRecord> {
  const parts = personal.flatMap((one) => one.parts ?? []);
  const kept = personal.flatMap((one) => one.kept ?? []);
  for (const shape of COLLECTIONS) {
    const owner = getOwnerField(shape);
    if (owner === undefined || kept.includes(shape)) continue;
    for await (const record of findAny(store, shape, { [owner]: userId })) {
      for (const { whole, part, field } of parts) {
        if (whole !== shape) continue;
        for await (const one of findAny(store, part, { [field]: record.id })) {
          yield { shape: part, record: one };
        }
      }
      yield { shape, record };
    }
  }
  for (const { find } of personal) if (find !== undefined) yield* find(userId);
}

/** Lists the records that belong to a user, and do not end with its records. */
export async function* findKeptRecords(
  { store }: Pick<Services, 'store'>,
  personal: readonly PersonalData[],
  userId: string,
): AsyncGenerator<PersonalRecord> {
  for (const shape of personal.flatMap((one) => one.kept ?? [])) {
    const owner = getOwnerField(shape);
    if (owner === undefined) continue;
    for await (const record of findAny(store, shape, { [owner]: userId })) yield { shape, record };
  }
  for (const { findKept } of personal) if (findKept !== undefined) yield* findKept(userId);
}
