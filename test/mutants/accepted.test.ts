import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findReason, readAccepted } from '../../scripts/mutants/accepted.ts';
import { listMutants } from '../../scripts/mutants/run.ts';

const root = join(import.meta.dirname, '../..');

test('each accepted change is one of the present source', async () => {
  const accepted = await readAccepted(root);
  const mutants = await listMutants(root, [...new Set(accepted.map(({ file }) => file))]);
  const stale = accepted.filter((one) => !mutants.some((mutant) => findReason([one], mutant) !== undefined));
  expect(stale.map(({ file, before, after }) => `${file}: ${before} -> ${after}`)).toEqual([]);
});
