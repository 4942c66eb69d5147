import { isId } from '../../contract/identifiers.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import { removeAll } from '../../ports/remove-where.ts';
import type { Store } from '../../ports/store.ts';
import { conflict, forbidden, invalid, isApiError, notFound } from '../../shared/errors.ts';
import { PROJECTS } from '../projects/records.ts';
import { canEditSession, ownsSession } from '../sessions/access.ts';
import { addedBy, unlink } from '../sessions/links.ts';
import { MAX_SESSION_LINKS, SESSIONS } from '../sessions/records.ts';
import {
  giveStorageBack,
  measureRecord,
  type StorageAmount,
  type StorageQuotas,
  takeStorage,
} from '../storage/usage.ts';
import { canEditArtifact, requireArtifacts } from './access.ts';
import { ARTIFACT_VERSIONS, ARTIFACTS, type ArtifactRecord, type ArtifactVersionRecord } from './records.ts';

const UNLINKED_AT_ONCE = 200;

export interface ArtifactMakerServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly adminSettings: AdminSettingsReader;
  readonly storageQuotas: StorageQuotas;
}

/** The input for a new artifact. */
export interface NewArtifact extends Pick<ArtifactRecord, 'type' | 'title'> {
  readonly content: string;
  readonly description?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** A session that the owner may write to; it lists the artifact. */
  readonly sessionId?: string | undefined;
  /** A project of the owner. */
  readonly projectId?: string | undefined;
  /** The tool call that creates it; one call creates one artifact. */
  readonly madeBy?: string | undefined;
}

/**
 * Stores content of a user, or of a model on the user's behalf, as version 1 of a new artifact.
 * @throws ApiError 422 beyond the quota of artifacts, or of the artifacts of the session; 403 while artifacts are switched off; 404 for a session or project that the owner may not use.
 */
export async function makeArtifact(
  { store, clock, ids, adminSettings, storageQuotas }: ArtifactMakerServices,
  ownerId: string,
  input: NewArtifact,
): Promise<ArtifactRecord> {
  await requireArtifacts(adminSettings);
  const { type, title, content, description, tags = [], sessionId, projectId, madeBy } = input;
  const now = clock.now();
  const artifact: ArtifactRecord = {
    id: ids.next(),
    ownerId,
    type,
    title,
    version: 1,
    status: 'draft',
    tags,
    visibility: 'private',
    createdAt: now,
    updatedAt: now,
    ...(description !== undefined && { description }),
    ...(sessionId !== undefined && { sessionId }),
    ...(projectId !== undefined && { projectId }),
    ...(madeBy !== undefined && { madeBy }),
  };
  const first = newVersion(ids, artifact, content, now);
  const insert = (listed: string | undefined): Promise<void> =>
    store.transaction(async (inner) => {
      if (projectId !== undefined) await requireProject(inner, ownerId, projectId);
      if (listed !== undefined) await listInSession(inner, ownerId, listed, artifact.id);
      await takeStorage(inner, toAmount(artifact, first), storageQuotas);
      if (!(await inner.collection(ARTIFACTS).insert(artifact)))
        throw conflict('The artifact is being created');
      await inner.collection(ARTIFACT_VERSIONS).insert(first);
    });
  if (sessionId === undefined || (await ownsNamedSession(store, ownerId, sessionId))) {
    await insert(sessionId);
    return artifact;
  }
  // The session of another user may be in another database. Links to artifacts that do not exist are not shown.
  await store.transaction((inner) => listInSession(inner, ownerId, sessionId, artifact.id));
  try {
    await insert(undefined);
  } catch (error) {
    if (isApiError(error)) await unlink(store, 'artifactIds', artifact.id);
    throw error;
  }
  return artifact;
}

/** The changeable fields of an artifact. */
export interface ArtifactChange {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly content?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly status?: ArtifactRecord['status'] | undefined;
  readonly visibility?: ArtifactRecord['visibility'] | undefined;
  /** Null removes it. */
  readonly versionTag?: string | null | undefined;
  /** Of the new version. */
  readonly changeDescription?: string | undefined;
}

/** @returns the updated artifact with its content; undefined when the user may not write it. */
export function changeArtifact(
  {
    store,
    clock,
    ids,
    storageQuotas,
  }: Pick<ArtifactMakerServices, 'store' | 'clock' | 'ids' | 'storageQuotas'>,
  userId: string,
  id: string,
  { content, versionTag, changeDescription, ...change }: ArtifactChange,
): Promise<{ artifact: ArtifactRecord; content: string } | undefined> {
  const now = clock.now();
  const mayEdit = canEditArtifact(userId);
  // Concurrent changes each see the version of the previous one: no version number is used twice.
  return store.transaction(async (inner) => {
    const artifacts = inner.collection(ARTIFACTS);
    const before = await artifacts.get(id, mayEdit);
    if (before === undefined) return undefined;
    checkVisibility(before, userId, change.visibility);
    const current = await readContent(inner, before);
    const isNew = content !== undefined && content !== current;
    const version = before.version + (isNew ? 1 : 0);
    // A tag names one version: the next one begins without.
    const tag = versionTag === undefined && !isNew ? before.versionTag : (versionTag ?? undefined);
    const patch = { ...change, version, versionTag: tag, updatedAt: now };
    const artifact = await artifacts.update(id, patch, mayEdit);
    if (artifact === undefined) return undefined;
    if (!isNew) {
      if (tag !== before.versionTag) await tagVersion(inner, id, version, tag);
      return { artifact, content: current };
    }
    const next = {
      ...newVersion(ids, artifact, content, now),
      ...(tag !== undefined && { versionTag: tag }),
      ...(changeDescription !== undefined && { changeDescription }),
    };
    await takeStorage(inner, toAmount(artifact, next), storageQuotas);
    await inner.collection(ARTIFACT_VERSIONS).insert(next);
    return { artifact, content };
  });
}

/** @returns false when the user may not write it. */
export function removeArtifact(store: Store, userId: string, id: string): Promise<boolean> {
  return store.transaction(async (inner) => {
    const artifact = await inner.collection(ARTIFACTS).take(id, canEditArtifact(userId));
    if (artifact === undefined) return false;
    const versions = inner.collection(ARTIFACT_VERSIONS);
    let bytes = 0;
    for (let after: number | undefined = 0; after !== undefined; ) {
      const page: readonly ArtifactVersionRecord[] = await versions.find(
        { artifactId: id, version: { gt: after } },
        { order: { field: 'version', direction: 'asc' } },
      );
      for (const one of page) bytes += one.bytes ?? 0;
      after = page.at(-1)?.version;
    }
    await removeAll(versions, { artifactId: id });
    await giveStorageBack(inner, { ownerId: artifact.ownerId, kind: 'artifacts', bytes });
    return true;
  });
}

/** Reads the current content. @throws ApiError 404 when the artifact was deleted concurrently. */
export async function readContent(store: Store, { id, version }: ArtifactRecord): Promise<string> {
  const found = await getVersion(store, id, version);
  if (found === undefined) throw notFound('Artifact');
  return found.content;
}

export async function getVersion(
  store: Store,
  artifactId: string,
  version: number,
): Promise<ArtifactVersionRecord | undefined> {
  const [found] = await store.collection(ARTIFACT_VERSIONS).find({ artifactId, version }, { limit: 1 });
  return found;
}

/** Detaches the artifacts of a deleted session or project; they remain. Safe to repeat. */
export async function unlinkArtifacts(
  store: Store,
  field: 'sessionId' | 'projectId',
  value: string,
): Promise<void> {
  const artifacts = store.collection(ARTIFACTS);
  for (;;) {
    const batch = await artifacts.find({ [field]: value }, { limit: UNLINKED_AT_ONCE });
    for (const { id } of batch) await artifacts.update(id, { [field]: undefined }, { [field]: value });
    if (batch.length < UNLINKED_AT_ONCE) return;
  }
}

/** @throws ApiError 403 for a user with a write share; 422 for the visibility of a project without one. */
function checkVisibility(
  { ownerId, visibility, projectId }: ArtifactRecord,
  userId: string,
  wanted: ArtifactRecord['visibility'] = visibility,
): void {
  if (wanted === visibility) return;
  if (ownerId !== userId) throw forbidden('Only the owner may change the visibility of an artifact');
  if (wanted === 'project' && projectId === undefined) {
    throw invalid('visibility', 'the artifact belongs to no project');
  }
}

async function tagVersion(store: Store, artifactId: string, version: number, versionTag: string | undefined) {
  const found = await getVersion(store, artifactId, version);
  if (found !== undefined) await store.collection(ARTIFACT_VERSIONS).update(found.id, { versionTag });
}

function newVersion(
  ids: Ids,
  { id, version }: ArtifactRecord,
  content: string,
  now: number,
): ArtifactVersionRecord {
  const bytes = measureRecord(content);
  return { id: ids.next(), artifactId: id, version, content, bytes, createdAt: now };
}

function toAmount({ ownerId }: ArtifactRecord, { bytes = 0 }: ArtifactVersionRecord): StorageAmount {
  return { ownerId, kind: 'artifacts', bytes };
}

async function requireProject(store: Store, ownerId: string, id: string): Promise<void> {
  const project = isId(id) ? await store.collection(PROJECTS).get(id, { ownerId }) : undefined;
  if (project === undefined) throw notFound('Project');
}

async function ownsNamedSession(store: Store, userId: string, id: string): Promise<boolean> {
  return isId(id) && (await store.collection(SESSIONS).get(id, ownsSession(userId))) !== undefined;
}

async function listInSession(store: Store, userId: string, id: string, artifactId: string): Promise<void> {
  const sessions = store.collection(SESSIONS);
  const session = isId(id) ? await sessions.get(id, canEditSession(userId)) : undefined;
  if (session === undefined) throw notFound('Session');
  const { artifactIds = [] } = session;
  if (artifactIds.length >= MAX_SESSION_LINKS) {
    throw invalid('session_id', `the session has the maximum of ${MAX_SESSION_LINKS} artifacts`);
  }
  const change = {
    artifactIds: [...artifactIds, artifactId],
    ...addedBy(session, userId, artifactId),
  };
  await sessions.update(id, change, canEditSession(userId));
}
