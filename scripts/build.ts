/** Builds every package, or those named on the command line: `npm run build -- core express`. */
import { readFileSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { emitDeclarations } from './build/declarations.ts';
import { buildModules, type Format, type Layout, perModule } from './build/modules.ts';
import { reduceToLines } from './build/source-maps.ts';
import { vendor } from './build/vendor.ts';
import { eachPackage, root, run } from './packages.ts';

interface BuildOptions {
  readonly layout?: Layout;
  /** Dependencies that are bundled. */
  readonly builtIn?: readonly string[];
  /** Adds files that are not modules. */
  readonly finish?: (folder: string) => Promise<void>;
}

const PACKAGES: Readonly<Record<string, BuildOptions>> = {
  // See docs/decisions/built-in.md.
  core: { layout: perFolder, builtIn: ['zod', 'lru-cache', 'eventsource-encoder'] },
  console: { finish: (folder) => run('tsup', ['--silent', '--config', 'tsup.app.config.ts'], folder) },
  server: { finish: copyReferencePage },
};

/**
 * One file per folder, because loading hundreds of files takes longer than executing them. Exported files
 * stay separate.
 */
function perFolder(source: string): string {
  const [first = '', second = '', ...rest] = source.split('/');
  if (second === '' || /^(?:(?:memory|directory)\/index|http\/bridge|app\/personal-data)$/.test(source))
    return source;
  return first === 'features' && rest.length > 0 ? `features/${second}` : first;
}

/**
 * The script of the reference page is part of the server package, because the npm package that contains it is
 * eight times as large.
 */
async function copyReferencePage(folder: string): Promise<void> {
  const { resolve } = createRequire(import.meta.url);
  for (const file of ['redoc.standalone.js', 'redoc.standalone.js.LICENSE.txt']) {
    await copyFile(resolve(`redoc/bundles/${file}`), join(folder, 'dist', file));
  }
}

function getFormats(folder: string): Format[] {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return exports['.'].require === undefined ? ['esm'] : ['esm', 'cjs'];
}

const wanted = process.argv.slice(2);
const declarations = await emitDeclarations();

await eachPackage(async ({ name, folder }) => {
  if (wanted.length > 0 && !wanted.includes(name)) return;
  const started = performance.now();
  const formats = getFormats(folder);
  const { layout = perModule, builtIn = [], finish } = PACKAGES[name] ?? {};
  await rm(join(folder, 'dist'), { recursive: true, force: true });
  // npm packs a license only from the package's own folder.
  await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  for (const format of formats) await buildModules(folder, format, layout, builtIn);
  await reduceToLines(join(folder, 'dist'));
  for (const dependency of builtIn) await vendor(dependency, folder, formats);
  await declarations.copy(name, folder, formats);
  await finish?.(folder);
  console.log(`built ${name} in ${((performance.now() - started) / 1000).toFixed(1)} s`);
});

await declarations.close();
