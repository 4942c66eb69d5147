/**
 * Does what a new user does: installs the packed packages in empty folders, copies the programs of the
 * documentation, and runs each of them on every runtime. `npm run newcomers -- bun Express` runs only the
 * named ones.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installProgram, packAll } from './newcomers/install.ts';
import { launch, runClient } from './newcomers/launch.ts';
import { getPrograms, type Program } from './newcomers/programs.ts';
import { type InstalledRuntime, installRuntime, RUNTIMES } from './newcomers/runtimes.ts';
import { shell } from './newcomers/shell.ts';
import { startUpstream } from './newcomers/upstream.ts';
import { CHECKS } from './newcomers/walk.ts';
import { root } from './packages.ts';

const wanted = process.argv.slice(2).map((name) => name.toLowerCase());
function select<T extends { readonly name: string }>(all: readonly T[]): readonly T[] {
  const some = all.filter(({ name }) => wanted.some((word) => name.toLowerCase().includes(word)));
  return some.length === 0 ? all : some;
}

const failures: string[] = [];
const notes = new Set<string>();
const rows: string[][] = [];
const started = performance.now();
const upstream = await startUpstream();
const folder = await mkdtemp(join(tmpdir(), 'questline-newcomers-'));
try {
  const [tarballs, runtimes] = await Promise.all([
    shell('npm run build --silent', { cwd: root }).then(() => packAll(join(folder, 'packed'))),
    Promise.all(select(RUNTIMES).map((runtime) => installRuntime(runtime, folder))),
  ]);
  log(`packed ${tarballs.size} packages, installed ${runtimes.length} runtimes`);
  const [oldest] = runtimes;
  rows.push(['program', ...runtimes.map(formatRuntime)]);
  const programs = select(getPrograms(upstream.url));
  const install = async (index: number): Promise<string | undefined> => {
    const program = programs[index];
    const place = join(folder, `program-${index}`);
    try {
      // npm runs on the oldest Node, so that it warns about packages that do not support it.
      if (program) await installProgram(program, place, tarballs, oldest?.environment.PATH);
      return undefined;
    } catch (error) {
      return getMessage(error);
    }
  };
  // Installs the next program while the previous one is tested.
  let installation = install(0);
  for (const [index, program] of programs.entries()) {
    const message = await installation;
    installation = install(index + 1);
    const place = join(folder, `program-${index}`);
    const row = [program.name];
    rows.push(row);
    if (message !== undefined) failures.push(`${program.name}: installation: ${message}`);
    for (const runtime of runtimes) {
      row.push(message === undefined ? await tryProgram(program, runtime, place) : 'FAILED: installation');
    }
    log(row.join('  '));
  }
} finally {
  upstream.close();
  await rm(folder, { recursive: true, force: true });
}

function log(text: string): void {
  console.log(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${text}`);
}

function formatRuntime({ label, version }: InstalledRuntime): string {
  return `${label.split(' ')[0]} ${version}`;
}

async function tryProgram(program: Program, runtime: InstalledRuntime, place: string): Promise<string> {
  const reason = program.impossible[runtime.name];
  if (reason !== undefined) {
    notes.add(`- ${program.name} on ${formatRuntime(runtime)}: ${reason}`);
    return '-';
  }
  const fail = (check: string, error: unknown, output = ''): string => {
    failures.push(`${program.name} on ${formatRuntime(runtime)}: ${check}: ${getMessage(error)}\n${output}`);
    return check;
  };
  const failed: string[] = [];
  try {
    const running = await launch(program, runtime, place);
    for (const [name, check] of Object.entries(CHECKS)) {
      try {
        await check({ url: running.url, key: running.key, program });
      } catch (error) {
        failed.push(fail(name, error, running.output()));
      }
    }
    try {
      await runClient(program, runtime, place, running);
    } catch (error) {
      failed.push(fail('client', error, running.output()));
    }
    await running.stop();
  } catch (error) {
    failed.push(fail('start', error));
  }
  return failed.length === 0 ? 'ok' : `FAILED: ${failed.join(', ')}`;
}

function getMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

console.log(`\nEach program: ${Object.keys(CHECKS).join(', ')}.\n`);
for (const row of rows) console.log(`| ${row.join(' | ')} |`);
if (notes.size > 0) console.log(`\n- means that a runtime cannot run a program:\n${[...notes].join('\n')}`);
for (const failure of failures) console.log(`\n${failure}`);
const minutes = ((performance.now() - started) / 60_000).toFixed(1);
console.log(
  `\n${failures.length === 0 ? 'Everything works' : `${failures.length} failed`}, after ${minutes} min.`,
);
process.exitCode = failures.length === 0 ? 0 : 1;
