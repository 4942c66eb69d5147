import type { DeletionCleanup } from '../../operations/deletion.ts';
import type { PersonalData } from '../../operations/personal-data.ts';
import type { ObjectStore } from '../../ports/objects.ts';
import type { Store } from '../../ports/store.ts';
import { FILE_USAGE, FILES, type FileRecord } from './records.ts';
import { quarantineKey } from './uploads.ts';

export function personalFiles({
  store,
  objects,
  deletion,
}: {
  readonly store: Store;
  readonly objects: ObjectStore;
  readonly deletion: DeletionCleanup;
}): PersonalData {
  return {
    erase: [
      {
        shape: FILES,
        async erase({ id }) {
          const files = store.collection(FILES);
          // The bytes first: after a failure the record is found again.
          const known = await files.get(id);
          await removeBytes(objects, known);
          await objects.remove(quarantineKey(id));
          const file = await files.take(id);
          // A scan that has ended meanwhile stored the bytes under another key.
          if (file?.objectKey !== known?.objectKey) await removeBytes(objects, file);
          await deletion.file(id);
        },
      },
    ],
    eraseTraces: async (userId) => void (await store.collection(FILE_USAGE).take(userId)),
  };
}

async function removeBytes(objects: ObjectStore, file: FileRecord | undefined): Promise<void> {
  if (file?.objectKey !== undefined) await objects.remove(file.objectKey);
}
