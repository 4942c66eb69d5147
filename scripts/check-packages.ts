/** Checks the built packages as installed by a user: packed, by module system, with their types. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eachPackage, run } from './packages.ts';

await eachPackage(async ({ name, folder }) => {
  await run('publint', ['--strict', '.'], folder);
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  // A package without a CommonJS build is loaded through require(esm), which every supported Node has.
  const allowed = exports['.'].require === undefined ? ['--ignore-rules', 'cjs-resolves-to-esm'] : [];
  await run('attw', ['--pack', '.', '--profile', 'strict', ...allowed, '--quiet'], folder);
  // Packages test here what these tools do not check.
  if (existsSync(join(folder, 'test/built.mjs'))) await run(process.execPath, ['test/built.mjs'], folder);
  console.log(`checked ${name}`);
});
