import { basename, dirname, join, relative } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * By source: new names of its exports. Contains only sources that share an export name with another source.
 */
type Renamed = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** Finds the sources of one output that export the same names, and gives these names a suffix. */
export function nameExports(
  outputs: ReadonlyMap<string, readonly string[]>,
  exported: ReadonlyMap<string, readonly string[]>,
): Renamed {
  const renamed = new Map<string, Record<string, string>>();
  for (const members of outputs.values()) {
    const byName = new Map<string, number>();
    for (const name of members.flatMap((source) => exported.get(source) ?? [])) {
      byName.set(name, (byName.get(name) ?? 0) + 1);
    }
    const isShared = (name: string) => (byName.get(name) ?? 0) > 1;
    for (const [index, source] of members.entries()) {
      const names = exported.get(source) ?? [];
      if (!names.some(isShared)) continue;
      const pairs = names.map((name) => [name, isShared(name) ? `${name}_${index}` : name]);
      renamed.set(source, Object.fromEntries(pairs));
    }
  }
  return renamed;
}

/** Entry points for outputs that consist of several sources. */
export function joinSources(
  src: string,
  outputs: ReadonlyMap<string, readonly string[]>,
  renamed: Renamed,
): Plugin {
  const toExport = (source: string) => {
    const names = renamed.get(source);
    if (names === undefined) return `export * from './${source}.ts';`;
    const list = Object.entries(names).map(([name, outer]) => `${name} as ${outer}`);
    return `export { ${list.join(', ')} } from './${source}.ts';`;
  };
  return {
    name: 'join-sources',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^joined:/ }, ({ path }) => ({ path: path.slice(7), namespace: 'joined' }));
      onLoad({ filter: /^/, namespace: 'joined' }, ({ path }) => ({
        contents: (outputs.get(path) ?? []).map(toExport).join('\n'),
        loader: 'ts',
        resolveDir: src,
      }));
    },
  };
}

/** Keeps imports of other outputs, with the extension of the format. */
export function keepApart({
  src,
  layout,
  exported,
  renamed,
  extension,
  builtIn,
}: {
  readonly src: string;
  readonly layout: (source: string) => string;
  /** All exports of the sources that share an output: an import of one must not see those of another. */
  readonly exported: ReadonlyMap<string, readonly string[]>;
  readonly renamed: Renamed;
  readonly extension: string;
  readonly builtIn: readonly string[];
}): Plugin {
  const toSource = (path: string) => relative(src, path).replace(/\.ts$/, '');
  const getPath = (importer: string, output: string) => {
    const folder = relative(dirname(layout(toSource(importer))), dirname(output)) || '.';
    return `${folder.startsWith('.') ? '' : './'}${folder}/${basename(output)}${extension}`;
  };
  return {
    name: 'keep-apart',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.{1,2}\/.*\.ts$/, namespace: 'file' }, ({ path, kind, importer }) => {
        if (kind === 'entry-point') return undefined;
        const source = toSource(join(dirname(importer), path));
        const output = layout(source);
        if (output === layout(toSource(importer))) return undefined;
        const outer = getPath(importer, output);
        if (!exported.has(source)) return { path: outer, external: true };
        return { path: `${source} in ${outer}`, namespace: 'part', pluginData: { source, outer } };
      });
      onLoad({ filter: /^/, namespace: 'part' }, ({ pluginData: { source, outer } }) => {
        const list = exported.get(source)?.map((name) => `${renamed.get(source)?.[name] ?? name} as ${name}`);
        return { contents: `export { ${list?.join(', ')} } from '${outer}';` };
      });
      onResolve({ filter: /^/, namespace: 'part' }, ({ path }) => ({ path, external: true }));
      onResolve({ filter: /^[^./]/, namespace: 'file' }, ({ path, importer }) =>
        builtIn.includes(path) ? { path: getPath(importer, `vendor/${path}`), external: true } : undefined,
      );
    },
  };
}
