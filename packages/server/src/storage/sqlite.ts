import { join } from 'node:path';
import { createSqliteDatabase } from '@questline/sql';
import { CliError } from '../cli-error.ts';
import type { OpenDatabase } from './database.ts';
import { makeFolder } from './folder.ts';

/** The SQLite file of a folder. The demo has its own file. */
export function sqlitePath(folder: string, demo: boolean): string {
  return join(folder, demo ? 'demo.db' : 'questline.db');
}

/** @throws CliError when the file cannot be created or is not a database. */
export function openSqlite(folder: string, demo: boolean): OpenDatabase {
  const path = sqlitePath(folder, demo);
  try {
    makeFolder(folder);
    const database = createSqliteDatabase({ path });
    return { database, place: path, close: () => database.close() };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError([`STORAGE_DIR: ${path} cannot be opened (${reason})`]);
  }
}
