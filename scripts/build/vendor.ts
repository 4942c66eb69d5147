import { copyFile, glob, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { EXTENSIONS, type Format, TARGET } from './modules.ts';

/** Writes a dependency as one file into `dist/vendor`, with only the exports that the built ESM files use, and its license. */
export async function vendor(name: string, folder: string, formats: readonly Format[]): Promise<void> {
  const used = await findUsedNames(`vendor/${name}.js`, join(folder, 'dist'));
  // zod's namespace `core` contains all of zod; the build includes only its used parts.
  const core = used.filter((path) => path.startsWith('core.')).map((path) => path.slice(5));
  const names = used.filter((path) => !path.startsWith('core.'));
  if (names.includes('core')) throw new Error(`${folder} uses all of ${name}.core`);
  const contents = [
    `export { ${names.join(', ')} } from '${name}';`,
    ...(core.length > 0
      ? [
          `import { ${core.join(', ')} } from '${name}/v4/core';`,
          `export const core = { ${core.join(', ')} };`,
        ]
      : []),
  ].join('\n');
  for (const format of formats) {
    await build({
      absWorkingDir: folder,
      stdin: { contents, resolveDir: folder },
      bundle: true,
      format,
      target: TARGET,
      platform: 'node',
      outfile: `dist/vendor/${name}${EXTENSIONS[format]}`,
    });
  }
  const source = join(folder, '../../node_modules', name);
  const license = (await readdir(source)).find((file) => /^licen[cs]e/i.test(file));
  if (license === undefined) throw new Error(`${name} has no license text`);
  await copyFile(join(source, license), join(folder, `dist/vendor/${name}.LICENSE.txt`));
}

/**
 * Finds the exports of a module that built files use; those of its namespace `core` begin with `core.`.
 * @param path the end of the module's path in imports, of the form `import * as x from "…"` or `import { x, y as z } from "…"`.
 * @throws Error for another form of import, or if nothing is used.
 */
async function findUsedNames(path: string, folder: string): Promise<string[]> {
  const used = new Set<string>();
  for await (const file of glob('**/*.js', { cwd: folder })) {
    const text = await readFile(join(folder, file), 'utf8');
    for (const [, clause = '', from = ''] of text.matchAll(/^import ([^;"]*) from "([^"]*)";$/gm)) {
      if (!from.endsWith(path)) continue;
      const named = /^\{ (.*) \}$/.exec(clause)?.[1];
      for (const name of named?.split(', ') ?? []) used.add(name.replace(/ as .*/, ''));
      if (named !== undefined) continue;
      const alias = /^\* as (\w+)$/.exec(clause)?.[1];
      if (alias === undefined) throw new Error(`${file} must import ${path} by names`);
      for (const [, name = ''] of text.matchAll(new RegExp(`\\b${alias}\\.((?:core\\.)?[\\w$]+)`, 'g')))
        used.add(name);
    }
  }
  if (used.size === 0) throw new Error(`nothing imports ${path}`);
  return [...used].sort();
}
