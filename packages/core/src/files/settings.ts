import { DEFAULT_REFUSED_TYPES } from './types.ts';

/** What files may be, and how much of them. `MaxFileSize`, of one file, is the administrator's. */
export interface FileSettings {
  /** Bytes that all files of one user may take up. Default 10 GiB. */
  readonly storageQuota: number;
  /** Types that nobody may upload, such as `application/zip` or `video/*`. Default: what runs when somebody opens it. */
  readonly refusedTypes: readonly string[];
}

const STORAGE_QUOTA = 10 * 2 ** 30;

export function fileSettingsOf(settings: Partial<FileSettings> = {}): FileSettings {
  return { storageQuota: STORAGE_QUOTA, refusedTypes: DEFAULT_REFUSED_TYPES, ...settings };
}
