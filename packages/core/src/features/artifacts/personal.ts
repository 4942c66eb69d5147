import type { DeletionCleanup } from '../../operations/deletion.ts';
import type { PersonalData } from '../../operations/personal-data.ts';
import { ARTIFACT_VERSIONS, ARTIFACTS } from './records.ts';

export function personalArtifacts({ deletion }: { readonly deletion: DeletionCleanup }): PersonalData {
  return {
    parts: [{ whole: ARTIFACTS, part: ARTIFACT_VERSIONS, field: 'artifactId' }],
    erased: async (shape, id) => (shape === ARTIFACTS ? deletion.artifact(id) : undefined),
  };
}
