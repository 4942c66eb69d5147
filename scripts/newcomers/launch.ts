import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { getCommand, type Program } from './programs.ts';
import type { InstalledRuntime } from './runtimes.ts';
import { shell } from './shell.ts';

/** A program that has not answered by then has failed. */
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const POLL_INTERVAL_MS = 50;

export interface RunningProgram {
  readonly url: string;
  readonly key: string;
  output(): string;
  stop(): Promise<void>;
}

/** The commands of a program: the last one starts it, the others prepare it. */
function getCommands(program: Program, runtime: InstalledRuntime): string[] {
  if (program.command !== undefined) return [program.command(runtime.name)];
  const commands = getCommand(runtime.label).split(' && ');
  if (program.compilerOptions === undefined || !runtime.runsTypeScript) return commands;
  return ['npx tsc', ...commands.map((command) => command.replace('server.ts', 'dist/server.js'))];
}

/** Starts a program in its folder by the command of the documentation, on a free port instead of 3000. */
export async function launch(
  program: Program,
  runtime: InstalledRuntime,
  folder: string,
): Promise<RunningProgram> {
  const port = String(await findFreePort());
  for (const [name, text] of Object.entries(program.files)) {
    await writeFile(join(folder, name), text.replaceAll('3000', port));
  }
  const environment = { ...runtime.environment, PORT: port, ...program.environment };
  const commands = getCommands(program, runtime);
  for (const command of commands.slice(0, -1)) await shell(command, { cwd: folder, env: environment });
  // A process group, so that the shell and its children end together.
  const child = spawn(commands.at(-1) ?? '', {
    cwd: folder,
    env: environment,
    shell: true,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = once(child, 'close');
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    if (!hasEnded && child.pid !== undefined) process.kill(-child.pid, signal);
    await ended;
  };
  const stop = async (): Promise<void> => {
    if (program.command === undefined) return kill('SIGKILL');
    const timer = new AbortController();
    const timeout = pause(STOP_TIMEOUT_MS, 'timeout', { signal: timer.signal }).catch(() => undefined);
    const first = await Promise.race([kill('SIGTERM'), timeout]);
    timer.abort();
    if (first !== 'timeout') return;
    await kill('SIGKILL');
    throw new Error(`the program does not stop at SIGTERM:\n${output}`);
  };
  const url = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + START_TIMEOUT_MS;
  try {
    for (;;) {
      if (hasEnded) throw new Error(`the program ended:\n${output}`);
      if (performance.now() > deadline) throw new Error(`the program does not answer:\n${output}`);
      const [key] = /svc_(?:live|test)_\w+/.exec(output) ?? [];
      if (key !== undefined && (await answers(url))) return { url, key, output: () => output, stop };
      await pause(POLL_INTERVAL_MS);
    }
  } catch (error) {
    await kill('SIGKILL');
    throw error;
  }
}

/** Runs the client of a program, on the runtime of its server. */
export async function runClient(
  program: Program,
  runtime: InstalledRuntime,
  folder: string,
  { url, key }: Pick<RunningProgram, 'url' | 'key'>,
): Promise<void> {
  if (program.client === undefined) return;
  const { name, prints } = program.client;
  const command =
    getCommands(program, runtime)
      .at(-1)
      ?.replace(/server(?=\.[jt]s)/, name) ?? '';
  const env = { ...runtime.environment, QUESTLINE_URL: url, QUESTLINE_KEY: key };
  const output = await shell(command, { cwd: folder, env });
  if (!prints.test(output)) throw new Error(`${name} printed:\n${output}`);
}

async function answers(url: string): Promise<boolean> {
  try {
    await (await fetch(url)).text();
    return true;
  } catch {
    return false;
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
