/**
 * P10 and P11: size and start time of an installation of core and one adapter. Packs the built packages and
 * installs them as from a registry; the framework belongs to the host and is not counted. Then it starts this
 * installation and bare Express alternately, up to the first answered request. The goal is CPU time; wall
 * time is reported too.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, reportAmount } from './support/report.ts';

const PAIRS = Number(process.env.BENCH_PAIRS ?? 9);
const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'questline-install-'));
const modules = join(folder, 'node_modules');

function npm(args: readonly string[], cwd: string): void {
  execFileSync('npm', [...args, '--silent'], { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}

function install(): void {
  for (const name of ['core', 'express']) {
    npm(['run', 'build', '--', name], root);
    npm(['pack', '--pack-destination', folder], join(root, 'packages', name));
  }
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const tarballs = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
  const options = ['--omit=peer', '--legacy-peer-deps', '--no-audit', '--no-fund', '--prefer-offline'];
  npm(['install', ...options, ...tarballs.map((file) => `./${file}`)], folder);
}

/** The total size of all files in bytes, and the number of packages. */
function measure(): { bytes: number; packages: number } {
  const files = readdirSync(modules, { recursive: true, encoding: 'utf8' });
  let bytes = 0;
  for (const file of files) {
    const found = statSync(join(modules, file));
    if (found.isFile()) bytes += found.size;
  }
  const packages = files.filter((file) => /^(?:@[^/]+\/)?[^/@.][^/]*\/package\.json$/.test(file)).length;
  return { bytes, packages };
}

/** Milliseconds of a process that starts, answers one request and ends. */
function startup(script: string): { cpu: number; elapsed: number } {
  const said = execFileSync(process.execPath, [join(folder, script)], { cwd: folder, encoding: 'utf8' });
  return JSON.parse(said) as { cpu: number; elapsed: number };
}

try {
  install();
  const { bytes, packages } = measure();
  reportAmount('P11 installed size, core and one adapter', bytes / 2 ** 20, 'MiB', 10, `${bytes} bytes`);
  reportAmount('P11 installed packages, core and one adapter', packages, 'packages', 15, '');

  symlinkSync(join(root, 'node_modules', 'express'), join(modules, 'express'));
  for (const script of ['bare.mjs', 'questline.mjs', 'first-request.mjs']) {
    copyFileSync(join(import.meta.dirname, 'support', 'startup', script), join(folder, script));
  }
  const more: { cpu: number; elapsed: number }[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const bare = startup('bare.mjs');
    const questline = startup('questline.mjs');
    more.push({ cpu: questline.cpu - bare.cpu, elapsed: questline.elapsed - bare.elapsed });
  }
  const elapsed = median(more.map((one) => one.elapsed)).toFixed(0);
  const cpu = median(more.map((one) => one.cpu));
  reportAmount(
    'P10 import and first answer, more than bare Express',
    cpu,
    'ms',
    150,
    `wall time ${elapsed} ms`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
