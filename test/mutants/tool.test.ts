import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatReport } from '../../scripts/mutants/report.ts';
import { listMutants, run } from '../../scripts/mutants/run.ts';
import { createTypeCheck } from '../../scripts/mutants/types.ts';

const root = join(import.meta.dirname, '../..');

test('a quick run finds a change that hangs and one that ends its process, and does not count changes of modules that load', async () => {
  const file = 'test/mutants/example.ts';
  const result = await run({ root, files: [file], tests: ['test/mutants/example.test.ts'], isQuick: true });
  expect(formatReport(result, []).lines).toEqual([
    `${file}:7  bound  value < LIMIT -> value <= LIMIT`,
    `${file}:13  bound  value > 0 -> value >= 0`,
    `${file}:19  statement  without process.kill(process.pid, 'SIGKILL');  (no test comes by)`,
    `${file}:23  boolean  true -> false  (no test comes by)`,
    `${file}:29  property  without text: String(value)  (no test comes by)`,
    ` 38 %  8 changes, 3 found, 0 accepted, 5 left  ${file}`,
    ' 38 %  8 changes, 3 found, 0 accepted, 5 left  in all',
    '1 changes of modules that load were not tried',
  ]);
});

test('the check of types refuses only changes that do not compile', async () => {
  const compiles = createTypeCheck(root);
  const mutants = await listMutants(root, ['test/mutants/example.ts']);
  const wrong = mutants.filter((mutant) => !compiles(mutant));
  expect(mutants.length).toBeGreaterThan(wrong.length);
  expect(wrong.map(({ line, kind }) => [line, kind])).toEqual([[29, 'property']]);
});
