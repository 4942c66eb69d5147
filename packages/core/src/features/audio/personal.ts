import type { PersonalData } from '../../operations/personal-data.ts';
import type { ObjectStore } from '../../ports/objects.ts';
import type { Store } from '../../ports/store.ts';
import { quarantineKey } from '../files/uploads.ts';
import { TRANSCRIPTION_UPLOADS } from './transcriptions-records.ts';

export function personalUploads({
  store,
  objects,
}: {
  readonly store: Store;
  readonly objects: ObjectStore;
}): PersonalData {
  return {
    erase: [
      {
        shape: TRANSCRIPTION_UPLOADS,
        async erase({ id, objectKey }) {
          await store.collection(TRANSCRIPTION_UPLOADS).take(id);
          if (typeof objectKey === 'string') await objects.remove(objectKey);
          await objects.remove(quarantineKey(id));
        },
      },
    ],
  };
}
