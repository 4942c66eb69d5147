import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelOverride } from '@questline/core';
import { CliError } from './cli-error.ts';
import { getCode, makeFolder } from './storage/folder.ts';

/** What `questline models import` keeps in the storage folder, and a start reads. */
const FILE = 'models.json';

export type ImportedModels = Readonly<Record<string, ModelOverride>>;

export interface ImportedFile {
  /** ISO time. */
  readonly importedAt: string;
  /** The format of the list. */
  readonly source: string;
  readonly models: ImportedModels;
}

export function importedPath(folder: string): string {
  return join(folder, FILE);
}

/**
 * What was imported last; nothing when nothing was.
 * @throws CliError when the file cannot be read or is damaged.
 */
export async function readImportedModels(folder: string): Promise<ImportedModels> {
  const path = importedPath(folder);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (getCode(error) === 'ENOENT' || getCode(error) === 'ENOTDIR') return {};
    throw new CliError([`STORAGE_DIR: ${path} cannot be read (${getCode(error)})`]);
  }
  const { readStoredModels } = await import('@questline/providers/lists');
  try {
    return readStoredModels(text);
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    throw new CliError([
      `STORAGE_DIR: ${path} is damaged (${fault}); import the list again or delete the file`,
    ]);
  }
}

/** Whole or not at all. @throws CliError when the folder cannot be written. */
export function writeImportedModels(folder: string, imported: ImportedFile): void {
  const path = importedPath(folder);
  try {
    makeFolder(folder);
    writeFileSync(`${path}.new`, `${JSON.stringify(imported, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch (error) {
    throw new CliError([`STORAGE_DIR: ${path} cannot be written (${getCode(error)})`]);
  }
}
