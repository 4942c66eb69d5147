import type { PersonalData } from '../../operations/personal-data.ts';
import type { ObjectStore } from '../../ports/objects.ts';
import type { Store } from '../../ports/store.ts';
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
          // The recording first: after a failure the record is found again.
          await objects.remove(String(objectKey));
          await store.collection(TRANSCRIPTION_UPLOADS).take(id);
        },
      },
    ],
  };
}
