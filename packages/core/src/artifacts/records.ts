import { defineCollection, type StoredRecord } from '../ports/store.ts';
import { SHARING_COLUMNS, type ShareableRecord } from '../sharing/access.ts';
import type { WireArtifact, WireArtifactVersion } from './contract.ts';

/** Something that was made and is kept: a diagram, a page, a piece of code. What it holds stands in its versions. */
export interface ArtifactRecord extends ShareableRecord {
  readonly type: WireArtifact['type'];
  readonly title: string;
  readonly description?: string | undefined;
  /** The newest one, from 1. */
  readonly version: number;
  readonly versionTag?: string;
  readonly status: WireArtifact['status'];
  readonly tags: readonly string[];
  readonly sessionId?: string;
  readonly projectId?: string;
  readonly visibility: WireArtifact['visibility'];
  /** The call of a tool that made it. */
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

/** What an artifact held at one time. Readable and writable with the artifact, which is asked first. */
export interface ArtifactVersionRecord extends StoredRecord {
  readonly artifactId: string;
  readonly version: number;
  readonly versionTag?: string;
  readonly changeDescription?: string;
  readonly content: string;
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
