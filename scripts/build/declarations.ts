import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root, run } from '../packages.ts';
import { EXTENSIONS, type Format } from './modules.ts';
import { listSources } from './sources.ts';

const RELATIVE = /(\bfrom |\bimport\(|^import )(['"])(\.{1,2}\/[^'"]*)\.ts\2/gm;

/** The type declarations of all packages, one file per module. */
export interface Declarations {
  /** Copies those of one package into its `dist`, with the extensions of each format. */
  copy(name: string, folder: string, formats: readonly Format[]): Promise<void>;
  close(): Promise<void>;
}

/** Emits the declarations of all packages in one run of the compiler. */
export async function emitDeclarations(): Promise<Declarations> {
  const out = await mkdtemp(join(tmpdir(), 'questline-types-'));
  const options = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: join(root, 'packages'),
      outDir: out,
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: [join(root, 'packages/*/src')],
    exclude: ['**/*.test.ts', '**/*.test-d.ts', '**/node_modules'].map((path) =>
      join(root, 'packages', path),
    ),
  };
  const config = join(out, 'tsconfig.json');
  await writeFile(config, JSON.stringify(options));
  await run('../typescript7/bin/tsc', ['-p', config], root);
  return {
    async copy(name, folder, formats) {
      for (const source of await listSources(join(folder, 'src'))) {
        const text = await readFile(join(out, name, 'src', `${source}.d.ts`), 'utf8');
        for (const format of formats) {
          const target = join(folder, 'dist', `${source}.d${EXTENSIONS[format].replace('js', 'ts')}`);
          await mkdir(dirname(target), { recursive: true });
          await writeFile(target, text.replace(RELATIVE, `$1$2$3${EXTENSIONS[format]}$2`));
        }
      }
    },
    close: () => rm(out, { recursive: true }),
  };
}
