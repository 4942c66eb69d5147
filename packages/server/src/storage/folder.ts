import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from '../cli-error.ts';

/**
 * Checks that the folder, or its nearest existing parent, is writable. Changes nothing.
 * @throws CliError that names STORAGE_DIR.
 */
export function checkFolder(folder: string): void {
  for (let place = folder; ; place = dirname(place)) {
    try {
      if (!statSync(place).isDirectory()) throw new CliError([`STORAGE_DIR: ${place} is not a folder`]);
      accessSync(place, constants.W_OK | constants.X_OK);
      return;
    } catch (error) {
      if (error instanceof CliError) throw error;
      const isMissing = getCode(error) === 'ENOENT' || getCode(error) === 'ENOTDIR';
      if (!isMissing || place === dirname(place)) {
        throw new CliError([`STORAGE_DIR: ${place} is not writable (${getCode(error)})`]);
      }
    }
  }
}

/** Creates the folder and its parents, readable by the owner only. The recursive mode of Node never returns on file systems that allow no folders, such as `/proc`. */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (getCode(error) === 'EEXIST') return;
    const above = dirname(folder);
    if (getCode(error) !== 'ENOENT' || statSync(above, { throwIfNoEntry: false }) !== undefined) throw error;
    makeFolder(above);
    mkdirSync(folder, { mode: 0o700 });
  }
}

export function getCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
}
