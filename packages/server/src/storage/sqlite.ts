import { join } from 'node:path';
import { createSqliteDatabase } from '@questline/sql';
import { Mistake } from '../mistake.ts';
import type { OpenDatabase } from './database.ts';
import { makeFolder } from './folder.ts';

/** The file that a folder's data stands in. A demo's stands apart. */
export function sqlitePath(folder: string, demo: boolean): string {
  return join(folder, demo ? 'demo.db' : 'questline.db');
}

/** @throws Mistake when the file cannot be made, or is no database. */
export function openSqlite(folder: string, demo: boolean): OpenDatabase {
  const path = sqlitePath(folder, demo);
  try {
    makeFolder(folder);
    const database = createSqliteDatabase({ path });
    return { database, place: path, close: () => database.close() };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Mistake([`STORAGE_DIR: ${path} cannot be opened (${reason})`]);
  }
}
