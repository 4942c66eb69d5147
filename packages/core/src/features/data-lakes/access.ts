import { canRead } from '../../access/access.ts';
import { type LinkReader, toIdSet } from '../../access/links.ts';
import type { Caller } from '../../contract/call.ts';
import { isId } from '../../contract/identifiers.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { DeletionHook } from '../../operations/deletion.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { ApiError, forbidden, notFound } from '../../shared/errors.ts';
import type { AdministrationCheck, MembershipCheck } from '../organizations/membership.ts';
import { ORGANIZATIONS } from '../organizations/records.ts';
import { LAKES, type LakeRecord } from './records.ts';

const BATCH = 200;

export interface LakeReaderServices {
  readonly store: Store;
  readonly isMember: MembershipCheck;
}

/** Users who may read and search a lake: the owner, users with a share, members of its organization; all users, if it is public. */
export async function readableLakes(store: Store, userId: string): Promise<Filter<LakeRecord>> {
  const organizations = await store.collection(ORGANIZATIONS).find(canRead(userId));
  const ofOrganizations =
    organizations.length === 0 ? [] : [{ organizationId: { in: organizations.map(({ id }) => id) } }];
  return { anyOf: [canRead(userId), { isPublic: true }, ...ofOrganizations] };
}

/** Finds a lake by id or slug, when the user may see it. A lake in deletion is visible, but not usable. */
export async function readableLake(
  { store, isMember }: LakeReaderServices,
  userId: string,
  idOrSlug: string,
): Promise<LakeRecord | undefined> {
  const lake = await findLake(store, idOrSlug);
  if (lake === undefined) return undefined;
  if (lake.isPublic) return lake;
  const own = await store.collection(LAKES).get(lake.id, canRead(userId));
  if (own !== undefined) return own;
  const { organizationId } = lake;
  return organizationId !== undefined && (await isMember(userId, organizationId)) ? lake : undefined;
}

/**
 * Returns the lake when the user may change it: the owner, and administrators of its organization.
 * @throws ApiError 404
 */
export async function writableLake(
  { store, administers }: { readonly store: Store; readonly administers: AdministrationCheck },
  userId: string,
  idOrSlug: string,
): Promise<LakeRecord> {
  const lake = await findLake(store, idOrSlug);
  if (lake === undefined || lake.status === 'deleting') throw notFound('Data lake');
  if (lake.ownerId === userId) return lake;
  const { organizationId } = lake;
  if (organizationId === undefined || !(await administers(userId, organizationId)))
    throw notFound('Data lake');
  return lake;
}

async function findLake(store: Store, idOrSlug: string): Promise<LakeRecord | undefined> {
  const lakes = store.collection(LAKES);
  const byId = isId(idOrSlug) ? await lakes.get(idOrSlug) : undefined;
  return byId ?? (await lakes.find({ slug: idOrSlug }, { limit: 1 }))[0];
}

/** Returns the lakes that a user may attach to a session; delegates every other reference. */
export function withLakeLinks(services: LakeReaderServices, others: LinkReader): LinkReader {
  return {
    async findReadable(kind, ids, userId) {
      if (kind !== 'data lake') return others.findReadable(kind, ids, userId);
      // A session refers to a lake by its id.
      const lakes = await Promise.all(ids.slice(0, 1).map((id) => readableLake(services, userId, id)));
      return toIdSet(lakes.filter(isUsable));
    },
    async findExisting(kind, ids) {
      if (kind !== 'data lake') return others.findExisting(kind, ids);
      const found = await services.store.collection(LAKES).find({ id: { in: ids } });
      return toIdSet(found.filter(isUsable));
    },
  };
}

export function isUsable(lake: LakeRecord | undefined): lake is LakeRecord {
  return lake !== undefined && lake.status !== 'deleting';
}

/** Lakes of a deleted organization stay with their owners. */
export const leaveOrganization: DeletionHook = async ({ store }, organizationId) => {
  const lakes = store.collection(LAKES);
  for (;;) {
    const batch = await lakes.find({ organizationId }, { limit: BATCH });
    for (const { id } of batch) await lakes.update(id, { organizationId: undefined }, { organizationId });
    if (batch.length < BATCH) return;
  }
};

/** @throws ApiError 403 while the administrator has switched data lakes off. */
export async function requireDataLakes(adminSettings: AdminSettingsReader): Promise<void> {
  if (!(await adminSettings.current()).EnableDataLakes) throw forbidden('Data lakes are switched off');
}

/** @throws ApiError 403 for a key without the scope to publish. */
export function requireSharing(caller: Caller): void {
  if (caller.scopes?.includes('datalake:share') === false) {
    throw new ApiError(403, 'Making a data lake public requires the scope datalake:share');
  }
}
