import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { instrument, type Mutant } from './instrument.ts';
import { type Plan, type Progress, planEnvironment } from './plan.ts';

export interface Result {
  readonly mutants: readonly Mutant[];
  readonly killed: ReadonlySet<number>;
  /** Changes at places that no test comes by. */
  readonly unreached: ReadonlySet<number>;
  /** Changes that were not tried, because only modules that load come by them. */
  readonly untried: ReadonlySet<number>;
  /** Tests that fail when they are repeated, by name. */
  readonly unusable: ReadonlySet<string>;
}

/** Milliseconds of one try of a test without a change. */
const TIMEOUT_MS = 20_000;
/** Milliseconds without any progress, with a change and without one, before a process is ended. */
const STALLED_MS = { changed: 25_000, unchanged: 90_000 };

interface Line {
  readonly killed?: number;
  readonly reached?: readonly number[];
  readonly unusable?: string;
  readonly loaded?: readonly number[];
  /** The test files of a process that starts. */
  readonly begun?: readonly string[];
  /** Test files that the process has run. */
  readonly ended?: readonly string[];
}

export interface RunOptions {
  readonly root: string;
  readonly files: readonly string[];
  /** Patterns of test files. */
  readonly tests: readonly string[];
  /** Whether to leave out changes that need a process of their own: those of modules that load. */
  readonly isQuick: boolean;
  /** How many tests of one process try one change at most. Default: all that reach it. */
  readonly maxTries?: number | undefined;
  /** Chooses the changes that are tried. Default: all of them. */
  readonly isChosen?: (mutant: Mutant) => boolean;
  /** Milliseconds without any progress before a process is ended. Default: 25 s with a change, 90 s without one. */
  readonly stalledMs?: typeof STALLED_MS;
}

/** Tries every change of the files with the tests that come by it. */
export async function run({
  root,
  files,
  tests,
  isQuick,
  maxTries,
  isChosen,
  stalledMs = STALLED_MS,
}: RunOptions): Promise<Result> {
  const all = await listMutants(root, files);
  const mutants = isChosen === undefined ? all : all.filter(isChosen);
  const others = isChosen === undefined ? [] : all.filter((mutant) => !isChosen(mutant)).map(({ id }) => id);
  console.log(`${mutants.length} changes in ${files.length} files`);
  const folder = await mkdtemp(join(tmpdir(), 'questline-mutants-'));
  const resultsFile = join(folder, 'results.jsonl');
  const currentFile = join(folder, 'current.json');
  await writeFile(resultsFile, '');
  const killed = new Set<number>();
  const open = (done: ReadonlySet<number>, alone?: number): Plan => ({
    files,
    tests,
    done: [...others, ...done],
    resultsFile,
    currentFile,
    maxTries,
    timeoutMs: TIMEOUT_MS,
    ...(alone !== undefined && { alone }),
  });
  // A change that stops the process, e.g. by an endless loop, is found; the others go on in a new one.
  for (let isComplete = false; !isComplete; ) {
    const { size: before } = killed;
    await writeFile(currentFile, '{}');
    isComplete = (await execute(root, open(killed), stalledMs)) !== 'broken';
    for (const line of await readLines(resultsFile)) if (line.killed !== undefined) killed.add(line.killed);
    if (isComplete) break;
    const { after, id = after } = await readProgress(currentFile);
    // Already found, if what it began went on after its try and stopped the process.
    if (id !== undefined) killed.add(id);
    if (killed.size === before) throw new Error('the tests do not run');
  }
  const lines = await readLines(resultsFile);
  const ids = new Set(mutants.map(({ id }) => id));
  const pick = (list: readonly number[]): ReadonlySet<number> => new Set(list.filter((id) => ids.has(id)));
  const loaded = pick(lines.flatMap((line) => line.loaded ?? []));
  const tried = pick(lines.flatMap((line) => line.reached ?? []));
  const reached = new Set([...loaded, ...tried]);
  if (reached.size === 0 && isChosen === undefined)
    throw new Error('no test comes by the files, or they are not instrumented');
  const alone = isQuick ? [] : [...loaded].filter((id) => !killed.has(id));
  if (alone.length > 0) {
    console.log(`${alone.length} changes of modules that load or of set-up, each in a process of its own`);
    // Without a change the tests must pass.
    if ((await execute(root, open(killed, -1), stalledMs)) !== 'passed')
      throw new Error('the tests fail without a change');
  }
  for (const id of alone) {
    if ((await execute(root, open(killed, id), stalledMs)) !== 'passed') killed.add(id);
  }
  await rm(folder, { recursive: true });
  return {
    mutants,
    killed,
    unreached: new Set(mutants.map(({ id }) => id).filter((id) => !reached.has(id))),
    untried: new Set(isQuick ? [...loaded].filter((id) => !tried.has(id)) : []),
    unusable: new Set(lines.flatMap(({ unusable }) => unusable ?? [])),
  };
}

/** All changes of the files, with their ids. */
export async function listMutants(root: string, files: readonly string[]): Promise<readonly Mutant[]> {
  const mutants: Mutant[] = [];
  for (const file of files) {
    mutants.push(...instrument(file, await readFile(join(root, file), 'utf8'), mutants.length).mutants);
  }
  return mutants;
}

/** Runs the tests in a process. `broken`: it ended before all tests, or was ended because it made no progress. */
async function execute(
  root: string,
  plan: Plan,
  stalledMs: typeof STALLED_MS,
): Promise<'passed' | 'failed' | 'broken'> {
  const child = spawn('vitest', ['run', '--config', 'scripts/mutants/vitest.config.ts'], {
    cwd: root,
    env: { ...process.env, ...planEnvironment(plan) },
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  });
  const kill = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  // A process group of its own outlives this process.
  const leave = (): never => {
    kill();
    return process.exit(1);
  };
  const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of SIGNALS) process.once(signal, leave);
  let isStalled = false;
  let last = '';
  let since = Date.now();
  const watch = setInterval(async () => {
    const now = await readFile(plan.currentFile, 'utf8').catch(() => '');
    if (now !== last || (now === '{}' && plan.alone === undefined)) since = Date.now();
    last = now;
    const isChanged = now.startsWith('{"id"');
    if (Date.now() - since < (isChanged ? stalledMs.changed : stalledMs.unchanged)) return;
    isStalled = true;
    kill();
  }, 1_000);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearInterval(watch);
  for (const signal of SIGNALS) process.off(signal, leave);
  if (isStalled || !hasRunAll(await readLines(plan.resultsFile))) return 'broken';
  return code === 0 ? 'passed' : 'failed';
}

/** Whether the last process has run all its files: the exit code of vitest says nothing of a worker that was killed. */
function hasRunAll(lines: readonly Line[]): boolean {
  const start = lines.findLastIndex(({ begun }) => begun !== undefined);
  const ended = new Set(lines.slice(start + 1).flatMap((line) => line.ended ?? []));
  return lines[start]?.begun?.every((file) => ended.has(file)) === true;
}

async function readProgress(file: string): Promise<Progress> {
  return JSON.parse(await readFile(file, 'utf8')) as Progress;
}

async function readLines(file: string): Promise<readonly Line[]> {
  const text = await readFile(file, 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}
