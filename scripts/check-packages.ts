/** Checks the built packages the way a stranger would install them: packed, by module system, with their types. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eachPackage, run } from './packages.ts';

await eachPackage(async ({ name, folder }) => {
  await run('publint', ['--strict', '.'], folder);
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  // A package without a CommonJS build is loaded through require(esm), which every supported Node has.
  const esmOnly = !exports['.'].require;
  await run('attw', ['--pack', '.', '--profile', esmOnly ? 'esm-only' : 'node16', '--quiet'], folder);
  // What neither of them can see, a package shows by itself.
  if (existsSync(join(folder, 'test/built.mjs'))) await run(process.execPath, ['test/built.mjs'], folder);
  console.log(`checked ${name}`);
});
