import type { DeletionCleanup } from '../../operations/deletion.ts';
import { findAll, type PersonalData } from '../../operations/personal-data.ts';
import type { VectorIndex } from '../../ports/vectors.ts';
import { LAKE_FILES, LAKES } from './records.ts';
import { type RemoveFileServices, removeFile } from './remove-file.ts';

export function personalLakes(
  services: RemoveFileServices & { readonly vectors: VectorIndex; readonly deletion: DeletionCleanup },
): PersonalData {
  const { store, vectors, deletion } = services;
  return {
    parts: [{ whole: LAKES, part: LAKE_FILES, field: 'lakeId' }],
    erase: [
      {
        shape: LAKES,
        async erase({ id }) {
          await vectors.remove({ lakeId: id });
          await store.collection(LAKES).take(id);
          await deletion.dataLake(id);
        },
      },
    ],
    // Files that the user added to data lakes of others. No column names the user.
    async eraseTraces(userId) {
      for await (const file of findAll(store, LAKE_FILES, {})) {
        if (file.addedBy !== userId && file.countedTo !== userId) continue;
        await removeFile(services, file);
        await vectors.remove({ lakeId: file.lakeId, fileId: file.id });
      }
    },
  };
}
