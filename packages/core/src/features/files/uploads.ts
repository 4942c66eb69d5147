import { isId } from '../../contract/identifiers.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { JobQueue, NewJob } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { ApiError } from '../../shared/errors.ts';
import type { UploadWatch } from './objects-uploads.ts';
import { FILES, type FileRecord } from './records.ts';
import type { FileSettings } from './settings.ts';
import { getEssence } from './types.ts';

/** The quarantine: unmoderated uploads, which are never served. */
const QUARANTINE = 'uploads';

export const SCAN = 'files.scan';

export function quarantineKey(fileId: string): string {
  return `${QUARANTINE}/${fileId}`;
}

export function scanJob({ id, ownerId: owner }: Pick<FileRecord, 'id' | 'ownerId'>): NewJob {
  return { kind: SCAN, key: `scan:${id}`, owner, payload: { fileId: id } };
}

/** Observes uploads through the api. */
export function watchUploads(services: { readonly store: Store; readonly queue: JobQueue }): UploadWatch {
  const files = services.store.collection(FILES);
  const getId = (key: string): string => key.slice(QUARANTINE.length + 1);
  return {
    prefix: QUARANTINE,
    async isOpen(key) {
      const id = getId(key);
      return isId(id) && (await files.get(id, { status: 'pending' })) !== undefined;
    },
    async arrived(key) {
      const id = getId(key);
      // From here on the address rejects uploads.
      const file = await files.update(id, { status: 'scanning' }, { status: 'pending' });
      if (file !== undefined) await services.queue.enqueue(scanJob(file));
    },
  };
}

/** @throws ApiError 400 for a type or size that is not accepted. @returns the normalized type. */
export async function checkAnnounced(
  services: { readonly adminSettings: AdminSettingsReader; readonly fileSettings: FileSettings },
  mimeType: string,
  size: number,
): Promise<string> {
  const essence = getEssence(mimeType);
  const { refusedTypes } = services.fileSettings;
  const isRefused = (refused: string) =>
    refused.endsWith('/*') ? essence?.startsWith(refused.slice(0, -1)) : refused === essence;
  if (essence === undefined || refusedTypes.some(isRefused)) {
    throw new ApiError(400, 'mime_type: files of this type are not accepted');
  }
  const { MaxFileSize } = await services.adminSettings.current();
  if (size > MaxFileSize) throw new ApiError(400, `file_size: files may have at most ${MaxFileSize} bytes`);
  return essence;
}
