import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

export interface Program {
  readonly url: string;
  output(): string;
}

/**
 * Runs a program of a page on a free port instead of port 3000 and waits until it answers.
 * Nothing else of its text is changed.
 */
export async function runProgram(code: string): Promise<Program> {
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [
      '--conditions=@questline/source',
      '--disable-warning=ExperimentalWarning',
      '--input-type=module-typescript',
      '--eval',
      code.replaceAll('3000', String(port)),
    ],
    // The folder that resolves the packages.
    {
      cwd: ROOT,
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        JWT_SECRET: 'a1'.repeat(32),
      },
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = new Promise<'ended'>((resolve) => child.once('close', () => resolve('ended')));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    const state = await Promise.race([ended, answers(url)]);
    if (state === 'ended') throw new Error(`the program ended: ${output}`);
    if (state) return { url, output: () => output };
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    await fetch(url);
    return true;
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Waits for output of the program: it answers requests before it prints the key. */
export async function untilMatch(pattern: RegExp, read: () => string): Promise<RegExpExecArray> {
  for (;;) {
    const match = pattern.exec(read());
    if (match !== null) return match;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
