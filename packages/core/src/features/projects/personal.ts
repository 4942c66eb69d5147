import type { DeletionCleanup } from '../../operations/deletion.ts';
import type { PersonalData } from '../../operations/personal-data.ts';
import { PROJECTS } from './records.ts';

export function personalProjects({ deletion }: { readonly deletion: DeletionCleanup }): PersonalData {
  return { erased: async (shape, id) => (shape === PROJECTS ? deletion.project(id) : undefined) };
}
