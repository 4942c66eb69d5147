import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineConfig } from 'tsup';

type Format = 'esm' | 'cjs';

/** The one build every package shares. `entry` keeps its folders below `src`, so `src/memory/index.ts` becomes `dist/memory/index.js`. */
export function library(
  entry: string[],
  {
    formats = ['esm', 'cjs'],
    builtIn = [],
    onSuccess,
  }: {
    formats?: Format[];
    /** Dependencies whose code becomes part of the build, with their licenses beside it. */
    builtIn?: string[];
    onSuccess?: () => Promise<void>;
  } = {},
) {
  return defineConfig({
    entry,
    format: formats,
    target: 'es2023',
    platform: 'node',
    outDir: 'dist',
    clean: true,
    dts: true,
    sourcemap: false,
    noExternal: builtIn,
    tsconfig: '../../tsconfig.json',
    async onSuccess() {
      for (const name of builtIn) {
        const license = join('../../node_modules', name, 'LICENSE');
        await copyFile(license, join('dist', `${name}.LICENSE.txt`));
      }
      await onSuccess?.();
    },
  });
}
