import type { DeletionCleanup } from '../../operations/deletion.ts';
import type { PersonalData } from '../../operations/personal-data.ts';
import type { ObjectStore } from '../../ports/objects.ts';
import type { Store } from '../../ports/store.ts';
import { FILE_USAGE, FILES } from './records.ts';
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
          const file = await store.collection(FILES).take(id);
          if (file?.objectKey !== undefined) await objects.remove(file.objectKey);
          await objects.remove(quarantineKey(id));
          await deletion.file(id);
        },
      },
    ],
    eraseTraces: async (userId) => void (await store.collection(FILE_USAGE).take(userId)),
  };
}
