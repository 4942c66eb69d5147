import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Lines of files, by the path of the file in the repository. */
export type Lines = ReadonlyMap<string, ReadonlySet<number>>;

/**
 * Asks git for the lines of `packages` that were added or changed since a commit. What is not committed counts, but new files that git does
 * not have yet.
 * @throws Error for an unknown commit, and without git.
 */
export async function listChangedLines(root: string, commit: string): Promise<Lines> {
  const options = ['--no-color', '--no-ext-diff', '--unified=0', '--diff-filter=d'];
  const args = ['diff', ...options, '--end-of-options', commit, '--', 'packages'];
  const { stdout } = await run('git', args, { cwd: root, maxBuffer: 1e9 }).catch((error: unknown) => {
    throw new Error(`git cannot compare with "${commit}"`, { cause: error });
  });
  return readDiff(stdout);
}

/** Reads the lines that a diff without context adds. */
export function readDiff(diff: string): Lines {
  const lines = new Map<string, Set<number>>();
  let file = '';
  for (const line of diff.split('\n')) {
    file = /^\+\+\+ b\/(.+)$/.exec(line)?.[1] ?? file;
    const [, from, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (from === undefined) continue;
    const added = Array.from({ length: Number(count) }, (_, at) => Number(from) + at);
    lines.set(file, new Set([...(lines.get(file) ?? []), ...added]));
  }
  return lines;
}
