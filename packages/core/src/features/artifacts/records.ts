import { SHARING_COLUMNS, type ShareableRecord } from '../../access/access.ts';
import { defineCollection, type StoredRecord } from '../../ports/store.ts';
import type { WireArtifact, WireArtifactVersion } from './contract.ts';

/** A stored result of work: a diagram, a page, a piece of code. Its versions hold the content. */
export interface ArtifactRecord extends ShareableRecord {
  readonly type: WireArtifact['type'];
  readonly title: string;
  readonly description?: string | undefined;
  /** The newest version, from 1. */
  readonly version: number;
  readonly versionTag?: string | undefined;
  readonly status: WireArtifact['status'];
  readonly tags: readonly string[];
  readonly sessionId?: string;
  readonly projectId?: string;
  readonly visibility: WireArtifact['visibility'];
  /** The tool call that created it. */
  readonly madeBy?: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const ARTIFACTS = defineCollection<ArtifactRecord>({
  name: 'artifacts',
  columns: {
    ...SHARING_COLUMNS,
    version: 'integer',
    sessionId: 'text',
    projectId: 'text',
    visibility: 'text',
    madeBy: 'text',
    createdAt: 'integer',
  },
  unique: [['madeBy']],
  indexes: [['ownerId', 'createdAt'], ['sessionId'], ['projectId']],
});

/** The content of an artifact in one version. Access follows from the artifact, which must be checked first. */
export interface ArtifactVersionRecord extends StoredRecord {
  readonly artifactId: string;
  readonly version: number;
  readonly versionTag?: string | undefined;
  readonly changeDescription?: string | undefined;
  readonly content: string;
  /** Its storage usage in bytes. Absent: stored before usage was counted. */
  readonly bytes?: number;
  readonly createdAt: number;
}

export const ARTIFACT_VERSIONS = defineCollection<ArtifactVersionRecord>({
  name: 'artifact_versions',
  columns: { artifactId: 'text', version: 'integer' },
  unique: [['artifactId', 'version']],
  indexes: [],
});

/** @param content null in lists. */
export function toWireArtifact(artifact: ArtifactRecord, content: string | null): WireArtifact {
  return {
    id: artifact.id,
    owner_id: artifact.ownerId,
    type: artifact.type,
    title: artifact.title,
    description: artifact.description ?? null,
    version: artifact.version,
    version_tag: artifact.versionTag ?? null,
    status: artifact.status,
    tags: [...artifact.tags],
    session_id: artifact.sessionId ?? null,
    project_id: artifact.projectId ?? null,
    visibility: artifact.visibility,
    created_at: new Date(artifact.createdAt).toISOString(),
    updated_at: new Date(artifact.updatedAt).toISOString(),
    content,
  };
}

/** @param content null in lists. */
export function toWireVersion(version: ArtifactVersionRecord, content: string | null): WireArtifactVersion {
  return {
    version: version.version,
    version_tag: version.versionTag ?? null,
    change_description: version.changeDescription ?? null,
    created_at: new Date(version.createdAt).toISOString(),
    content,
  };
}
