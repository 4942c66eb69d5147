import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Settings } from '@questline/core';
import type { ObjectStore } from '@questline/core/ports';
import type { Configuration } from '../environment/configuration.ts';
import { makeFolder } from './folder.ts';

const NAME = 'charge-archive';
const compress = promisify(gzip);

/**
 * Stores archived charges as gzipped lines of JSON, by month of the first call: in the bucket if one is configured, otherwise
 * in files of the storage folder. @returns no setting without QUESTLINE_CHARGE_ARCHIVE_DAYS.
 */
export function openChargeArchive(
  { chargeArchiveDays: days, s3, storageDir }: Pick<Configuration, 'chargeArchiveDays' | 's3' | 'storageDir'>,
  demo: boolean,
  openObjects: () => Promise<ObjectStore>,
): Pick<Settings, 'chargeArchive'> {
  if (days === undefined) return {};
  const put = async (month: string, id: string, bytes: Uint8Array): Promise<void> => {
    if (s3 === undefined) {
      await writeFile(join(storageDir, demo ? `demo-${NAME}` : NAME, month), `${id}.ndjson.gz`, bytes);
      return;
    }
    const objects = await openObjects();
    await objects.put(`${NAME}/${month}/${id}`, bytes, {
      contentType: 'application/gzip',
      size: bytes.length,
    });
  };
  return {
    chargeArchive: {
      days,
      archive: async (lines, { id, from }) =>
        put(new Date(from).toISOString().slice(0, 7), id, await compress(lines)),
    },
  };
}

/** The file is complete or absent, also after a power failure. */
async function writeFile(folder: string, name: string, bytes: Uint8Array): Promise<void> {
  makeFolder(folder);
  const draft = join(folder, `${name}.${randomBytes(8).toString('hex')}`);
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, join(folder, name));
    // Flushes the entry of the folder, too. Not every system can open a folder.
    const entry = await open(folder, 'r').catch(() => undefined);
    await entry?.sync().catch(() => undefined);
    await entry?.close();
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
