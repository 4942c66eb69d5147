import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { Mutant } from './instrument.ts';
import type { Result } from './run.ts';

/** The changes that the runs before have not found. */
export type Left = ReadonlyMap<string, 'left' | 'at load'>;

/** What names a change, as long as its place does not move. A line may have the same change at several places. */
export function toKey({ file, line, start, kind, before, after }: Mutant): string {
  return JSON.stringify([file, line, start, kind, before, after]);
}

/** @returns undefined before the first run. */
export async function readLeft(path: string): Promise<Left | undefined> {
  if (!existsSync(path)) return undefined;
  return new Map(JSON.parse(await readFile(path, 'utf8')) as [string, 'left' | 'at load'][]);
}

/** Stores what is left after a run. @returns the result of all runs, about all changes. */
export async function writeLeft(
  path: string,
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
  await writeFile(path, JSON.stringify([...left], undefined, 1));
  const pick = (state: 'left' | 'at load' | undefined) =>
    new Set(all.filter((mutant) => left.get(toKey(mutant)) === state).map(({ id }) => id));
  return { ...result, mutants: all, killed: pick(undefined), untried: pick('at load') };
}
