import { conflict, notFound } from '../errors.ts';
import { isId } from '../http/identifiers.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
import { PROJECTS } from '../projects/records.ts';
import { canEditSession } from '../sessions/access.ts';
import { SESSIONS } from '../sessions/records.ts';
import type { Switches } from '../settings/admin.ts';
import { canEditArtifact, requireArtifacts } from './access.ts';
import { ARTIFACT_VERSIONS, ARTIFACTS, type ArtifactRecord, type ArtifactVersionRecord } from './records.ts';

const UNLINKED_AT_ONCE = 200;

export interface ArtifactMakerServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly switches: Switches;
}

/** What is told of an artifact that is to be. */
export interface NewArtifact extends Pick<ArtifactRecord, 'type' | 'title'> {
  readonly content: string;
  readonly description?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** One that the owner may write in; it lists the artifact. */
  readonly sessionId?: string | undefined;
  /** One of the owner's. */
  readonly projectId?: string | undefined;
  /** The call of a tool that makes it; of one call there is one artifact. */
  readonly madeBy?: string | undefined;
}

/**
 * Keeps something somebody made, or a model for them, as version 1 of an artifact of theirs.
 * @throws ApiError 403 while artifacts are switched off; 404 for a session or project the owner cannot use.
 */
export async function makeArtifact(
  { store, clock, ids, switches }: ArtifactMakerServices,
  ownerId: string,
  wish: NewArtifact,
): Promise<ArtifactRecord> {
  await requireArtifacts(switches);
  const { type, title, content, description, tags = [], sessionId, projectId, madeBy } = wish;
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
  await store.transaction(async (inner) => {
    if (projectId !== undefined) await requireProject(inner, ownerId, projectId);
    if (sessionId !== undefined) await listInSession(inner, ownerId, sessionId, artifact.id);
    if (!(await inner.collection(ARTIFACTS).insert(artifact))) throw conflict('It is being made already');
    await inner.collection(ARTIFACT_VERSIONS).insert(first);
  });
  return artifact;
}

/** What may be changed of an artifact. */
export interface ArtifactChange {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly content?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

/** @returns the artifact as it is now, with its content; undefined for one that the user may not write. */
export function changeArtifact(
  { store, clock, ids }: Pick<ArtifactMakerServices, 'store' | 'clock' | 'ids'>,
  userId: string,
  id: string,
  { content, ...change }: ArtifactChange,
): Promise<{ artifact: ArtifactRecord; content: string } | undefined> {
  const now = clock.now();
  const mayEdit = canEditArtifact(userId);
  // Of changes at the same time each finds the version of the one before: no number is given twice.
  return store.transaction(async (inner) => {
    const artifacts = inner.collection(ARTIFACTS);
    const before = await artifacts.get(id, mayEdit);
    if (before === undefined) return undefined;
    const current = await contentOf(inner, before);
    const isNew = content !== undefined && content !== current;
    const version = before.version + (isNew ? 1 : 0);
    const artifact = await artifacts.update(id, { ...change, version, updatedAt: now }, mayEdit);
    if (artifact === undefined) return undefined;
    if (!isNew) return { artifact, content: current };
    await inner.collection(ARTIFACT_VERSIONS).insert(newVersion(ids, artifact, content, now));
    return { artifact, content };
  });
}

/** @returns false for one that the user may not write. */
export function removeArtifact(store: Store, userId: string, id: string): Promise<boolean> {
  return store.transaction(async (inner) => {
    const artifact = await inner.collection(ARTIFACTS).take(id, canEditArtifact(userId));
    if (artifact === undefined) return false;
    const versions = inner.collection(ARTIFACT_VERSIONS);
    for (let after: number | undefined = 0; after !== undefined; ) {
      const page: readonly ArtifactVersionRecord[] = await versions.find(
        { artifactId: id, version: { gt: after } },
        { order: { field: 'version', direction: 'asc' } },
      );
      for (const one of page) await versions.take(one.id);
      after = page.at(-1)?.version;
    }
    if (artifact.sessionId !== undefined) await unlistInSession(inner, artifact.sessionId, id);
    return true;
  });
}

/** What it holds now. @throws ApiError 404 when it was deleted in this moment. */
export async function contentOf(store: Store, { id, version }: ArtifactRecord): Promise<string> {
  const found = await versionOf(store, id, version);
  if (found === undefined) throw notFound('Artifact');
  return found.content;
}

export async function versionOf(
  store: Store,
  artifactId: string,
  version: number,
): Promise<ArtifactVersionRecord | undefined> {
  const [found] = await store.collection(ARTIFACT_VERSIONS).find({ artifactId, version }, { limit: 1 });
  return found;
}

/** What an artifact was made for is gone; the artifact stays. May be repeated. */
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

function newVersion(
  ids: Ids,
  { id, version }: ArtifactRecord,
  content: string,
  now: number,
): ArtifactVersionRecord {
  return { id: ids.next(), artifactId: id, version, content, createdAt: now };
}

async function requireProject(store: Store, ownerId: string, id: string): Promise<void> {
  const project = isId(id) ? await store.collection(PROJECTS).get(id, { ownerId }) : undefined;
  if (project === undefined) throw notFound('Project');
}

async function listInSession(store: Store, userId: string, id: string, artifactId: string): Promise<void> {
  const sessions = store.collection(SESSIONS);
  const session = isId(id) ? await sessions.get(id, canEditSession(userId)) : undefined;
  if (session === undefined) throw notFound('Session');
  const artifactIds = [...(session.artifactIds ?? []), artifactId];
  await sessions.update(id, { artifactIds }, canEditSession(userId));
}

async function unlistInSession(store: Store, id: string, artifactId: string): Promise<void> {
  const sessions = store.collection(SESSIONS);
  const session = await sessions.get(id);
  if (session?.artifactIds?.includes(artifactId) !== true) return;
  await sessions.update(id, { artifactIds: session.artifactIds.filter((one) => one !== artifactId) });
}
