import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mutant } from './instrument.ts';
import type { Result } from './run.ts';

/** The changes that the runs before have not found. */
export type Left = ReadonlyMap<string, 'left' | 'at load'>;

/** What names a change, as long as its place does not move. A line may have the same change at several places. */
export function toKey({ file, line, start, kind, before, after }: Mutant): string {
  return JSON.stringify([file, line, start, kind, before, after]);
}

interface Stored {
  /** Hashes of the source files. */
  readonly sources: Readonly<Record<string, string>>;
  readonly left: readonly [string, 'left' | 'at load'][];
}

/**
 * @returns undefined before the first run.
 * @throws Error if the run before was about other files or other texts of them: places would have moved, and their changes counted as found.
 */
export function readLeft(path: string, root: string, files: readonly string[]): Left | undefined {
  if (!existsSync(path)) return undefined;
  const stored = JSON.parse(readFileSync(path, 'utf8')) as Stored;
  const sources = hashAll(root, files);
  const changed = [...new Set([...files, ...Object.keys(stored.sources)])].filter(
    (file) => stored.sources[file] !== sources[file],
  );
  if (changed.length > 0)
    throw new Error(`${path} is about other sources (${changed.join(', ')}): delete it`);
  return new Map(stored.left);
}

function hashAll(root: string, files: readonly string[]): Record<string, string> {
  const hash = (file: string): string =>
    createHash('sha256')
      .update(readFileSync(join(root, file)))
      .digest('hex')
      .slice(0, 16);
  return Object.fromEntries(files.map((file) => [file, hash(file)]));
}

/** Stores what is left after a run. @returns the result of all runs, about all changes. */
export async function writeLeft(
  { path, root, files }: { readonly path: string; readonly root: string; readonly files: readonly string[] },
  former: Left | undefined,
  all: readonly Mutant[],
  result: Result,
): Promise<Result> {
  const left = new Map(former);
  for (const mutant of result.mutants) {
    const key = toKey(mutant);
    if (result.killed.has(mutant.id)) left.delete(key);
    else left.set(key, result.untried.has(mutant.id) ? 'at load' : 'left');
  }
  const stored: Stored = { sources: hashAll(root, files), left: [...left] };
  await writeFile(path, JSON.stringify(stored, undefined, 1));
  const pick = (state: 'left' | 'at load' | undefined) =>
    new Set(all.filter((mutant) => left.get(toKey(mutant)) === state).map(({ id }) => id));
  return { ...result, mutants: all, killed: pick(undefined), untried: pick('at load') };
}
