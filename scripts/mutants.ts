/**
 * Changes the source one place at a time, and shows the changes that no test notices:
 * `npm run mutants -- packages/core/src/features/completions [test files]`. `--quick` leaves out the changes of modules
 * that load, which need a process each.
 */
import { join } from 'node:path';
import { readAccepted } from './mutants/accepted.ts';
import { areaTests } from './mutants/areas.ts';
import { formatReport } from './mutants/report.ts';
import { run } from './mutants/run.ts';
import { listSources } from './mutants/sources.ts';

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
const { lines, left } = formatReport(result, await readAccepted(root));
for (const line of lines) console.log(line);
process.exitCode = left === 0 ? 0 : 1;
