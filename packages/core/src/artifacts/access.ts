import { forbidden } from '../errors.ts';
import { USERS } from '../identity/records.ts';
import type { MembershipCheck } from '../organizations/membership.ts';
import type { Filter, Store } from '../ports/store.ts';
import { PROJECTS } from '../projects/records.ts';
import type { LinkReader } from '../sessions/links.ts';
import type { Switches } from '../settings/admin.ts';
import { canRead, canWrite } from '../sharing/access.ts';
import { ARTIFACTS, type ArtifactRecord } from './records.ts';

export interface ArtifactReaderServices {
  readonly store: Store;
  readonly isMember: MembershipCheck;
}

/** May change and delete it: the owner, and those it is shared with to write. */
export function canEditArtifact(userId: string): Filter<ArtifactRecord> {
  return canWrite(userId);
}

/**
 * The artifact, when the user may see it: the owner, those it is shared with, everybody when it is public; who reads its
 * project, and who belongs to its owner's organization, when it is visible to those.
 */
export async function readableArtifact(
  { store, isMember }: ArtifactReaderServices,
  userId: string,
  id: string,
): Promise<ArtifactRecord | undefined> {
  const artifacts = store.collection(ARTIFACTS);
  const own = await artifacts.get(id, { anyOf: [canRead(userId), { visibility: 'public' }] });
  if (own !== undefined) return own;
  const open = await artifacts.get(id, { visibility: { in: ['project', 'organization'] } });
  if (open === undefined) return undefined;
  if (open.visibility === 'project') {
    const { projectId } = open;
    if (projectId === undefined) return undefined;
    const project = await store.collection(PROJECTS).get(projectId, canRead(userId));
    return project && open;
  }
  const owner = await store.collection(USERS).get(open.ownerId);
  const organizationId = owner?.organizationId ?? null;
  if (organizationId === null) return undefined;
  const members = await Promise.all([
    isMember(open.ownerId, organizationId),
    isMember(userId, organizationId),
  ]);
  return members.every((isOne) => isOne) ? open : undefined;
}

/** Knows which artifacts a user may put into a session; asks on about everything else. */
export function withArtifactLinks(services: ArtifactReaderServices, others: LinkReader): LinkReader {
  return {
    isReadable: async (kind, id, userId) =>
      kind === 'artifact'
        ? (await readableArtifact(services, userId, id)) !== undefined
        : others.isReadable(kind, id, userId),
  };
}

/** @throws ApiError 403 while the administrator has switched artifacts off. */
export async function requireArtifacts(switches: Switches): Promise<void> {
  if (!(await switches.current()).EnableArtifacts) throw forbidden('Artifacts are switched off');
}
