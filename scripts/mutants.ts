/**
 * Changes the source one place at a time, and shows the changes that no test notices:
 * `npm run mutants -- packages/core/src/features/completions [test files]`. `--quick` leaves out the changes of modules
 * that load, which need a process each. A change that does not compile is found, too: CI checks the types.
 */
import { join } from 'node:path';
import { readAccepted } from './mutants/accepted.ts';
import { areaTests } from './mutants/areas.ts';
import { formatReport } from './mutants/report.ts';
import { run } from './mutants/run.ts';
import { listSources } from './mutants/sources.ts';
import { createTypeCheck } from './mutants/types.ts';

const words = process.argv.slice(2);
const isQuick = words.includes('--quick');
const [folder, ...named] = words.filter((word) => word !== '--quick');
if (folder === undefined) {
  console.error(
    'usage: npm run mutants -- [--quick] <folder or file of packages/*/src> [patterns of test files]',
  );
  process.exit(2);
}
const root = join(import.meta.dirname, '..');
const files = await listSources(root, folder);
const tests = named.length > 0 ? named : areaTests(folder);
const result = await run({ root, files, tests, isQuick });
const compiles = createTypeCheck(root);
const byTypes = result.mutants.filter((mutant) => !result.killed.has(mutant.id) && !compiles(mutant));
console.log(`${byTypes.length} more changes do not compile`);
const killed = new Set([...result.killed, ...byTypes.map(({ id }) => id)]);
const { lines, left } = formatReport({ ...result, killed }, await readAccepted(root));
for (const line of lines) console.log(line);
process.exitCode = left === 0 ? 0 : 1;
