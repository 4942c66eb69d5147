import { type ChildProcess, fork } from 'node:child_process';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');

export const NODE_OPTIONS = ['--conditions=@questline/source', '--disable-warning=ExperimentalWarning'];

/** Returns the built file of a script, or the source outside of a test run. */
export function findBuilt(source: string): string {
  const folder = process.env.QUESTLINE_TEST_CHILDREN;
  return folder === undefined ? source : join(folder, relative(ROOT, source)).replace(/\.ts$/, '.mjs');
}

/** Starts a script of the tests as a process with a channel. */
export function forkScript(source: string, args: readonly string[] = []): ChildProcess {
  return fork(findBuilt(source), args, { execArgv: NODE_OPTIONS });
}
