/**
 * Applies the changesets, builds, checks and packs all packages, and lists what a release publishes. Then it
 * restores the working tree: `npm run release`. With `--publish` it publishes to npm and leaves the new
 * versions uncommitted.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eachPackage, root, run } from './packages.ts';

interface Packed {
  readonly id: string;
  readonly filename: string;
  readonly size: number;
  readonly entryCount: number;
}

const isPublishing = process.argv.includes('--publish');
const tarballs = mkdtempSync(join(tmpdir(), 'questline-release-'));

function read(command: string, args: string[], cwd = root): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

async function pack(): Promise<Packed[]> {
  const packed: Packed[] = [];
  await eachPackage(async ({ folder }) => {
    packed.push(...JSON.parse(read('npm', ['pack', '--json', '--pack-destination', tarballs], folder)));
  });
  return packed.sort((a, b) => a.id.localeCompare(b.id));
}

/** Installs core from its tarball in an empty folder, and loads it as ESM and CommonJS. */
function tryInstall(packed: readonly Packed[]): void {
  const core = packed.find(({ id }) => id.startsWith('@questline/core@'));
  if (core === undefined) throw new Error('@questline/core was not packed');
  const folder = join(tarballs, 'host');
  const host = join(folder, 'host.cjs');
  read('mkdir', [folder]);
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  read('npm', ['install', '--no-audit', '--no-fund', join(tarballs, core.filename)], folder);
  writeFileSync(
    host,
    `const names = ['', '/memory', '/directory', '/ports', '/internal', '/bridge'].map((path) => '@questline/core' + path);
     const load = async (name) => {
       const [esm, cjs] = [Object.keys(await import(name)), Object.keys(require(name))];
       if (String(esm.filter((key) => key !== 'default' && key !== 'module.exports').sort()) !== String(cjs.sort())) throw new Error(name);
     };
     Promise.all(names.map(load)).catch((error) => { console.error(error); process.exit(1); });`,
  );
  read(process.execPath, [host], folder);
}

/** Moves the unreleased notes to this version. */
function nameChanges(): void {
  const path = join(root, 'CHANGELOG.md');
  const { version } = JSON.parse(readFileSync(join(root, 'packages/core/package.json'), 'utf8'));
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace('## Unreleased', `## Unreleased\n\n## ${version} (${date})`),
  );
}

if (read('git', ['status', '--porcelain']) !== '') throw new Error('commit your changes first');
try {
  if (readdirSync(join(root, '.changeset')).some((file) => file.endsWith('.md'))) {
    await run('changeset', ['version'], root);
    read('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund']);
  }
  nameChanges();
  await run(process.execPath, ['scripts/build.ts'], root);
  await run(process.execPath, ['scripts/check-packages.ts'], root);
  const packed = await pack();
  tryInstall(packed);
  for (const { id, size, entryCount } of packed) {
    console.log(
      `${id.padEnd(32)} ${(size / 1024).toFixed(0).padStart(6)} KiB ${String(entryCount).padStart(6)} files`,
    );
  }
  if (isPublishing) await run('changeset', ['publish'], root);
  console.log(
    isPublishing ? 'published; commit the new versions and push the tags' : 'dry run: nothing was published',
  );
} finally {
  if (!isPublishing) read('git', ['restore', '--staged', '--worktree', '.']);
  rmSync(tarballs, { recursive: true });
}
