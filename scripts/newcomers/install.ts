import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../packages.ts';
import { getCompilerOptions, type Program } from './programs.ts';
import { shell } from './shell.ts';

/** Paths of the packed packages, by name. */
export type Tarballs = ReadonlyMap<string, string>;

/** Packs all built packages into a folder. */
export async function packAll(folder: string): Promise<Tarballs> {
  await mkdir(folder, { recursive: true });
  const names = readdirSync(join(root, 'packages')).filter((name) =>
    existsSync(join(root, 'packages', name, 'dist')),
  );
  const workspaces = names.map((name) => `--workspace packages/${name}`).join(' ');
  await shell(`npm pack --silent --pack-destination ${folder} ${workspaces}`, { cwd: root });
  return new Map(
    names.map((name) => {
      const manifest = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
      return [manifest.name, join(folder, `questline-${name}-${manifest.version}.tgz`)];
    }),
  );
}

/** Packages of the program, and their own dependencies. */
function withOwnDependencies(names: readonly string[]): string[] {
  const found = new Set<string>();
  const add = (name: string) => {
    if (!name.startsWith('@questline/') || found.has(name)) return;
    found.add(name);
    const path = join(root, 'packages', name.replace('@questline/', ''), 'package.json');
    const { dependencies = {}, peerDependencies = {} } = JSON.parse(readFileSync(path, 'utf8'));
    for (const other of [...Object.keys(dependencies), ...Object.keys(peerDependencies)]) add(other);
  };
  for (const name of names) add(name);
  return [...found, ...names.filter((name) => !name.startsWith('@questline/'))];
}

/** Type declarations of frameworks that do not include them. */
const TYPES: Readonly<Record<string, string>> = {
  express: '@types/express',
  '@nestjs/platform-express': '@types/express',
  koa: '@types/koa',
  '@koa/router': '@types/koa__router',
};

/**
 * Creates a folder as the documentation describes, installs the packages and type-checks the program. @param
 * path of the oldest Node: packages that do not support it fail the installation.
 */
export async function installProgram(
  program: Program,
  folder: string,
  tarballs: Tarballs,
  path: string | undefined,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  // The environment of the host contains its proxies and certificates.
  const options = { cwd: folder, env: { ...process.env, PATH: path } };
  await shell('npm init -y && npm pkg set type=module', options);
  const packages = withOwnDependencies(program.dependencies).map((name) => tarballs.get(name) ?? name);
  const install = 'npm install --no-audit --no-fund --prefer-offline';
  const output = await shell(`${install} ${packages.join(' ')}`, options);
  const refused = [...output.matchAll(/EBADENGINE\s+package: '([^']+)'/g)].map(([, name]) => name);
  if (refused.length > 0) throw new Error(`does not support the oldest Node: ${refused.join(', ')}`);
  if (Object.keys(program.files).length === 0) return;
  for (const [name, text] of Object.entries(program.files)) await writeFile(join(folder, name), text);
  const types = program.dependencies.flatMap((name) => TYPES[name] ?? []);
  await shell(`${install} --save-dev ${['typescript', '@types/node', ...types].join(' ')}`, options);
  const config = getCompilerOptions();
  const compilerOptions = { ...config.compilerOptions, ...program.compilerOptions };
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ ...config, compilerOptions }, undefined, 2),
  );
}
