/**
 * Tries a random sample of the changes of all packages: `npm run mutants:sample -- 400 7`, with seed 7. `--part=1/2`: the first half
 * of it. `--each`: so many changes of each area. `--only=packages/core/src/features`: those of a folder. Each change is tried with the
 * tests of its area, then with the other tests, a folder at a time; `--near`: only with those of its area, whose score is the least
 * that all tests have, and `--tries=25`: at most so many tests try one change. A change that does not compile is found. Not in the sample
 * are the published suites, the models of the demo, and the self-hosted server and its console, whose tests start processes.
 * `--since=HEAD~1`: only changes on lines that differ from that commit. `--least=80`: fails if less than 80 % are found.
 */
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findReason, readAccepted } from './mutants/accepted.ts';
import { getArea, listAreaTests } from './mutants/areas.ts';
import { listChangedLines } from './mutants/changed-lines.ts';
import type { Mutant } from './mutants/instrument.ts';
import { toKey } from './mutants/left.ts';
import { listMutants, type Result, run } from './mutants/run.ts';
import { drawSample } from './mutants/sample.ts';
import { listSources } from './mutants/sources.ts';
import { createTypeCheck } from './mutants/types.ts';

const { values, positionals } = parseArgs({
  options: {
    part: { type: 'string', default: '1/1' },
    only: { type: 'string', default: 'packages/' },
    tries: { type: 'string' },
    each: { type: 'boolean', default: false },
    near: { type: 'boolean', default: false },
    since: { type: 'string' },
    least: { type: 'string', default: '0' },
  },
  allowPositionals: true,
});
const [count, seed] = positionals.map(Number);
const [part = 1, parts = 1] = values.part.split('/').map(Number);
const maxTries = values.tries === undefined ? undefined : Number(values.tries);
const least = Number(values.least);
if (!count || seed === undefined || !(part <= parts) || Number.isNaN(maxTries) || Number.isNaN(least)) {
  console.error(
    'usage: npm run mutants:sample -- <number of changes> <seed> [--part=1/2] [--each] [--only=FOLDER] [--near] [--tries=N] [--since=COMMIT] [--least=PERCENT]',
  );
  process.exit(2);
}
const LEFT_OUT = /^packages\/(?:testing|demo-media|server|console)\//;
const root = join(import.meta.dirname, '..');
const accepted = await readAccepted(root);
const changed =
  values.since === undefined
    ? undefined
    : await listChangedLines(root, values.since).catch((error: Error) => {
        console.error(`--since: ${error.message}`);
        process.exit(2);
      });
const sources = (await listSources(root, 'packages')).filter(
  (file) =>
    file.includes('/src/') &&
    !LEFT_OUT.test(file) &&
    file.startsWith(values.only) &&
    (changed === undefined || changed.has(file)),
);
const all = (await listMutants(root, sources)).filter(
  (mutant) =>
    findReason(accepted, mutant) === undefined &&
    (changed === undefined || changed.get(mutant.file)?.has(mutant.line) === true),
);
const sample = values.each
  ? [...groupByArea(all).values()].flatMap((mutants) => drawSample(mutants, count, seed))
  : drawSample(all, count, seed);

/** The changes that no test has found yet. */
const left = new Map<string, Mutant>();
/** Those that tests come by, and those that modules come by when they load, which need a process each. */
const reached = new Set<string>();
const loading = new Set<string>();

const areas = [...groupByArea(sample)].filter((_, at) => at % parts === part - 1);
const total = areas.flatMap(([, mutants]) => mutants).length;
console.log(`${total} of ${all.length} changes, in ${areas.length} areas`);
for (const [area, mutants] of areas) {
  for (const mutant of mutants) left.set(toKey(mutant), mutant);
  await tryWith(area, listAreaTests(area), mutants);
}
console.log(`${total - left.size} of ${total} found by the tests of their areas`);
const compiles = createTypeCheck(root);
for (const [key, mutant] of left) if (!compiles(mutant)) left.delete(key);
console.log(`${total - left.size} of ${total} found by these or by the types`);
for (const tests of values.near ? [] : await listOtherTests()) {
  if (left.size > 0) await tryWith(tests, [tests], [...left.values()]);
}
const isLoading = (key: string): boolean => loading.has(key) && !reached.has(key);
for (const [key, { file, line, kind, before, after }] of left) {
  console.log(`${file}:${line}  ${kind}  ${before} -> ${after}${isLoading(key) ? '  (at load)' : ''}`);
}
for (const [area, mutants] of values.each ? areas : []) {
  const keys = mutants.map(toKey);
  const missed = keys.filter((key) => left.has(key));
  console.log(
    `${area}: ${keys.length - missed.length} of ${keys.length - missed.filter(isLoading).length} found`,
  );
}
const tried = total - [...left.keys()].filter(isLoading).length;
const found = total - left.size;
const percent = (100 * found) / Math.max(tried, 1);
console.log(`${found} of ${tried} found: ${percent.toFixed(0)} %; ${total - tried} at load`);
if (tried > 0 && percent < least) process.exitCode = 1;

async function tryWith(name: string, tests: readonly string[], mutants: readonly Mutant[]): Promise<void> {
  const keys = new Set(mutants.map(toKey));
  const files = [...new Set(mutants.map(({ file }) => file))].sort();
  const started = performance.now();
  const isChosen = (mutant: Mutant): boolean => keys.has(toKey(mutant));
  const result = await run({ root, files, tests, isQuick: true, maxTries, isChosen });
  const before = left.size;
  for (const mutant of result.mutants) note(mutant, result);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`${name}: ${before - left.size} of ${mutants.length} found, ${seconds} s`);
}

function note(mutant: Mutant, { killed, untried, unreached }: Result): void {
  const key = toKey(mutant);
  if (killed.has(mutant.id)) left.delete(key);
  if (untried.has(mutant.id)) loading.add(key);
  else if (!unreached.has(mutant.id)) reached.add(key);
}

function groupByArea(mutants: readonly Mutant[]): ReadonlyMap<string, readonly Mutant[]> {
  const groups = new Map<string, Mutant[]>();
  for (const mutant of mutants) {
    const area = getArea(mutant.file);
    groups.set(area, [...(groups.get(area) ?? []), mutant]);
  }
  return groups;
}

/** The tests outside of the packages' sources, a folder at a time: a change that ends a process repeats one of them only. */
async function listOtherTests(): Promise<readonly string[]> {
  const patterns = new Set(['test/*.test.ts']);
  for (const pattern of ['test/*/**/*.test.ts', 'packages/*/test/**/*.test.ts']) {
    for await (const file of glob(pattern, { cwd: root })) {
      const folder = file.split('/').slice(0, file.startsWith('test/') ? 2 : 3);
      patterns.add(`${folder.join('/')}/**/*.test.ts`);
    }
  }
  return [...patterns].sort();
}
