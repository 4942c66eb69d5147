import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Mistake } from '../mistake.ts';

/**
 * The folder, or the nearest one above it that exists, must be ours to write in. It changes nothing.
 * @throws Mistake naming STORAGE_DIR.
 */
export function checkFolder(folder: string): void {
  for (let place = folder; ; place = dirname(place)) {
    try {
      if (!statSync(place).isDirectory()) throw new Mistake([`STORAGE_DIR: ${place} is not a folder`]);
      accessSync(place, constants.W_OK | constants.X_OK);
      return;
    } catch (error) {
      if (error instanceof Mistake) throw error;
      const isMissing = codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
      if (!isMissing || place === dirname(place)) {
        throw new Mistake([`STORAGE_DIR: ${place} is not writable (${codeOf(error)})`]);
      }
    }
  }
}

/** Makes the folder and those above it that are missing, for the owner only. Node's own recursive way never returns where a file system has no room for folders, such as `/proc`. */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    const above = dirname(folder);
    if (codeOf(error) !== 'ENOENT' || statSync(above, { throwIfNoEntry: false }) !== undefined) throw error;
    makeFolder(above);
    mkdirSync(folder, { mode: 0o700 });
  }
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
}
