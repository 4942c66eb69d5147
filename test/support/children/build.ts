import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

/** What tests start as processes. */
const SCRIPTS = ['packages/server/src/main.ts', '{test,packages/*/test}/**/{child,*.child,processes/*}.ts'];
/** Dependencies of many modules, with what must share an instance with them. Others are imported. */
const INLINED = /^(@questline|zod|@asteasolutions\/zod-to-openapi|@casl\/ability)($|\/)/;
/** Another run on the same sources may still start processes from an older chunk. Milliseconds. */
const KEPT_MS = 3_600_000;

/** `import.meta` keeps the location of the source: sources read files and start programs next to them. */
const sourceLocations: Plugin = {
  name: 'source-locations',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const values = { url: pathToFileURL(path).href, dirname: dirname(path), filename: path };
      const text = await readFile(path, 'utf8');
      const contents = text.replace(
        /\bimport\.meta\.(url|dirname|filename)\b/g,
        (_, name: keyof typeof values) => JSON.stringify(values[name]),
      );
      return { contents, loader: 'ts' };
    });
  },
};

const dependencies: Plugin = {
  name: 'dependencies',
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
      const isOwn = kind === 'entry-point' || INLINED.test(path) || importer.includes('node_modules');
      return isOwn ? undefined : { path, external: true };
    });
  },
};

/**
 * Joins the modules of the scripts that tests start: a process spends half of its start on resolving and loading 1,500 of them.
 * @returns the new files.
 */
export async function buildChildren(root: string, folder: string): Promise<string[]> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: globSync(SCRIPTS, { cwd: root, exclude: (name) => name === 'node_modules' }),
    outbase: root,
    outdir: folder,
    entryNames: '[dir]/[name]',
    chunkNames: 'chunks/[hash]',
    // In node_modules, Node looks at no package.json for the format.
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'node24',
    platform: 'node',
    conditions: ['@questline/source'],
    plugins: [dependencies, sourceLocations],
    write: false,
    logLevel: 'error',
  });
  const changed = outputFiles.filter(
    ({ path, text }) => !existsSync(path) || readFileSync(path, 'utf8') !== text,
  );
  for (const { path, contents } of changed) {
    mkdirSync(dirname(path), { recursive: true });
    // A process of another run reads the old file or the new one.
    const unfinished = `${path}.${process.pid}`;
    writeFileSync(unfinished, contents);
    renameSync(unfinished, path);
  }
  const chunks = join(folder, 'chunks');
  const current = new Set(outputFiles.map(({ path }) => path));
  for (const path of readdirSync(chunks).map((name) => join(chunks, name))) {
    if (!current.has(path) && Date.now() - statSync(path).mtimeMs > KEPT_MS) rmSync(path);
  }
  return changed.map(({ path }) => path);
}
