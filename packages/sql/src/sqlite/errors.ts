import { StorageUnavailable } from '@questline/core';

/** The low byte of https://www.sqlite.org/rescode.html */
const BUSY = 5;
/** Locked, read-only, I/O error, disk full, cannot open: the file, not the question. */
const UNAVAILABLE = new Set([BUSY, 6, 8, 10, 13, 14]);
export function isBusy(error: unknown): boolean {
  return codeOf(error) % 256 === BUSY;
}

/** A `StorageUnavailable` when the engine could not do its work, otherwise the error as it is. */
export function toStorageError(error: unknown): unknown {
  if (!UNAVAILABLE.has(codeOf(error) % 256)) return error;
  return new StorageUnavailable('SQLite cannot do its work now', { cause: error });
}

function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode
    : 0;
}
