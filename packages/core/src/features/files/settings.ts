import { DEFAULT_REFUSED_TYPES } from './types.ts';

/** Settings for files: types and quota. `MaxFileSize`, of one file, is an administrator's setting. */
export interface FileSettings {
  /** Storage quota per user, bytes. Default 10 GiB. */
  readonly storageQuota: number;
  /** Types that uploads must not have, such as `application/zip` or `video/*`. Default: types that execute when opened. */
  readonly refusedTypes: readonly string[];
}

const STORAGE_QUOTA = 10 * 2 ** 30;

export function getFileSettings(settings: Partial<FileSettings> = {}): FileSettings {
  return { storageQuota: STORAGE_QUOTA, refusedTypes: DEFAULT_REFUSED_TYPES, ...settings };
}
