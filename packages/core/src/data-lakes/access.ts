import type { Caller } from '../call.ts';
import { ApiError, forbidden, notFound } from '../errors.ts';
import { isId } from '../http/identifiers.ts';
import type { AdministrationCheck, MembershipCheck } from '../organizations/membership.ts';
import { ORGANIZATIONS } from '../organizations/records.ts';
import type { Filter, Store } from '../ports/store.ts';
import type { LinkReader } from '../sessions/links.ts';
import type { Switches } from '../settings/admin.ts';
import { canRead } from '../sharing/access.ts';
import { LAKES, type LakeRecord } from './records.ts';

export interface LakeReaderServices {
  readonly store: Store;
  readonly isMember: MembershipCheck;
}

/** May see and search them: the owner, those they are shared with, members of their organization; everybody, the public ones. */
export async function readableLakes(store: Store, userId: string): Promise<Filter<LakeRecord>> {
  const organizations = await store.collection(ORGANIZATIONS).find(canRead(userId));
  const ofOrganizations =
    organizations.length === 0 ? [] : [{ organizationId: { in: organizations.map(({ id }) => id) } }];
  return { anyOf: [canRead(userId), { isPublic: true }, ...ofOrganizations] };
}

/** The lake of an id or a slug, when the user may see it. One that is being deleted is seen, but of no use. */
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
 * The lake, when the user may change it: the owner, and administrators of its organization.
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

/** Knows which lakes a user may tie to a session; asks on about everything else. */
export function withLakeLinks(services: LakeReaderServices, others: LinkReader): LinkReader {
  return {
    isReadable: async (kind, id, userId) =>
      kind === 'data lake'
        ? isUsable(await readableLake(services, userId, id))
        : others.isReadable(kind, id, userId),
  };
}

export function isUsable(lake: LakeRecord | undefined): lake is LakeRecord {
  return lake !== undefined && lake.status !== 'deleting';
}

/** @throws ApiError 403 while the administrator has switched data lakes off. */
export async function requireDataLakes(switches: Switches): Promise<void> {
  if (!(await switches.current()).EnableDataLakes) throw forbidden('Data lakes are switched off');
}

/** @throws ApiError 403 for a key that may not show things to everybody. */
export function requireSharing(caller: Caller): void {
  if (caller.kind === 'key' && !caller.scopes.includes('datalake:share')) {
    throw new ApiError(403, 'Making a data lake public requires the scope datalake:share');
  }
}
