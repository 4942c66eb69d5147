import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** The real command in a process of its own. */
export interface Running {
  /** Everything written so far, both streams. */
  output(): string;
  stdout(): string;
  stderr(): string;
  /** Resolves once the output has this. Rejects when the process ends first. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Ends it at once, if it still runs. */
  kill(): Promise<void>;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The working folder. Default: a new, empty one. */
  readonly cwd?: string;
}

/** Runs until the test ends, at the longest. */
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
  const child = spawn(process.execPath, ['--conditions=@questline/source', MAIN, ...args], {
    cwd,
    // Nothing of the machine's own environment may reach it.
    env: { PATH: process.env.PATH, ...env },
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

/** What a command that comes to its own end says. */
export async function outcome(args: readonly string[], options?: RunOptions) {
  const running = questline(args, options);
  const { code } = await running.ended;
  return { code, stdout: running.stdout(), stderr: running.stderr() };
}

/** What the start lines of a demo tell. */
export interface StartLines {
  readonly url: string;
  readonly key: string;
  readonly curl: string;
}

export async function startLines(running: Running): Promise<StartLines> {
  await running.until(/Ctrl\+C stops it/);
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
