import { createHash } from 'node:crypto';
import fs, { type FileHandle, mkdtemp, readdir, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, vi } from 'vitest';

/** What closes the files, and what happens after a look at one. */
export const closing = {
  close: (close: () => Promise<void>) => close(),
  afterStat: async (_path: string): Promise<void> => undefined,
};

const actual = { ...fs };

async function watchedOpen(...given: Parameters<typeof fs.open>): Promise<FileHandle> {
  const file = await actual.open(...given);
  const close = file.close.bind(file);
  return Object.assign(file, { close: () => closing.close(close) });
}

async function watchedStat(path: string) {
  const found = await actual.stat(path);
  await closing.afterStat(path);
  return found;
}

export const TYPE = { contentType: 'text/plain' };
export const BODY = Buffer.from('0123456789');

/** The folder of the objects, empty before each test. */
export let folder = '';

/** Watches the files of each test of the file that calls it. */
export function watchFiles(): void {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'questline-objects-'));
    Object.assign(fs, { open: watchedOpen, stat: watchedStat });
    syncBuiltinESMExports();
  });

  afterEach(async () => {
    Object.assign(fs, actual);
    syncBuiltinESMExports();
    vi.restoreAllMocks();
    vi.useRealTimers();
    await rm(folder, { recursive: true, force: true });
  });
}

export function getHash(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}

export function toPath(key: string): string {
  return join(folder, getHash(key).slice(0, 2), key.replaceAll('/', '.'));
}

export async function listFiles(): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

export async function readAll(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts).toString();
}
