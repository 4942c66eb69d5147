import { SHARING_COLUMNS, type ShareableRecord } from '../../access/access.ts';
import { defineCollection } from '../../ports/store.ts';
import { hashSecret } from '../../shared/secrets.ts';
import type { WireProject } from './contract.ts';

/** A group of sessions and files. */
export interface ProjectRecord extends ShareableRecord {
  readonly name: string;
  /** A hash of the name, for the rule that names are unique per owner: names are too long for an index. */
  readonly nameKey: string;
  readonly description: string;
  readonly sessionIds: readonly string[];
  readonly fileIds: readonly string[];
  /** The users who added sessions and files, by id. Absent: the owner. */
  readonly linkedBy?: Readonly<Record<string, string>> | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const PROJECTS = defineCollection<ProjectRecord>({
  name: 'projects',
  columns: {
    ...SHARING_COLUMNS,
    name: 'text',
    nameKey: 'text',
    sessionIds: 'list',
    fileIds: 'list',
    createdAt: 'integer',
  },
  unique: [['ownerId', 'nameKey']],
  indexes: [['ownerId', 'createdAt'], ['sessionIds'], ['fileIds']],
});

export function toNameKey(name: string): string {
  return hashSecret(name);
}

export function toWireProject(project: ProjectRecord): WireProject {
  return {
    id: project.id,
    owner_id: project.ownerId,
    name: project.name,
    description: project.description,
    session_ids: [...project.sessionIds],
    file_ids: [...project.fileIds],
    created_at: new Date(project.createdAt).toISOString(),
    updated_at: new Date(project.updatedAt).toISOString(),
  };
}
