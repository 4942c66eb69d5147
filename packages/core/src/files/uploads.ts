import { ApiError } from '../errors.ts';
import { isId } from '../http/identifiers.ts';
import type { UploadWatch } from '../objects/uploads.ts';
import type { JobQueue, NewJob } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import type { Switches } from '../settings/admin.ts';
import { FILES } from './records.ts';
import type { FileSettings } from './settings.ts';
import { essenceOf } from './types.ts';

/** Where bytes arrive that nobody has checked yet. Nothing there is ever served. */
const QUARANTINE = 'uploads';

export const SCAN = 'files.scan';

export function quarantineKey(fileId: string): string {
  return `${QUARANTINE}/${fileId}`;
}

export function scanJob(fileId: string): NewJob {
  return { kind: SCAN, key: `scan:${fileId}`, payload: { fileId } };
}

/** Hears of uploads that come in through the api. */
export function watchUploads(services: { readonly store: Store; readonly queue: JobQueue }): UploadWatch {
  const files = services.store.collection(FILES);
  const idOf = (key: string): string => key.slice(QUARANTINE.length + 1);
  return {
    prefix: QUARANTINE,
    async isOpen(key) {
      const id = idOf(key);
      return isId(id) && (await files.get(id, { status: 'pending' })) !== undefined;
    },
    async arrived(key) {
      const id = idOf(key);
      // From here on the address is used up.
      const file = await files.update(id, { status: 'scanning' }, { status: 'pending' });
      if (file !== undefined) await services.queue.enqueue(scanJob(id));
    },
  };
}

/** @throws ApiError 400 for a type or size that is not accepted. @returns the type as it is kept. */
export async function checkAnnounced(
  services: { readonly switches: Switches; readonly fileSettings: FileSettings },
  mimeType: string,
  size: number,
): Promise<string> {
  const essence = essenceOf(mimeType);
  const { refusedTypes } = services.fileSettings;
  const isRefused = (refused: string) =>
    refused.endsWith('/*') ? essence?.startsWith(refused.slice(0, -1)) : refused === essence;
  if (essence === undefined || refusedTypes.some(isRefused)) {
    throw new ApiError(400, 'mime_type: files of this type are not accepted');
  }
  const { MaxFileSize } = await services.switches.current();
  if (size > MaxFileSize) throw new ApiError(400, `file_size: files may have at most ${MaxFileSize} bytes`);
  return essence;
}
