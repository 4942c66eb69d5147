import { hashSecret } from '../identity/secrets.ts';
import { defineCollection } from '../ports/store.ts';
import { SHARING_COLUMNS, type ShareableRecord } from '../sharing/access.ts';
import type { WireProject } from './contract.ts';

/** Sessions and files that belong together. */
export interface ProjectRecord extends ShareableRecord {
  readonly name: string;
  /** Stands for the name in the rule that an owner has no two of it: names are too long for an index. */
  readonly nameKey: string;
  readonly description: string;
  readonly sessionIds: readonly string[];
  readonly fileIds: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const PROJECTS = defineCollection<ProjectRecord>({
  name: 'projects',
  columns: {
    ...SHARING_COLUMNS,
    nameKey: 'text',
    sessionIds: 'list',
    fileIds: 'list',
    createdAt: 'integer',
  },
  unique: [['ownerId', 'nameKey']],
  indexes: [['ownerId', 'createdAt'], ['sessionIds'], ['fileIds']],
});

export function nameKeyOf(name: string): string {
  return hashSecret(name);
}

export function toWireProject(project: ProjectRecord): WireProject {
  return {
    id: project.id,
    name: project.name,
    description: project.description,
    session_ids: [...project.sessionIds],
    file_ids: [...project.fileIds],
    created_at: new Date(project.createdAt).toISOString(),
    updated_at: new Date(project.updatedAt).toISOString(),
  };
}
