import { canRead, canWrite } from '../../access/access.ts';
import { type LinkReader, toIdSet } from '../../access/links.ts';
import { USERS } from '../../identity/records.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { forbidden } from '../../shared/errors.ts';
import { ORGANIZATIONS, type OrganizationRecord } from '../organizations/records.ts';
import { PROJECTS } from '../projects/records.ts';
import { ARTIFACTS, type ArtifactRecord } from './records.ts';

export interface ArtifactReaderServices {
  readonly store: Store;
}

/** The owner, and users with a write share, may change and delete it. */
export function canEditArtifact(userId: string): Filter<ArtifactRecord> {
  return canWrite(userId);
}

/**
 * Returns the artifact when the user may see it: the owner, users it is shared with, all users when it is public; and,
 * if its visibility includes them, readers of its project and members of its owner's organization.
 */
export async function readableArtifact(
  services: ArtifactReaderServices,
  userId: string,
  id: string,
): Promise<ArtifactRecord | undefined> {
  const [found] = await findReadableArtifacts(services, userId, [id]);
  return found;
}

/** Returns those of up to 1000 artifacts that the user may see, with at most five store calls. */
async function findReadableArtifacts(
  { store }: ArtifactReaderServices,
  userId: string,
  ids: readonly string[],
): Promise<readonly ArtifactRecord[]> {
  const artifacts = store.collection(ARTIFACTS);
  const own = await artifacts.find({
    id: { in: ids },
    anyOf: [canRead(userId), { visibility: 'public' }],
  });
  if (own.length === ids.length) return own;
  const known = toIdSet(own);
  const open = await artifacts.find({
    id: { in: ids.filter((id) => !known.has(id)) },
    visibility: { in: ['project', 'organization'] },
  });
  const ofProjects = open.filter(({ visibility }) => visibility === 'project');
  const ofOrganizations = open.filter(({ visibility }) => visibility === 'organization');
  return [
    ...own,
    ...(await visibleByProject(store, userId, ofProjects)),
    ...(await visibleByOrganization(store, userId, ofOrganizations)),
  ];
}

async function visibleByProject(
  store: Store,
  userId: string,
  artifacts: readonly ArtifactRecord[],
): Promise<readonly ArtifactRecord[]> {
  const projectIds = [...new Set(artifacts.flatMap(({ projectId }) => projectId ?? []))];
  if (projectIds.length === 0) return [];
  const readable = toIdSet(
    await store.collection(PROJECTS).find({ id: { in: projectIds }, ...canRead(userId) }),
  );
  return artifacts.filter(({ projectId }) => projectId !== undefined && readable.has(projectId));
}

/** Returns those whose owner belongs to an organization of the user. */
async function visibleByOrganization(
  store: Store,
  userId: string,
  artifacts: readonly ArtifactRecord[],
): Promise<readonly ArtifactRecord[]> {
  if (artifacts.length === 0) return [];
  const ownerIds = [...new Set(artifacts.map(({ ownerId }) => ownerId))];
  const owners = await store.collection(USERS).find({ id: { in: ownerIds } });
  const organizationIds = [...new Set(owners.flatMap(({ organizationId }) => organizationId ?? []))];
  if (organizationIds.length === 0) return [];
  const shared = await store
    .collection(ORGANIZATIONS)
    .find({ id: { in: organizationIds }, ...canRead(userId) });
  const byId = new Map(shared.map((organization) => [organization.id, organization]));
  const visible = new Set(
    owners.flatMap(({ id, organizationId }) => {
      const organization = byId.get(organizationId ?? '');
      return organization !== undefined && isMember(organization, id) ? [id] : [];
    }),
  );
  return artifacts.filter(({ ownerId }) => visible.has(ownerId));
}

function isMember({ ownerId, readerIds, writerIds }: OrganizationRecord, userId: string): boolean {
  return ownerId === userId || readerIds?.includes(userId) === true || writerIds?.includes(userId) === true;
}

/** Returns the artifacts that a user may put into a session; delegates every other reference. */
export function withArtifactLinks(services: ArtifactReaderServices, others: LinkReader): LinkReader {
  return {
    findReadable: async (kind, ids, userId) =>
      kind === 'artifact'
        ? toIdSet(await findReadableArtifacts(services, userId, ids))
        : others.findReadable(kind, ids, userId),
    findExisting: async (kind, ids) =>
      kind === 'artifact'
        ? toIdSet(await services.store.collection(ARTIFACTS).find({ id: { in: ids } }))
        : others.findExisting(kind, ids),
  };
}

/** @throws ApiError 403 while the administrator has switched artifacts off. */
export async function requireArtifacts(adminSettings: AdminSettingsReader): Promise<void> {
  if (!(await adminSettings.current()).EnableArtifacts) throw forbidden('Artifacts are switched off');
}
