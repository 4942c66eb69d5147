import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** Inside the workspace, so that packages resolve. */
const FOLDER = join(import.meta.dirname, '.snippets');

export interface Snippet {
  /** The page and the line of the first line of code. */
  readonly place: string;
  readonly language: string;
  readonly code: string;
}

/** The README, all pages and the READMEs of the packages. */
export function getPages(): string[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`);
  const packages = readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/README.md`);
  return ['README.md', ...docs, ...packages].sort();
}

export function getSnippets(page: string): Snippet[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^( *)```(\w+)\n([\s\S]*?)^ *```$/gm)].map(
    ([, indent = '', language = '', code = ''], index) => ({
      place: `${page} (${index + 1})`,
      language,
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

/**
 * Compiles snippets in strict mode, each as a module, with the names of `prelude.d.ts`.
 * @returns the compiler errors, each with its page.
 */
export function compile(snippets: readonly Snippet[]): string[] {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER);
  try {
    const places = new Map<string, string>();
    for (const [index, { place, language, code }] of snippets.entries()) {
      const name = `snippet-${index}.${language}`;
      places.set(name, place);
      // Pages show programs of several files; another module of the same page replaces the file.
      const imports = code
        .replaceAll(/'(?:\.\/api\.ts|@\/api)'/g, "'./shared.ts'")
        .replaceAll("'./my-store.js'", "'../my-store.ts'");
      writeFileSync(join(FOLDER, name), `${imports}\nexport {};\n`);
    }
    const shared = getSnippets('docs/start/mount.md').find(({ code }) => code.startsWith('// api.ts'));
    writeFileSync(join(FOLDER, 'shared.ts'), shared?.code ?? '');
    const options = {
      extends: '../../../tsconfig.json',
      compilerOptions: {
        noUnusedLocals: false,
        noUnusedParameters: false,
        lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
        erasableSyntaxOnly: false,
        // For the decorators of NestJS.
        experimentalDecorators: true,
        jsx: 'react-jsx',
      },
      include: ['*.ts', '*.tsx', '../prelude.d.ts'],
      exclude: [],
    };
    writeFileSync(join(FOLDER, 'tsconfig.json'), JSON.stringify(options));
    const compiler = join(ROOT, 'node_modules/typescript7/bin/tsc');
    try {
      execFileSync(process.execPath, [compiler, '-p', FOLDER, '--pretty', 'false'], { encoding: 'utf8' });
      return [];
    } catch (error) {
      const { stdout = '' } = error as { stdout?: string };
      return stdout
        .trim()
        .split('\n')
        .map((line) => line.replace(/^.*?(snippet-\d+\.tsx?)/, (_, name) => places.get(name) ?? name));
    }
  } finally {
    rmSync(FOLDER, { recursive: true, force: true });
  }
}
