import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { findBuilt } from '../../../test/support/children/fork.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** The real command in a separate process. */
export interface Running {
  /** The output so far, of both streams. */
  output(): string;
  stdout(): string;
  stderr(): string;
  /** Resolves when the output matches. Rejects if the process ends first. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Kills the process if it is still running. */
  kill(): Promise<void>;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The working folder. Default: a new, empty one. */
  readonly cwd?: string;
}

/** Runs at most until the test ends. */
export function questline(
  args: readonly string[],
  { cwd = emptyFolder(), ...options }: RunOptions = {},
): Running {
  const running = launch(args, { ...options, cwd });
  onTestFinished(() => running.kill());
  return running;
}

/** Runs until it is killed. */
export function launch(
  args: readonly string[],
  { env = {}, cwd }: RunOptions & { readonly cwd: string },
): Running {
  const child = spawn(process.execPath, ['--conditions=@questline/source', findBuilt(MAIN), ...args], {
    cwd,
    // The environment of the machine must not affect it, except that the sources are compiled once.
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (more: string) => {
      text[name] += more;
      for (const watch of watchers) watch();
    });
  }
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  return {
    output: () => text.stdout + text.stderr,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    until(pattern) {
      return new Promise((resolve, reject) => {
        const watch = (): void => {
          const match = pattern.exec(text.stdout);
          if (match === null) return;
          watchers.delete(watch);
          resolve(match);
        };
        watchers.add(watch);
        watch();
        void ended.then(({ code }) => reject(new Error(`ended with ${code}: ${text.stdout}${text.stderr}`)));
      });
    },
    signal: (name) => child.kill(name),
    ended,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The output of a command that ends by itself. */
export async function outcome(args: readonly string[], options?: RunOptions) {
  const running = questline(args, options);
  const { code } = await running.ended;
  return { code, stdout: running.stdout(), stderr: running.stderr() };
}

/** The content of the start lines of a demo. */
export interface StartLines {
  readonly url: string;
  readonly key: string;
  readonly curl: string;
}

export async function startLines(running: Running): Promise<StartLines> {
  await running.until(/Press Ctrl\+C to stop/);
  const text = running.stdout();
  const found = (pattern: RegExp): string => pattern.exec(text)?.[1] ?? '';
  return {
    url: found(/listens on (\S+)/),
    key: found(/^ {4}(svc_\w+)$/m),
    curl: found(/^(curl .*)$/m),
  };
}

export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'questline-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
