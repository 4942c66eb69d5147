/**
 * Changes the source one place at a time, and shows the changes that no test notices:
 * `npm run mutants -- packages/core/src/features/completions [test files]`. `--quick` leaves out the changes of modules
 * that load, which need a process each. `--tries=25`: at most so many tests try one change. `--left=left.json`: writes the changes
 * that are left to this file, and tries only those of the run before. A change that does not compile is found, too: CI checks the
 * types.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findReason, readAccepted } from './mutants/accepted.ts';
import { areaTests } from './mutants/areas.ts';
import { readLeft, toKey, writeLeft } from './mutants/left.ts';
import { formatReport } from './mutants/report.ts';
import { listMutants, run } from './mutants/run.ts';
import { listSources } from './mutants/sources.ts';
import { createTypeCheck } from './mutants/types.ts';

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean' }, tries: { type: 'string' }, left: { type: 'string' } },
  allowPositionals: true,
});
const [folder, ...named] = positionals;
const maxTries = values.tries === undefined ? undefined : Number(values.tries);
if (folder === undefined || Number.isNaN(maxTries)) {
  console.error(
    'usage: npm run mutants -- [--quick] [--tries=N] [--left=FILE] <folders or files of packages/*/src, with commas> [patterns of test files]',
  );
  process.exit(2);
}
const root = join(import.meta.dirname, '..');
const files = (await Promise.all(folder.split(',').map((one) => listSources(root, one)))).flat();
const accepted = await readAccepted(root);
const tests = named.length > 0 ? named : areaTests(folder);
const former = values.left === undefined ? undefined : readLeft(values.left, root, files);
const tried = await run({
  ...{ root, files, tests, isQuick: values.quick === true, maxTries },
  ...(former && {
    isChosen: (mutant) => former.has(toKey(mutant)) && findReason(accepted, mutant) === undefined,
  }),
});
const compiles = createTypeCheck(root);
const byTypes = tried.mutants.filter((mutant) => !tried.killed.has(mutant.id) && !compiles(mutant));
console.log(`${byTypes.length} more changes do not compile`);
const found = { ...tried, killed: new Set([...tried.killed, ...byTypes.map(({ id }) => id)]) };
const result =
  values.left === undefined
    ? found
    : await writeLeft({ path: values.left, root, files }, former, await listMutants(root, files), found);
const { lines, left } = formatReport(result, accepted);
for (const line of lines) console.log(line);
process.exitCode = left === 0 ? 0 : 1;
