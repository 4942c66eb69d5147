import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { joinSources, keepApart, nameExports } from './plugins.ts';
import { listSources } from './sources.ts';

export type Format = 'esm' | 'cjs';

export const EXTENSIONS: Readonly<Record<Format, string>> = { esm: '.js', cjs: '.cjs' };
export const TARGET = 'es2023';

/** Returns the output of a source, both relative to their folders and without extension. */
export type Layout = (source: string) => string;

/** One file per module. */
export const perModule: Layout = (source) => source;

/**
 * Builds the sources in `src` into `dist`: one file per output of the layout, with a source map. Imports of other outputs
 * stay imports.
 * @param builtIn names of dependencies that are in `dist/vendor`.
 */
export async function buildModules(
  folder: string,
  format: Format,
  layout: Layout,
  builtIn: readonly string[],
): Promise<void> {
  const src = join(folder, 'src');
  const outputs = new Map<string, string[]>();
  for (const source of await listSources(src)) {
    const output = layout(source);
    outputs.set(output, [...(outputs.get(output) ?? []), source]);
  }
  const joined = [...outputs.values()].filter(({ length }) => length > 1).flat();
  const renamed = nameExports(outputs, await findExports(src, joined, false));
  const exported = await findExports(src, joined, true);
  await build({
    absWorkingDir: folder,
    entryPoints: [...outputs].map(([out, members]) => ({
      out,
      in: members.length === 1 && members[0] === out ? join(src, `${out}.ts`) : `joined:${out}`,
    })),
    bundle: true,
    format,
    target: TARGET,
    platform: 'node',
    packages: 'external',
    outdir: 'dist',
    outExtension: { '.js': EXTENSIONS[format] },
    sourcemap: true,
    // The package contains the sources.
    sourcesContent: false,
    // CommonJS has `__filename`; the sources ask for it first.
    logOverride: { 'empty-import-meta': 'silent' },
    plugins: [
      joinSources(src, outputs, renamed),
      keepApart({ src, layout, exported, renamed, extension: EXTENSIONS[format], builtIn }),
    ],
  });
}

/** Finds the names that each source exports, with those of `export *` if they are expanded. */
async function findExports(
  src: string,
  sources: readonly string[],
  isExpanded: boolean,
): Promise<Map<string, readonly string[]>> {
  const { metafile } = await build({
    absWorkingDir: src,
    entryPoints: sources.map((source) => ({ in: `${source}.ts`, out: source })),
    ...(isExpanded && { bundle: true, splitting: true, packages: 'external' }),
    format: 'esm',
    platform: 'node',
    outdir: 'out',
    chunkNames: 'chunks/[hash]',
    write: false,
    metafile: true,
  });
  return new Map(
    Object.entries(metafile.outputs).map(([path, { exports }]) => [
      relative('out', path).replace(/\.js$/, ''),
      exports,
    ]),
  );
}
