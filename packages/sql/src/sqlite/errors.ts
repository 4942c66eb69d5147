import { StorageUnavailable } from '@questline/core/ports';

/** The low byte of https://www.sqlite.org/rescode.html */
const BUSY = 5;
/** Locked, read-only, I/O error, disk full, cannot open: errors of the file, not of the statement. */
const UNAVAILABLE = new Set([BUSY, 6, 8, 10, 13, 14]);
export function isBusy(error: unknown): boolean {
  return getCode(error) % 256 === BUSY;
}

/** Converts errors of an unavailable engine to `StorageUnavailable`; returns other errors unchanged. */
export function toStorageError(error: unknown): unknown {
  if (!UNAVAILABLE.has(getCode(error) % 256)) return error;
  return new StorageUnavailable('SQLite cannot do its work now', { cause: error });
}

function getCode(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode
    : 0;
}
