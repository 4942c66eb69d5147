/** Builds every package, or those named on the command line: `npm run build -- core express`. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { eachPackage, root, run } from './packages.ts';

const wanted = process.argv.slice(2);

await eachPackage(async ({ name, folder }) => {
  if (wanted.length > 0 && !wanted.includes(name)) return;
  const started = performance.now();
  // npm packs a license only from the package's own folder.
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  await run('tsup', ['--silent'], folder);
  console.log(`built ${name} in ${((performance.now() - started) / 1000).toFixed(1)} s`);
});
