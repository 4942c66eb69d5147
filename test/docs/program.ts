import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

export interface Example {
  /** The heading it stands below. */
  readonly heading: string;
  readonly code: string;
}

/** The JavaScript examples of a page, in their order. */
export function examplesOf(page: string): Example[] {
  const examples: Example[] = [];
  let heading = '';
  for (const [, title, code] of readPage(page).matchAll(/^#+ (.+)$|^```js\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    if (code !== undefined) examples.push({ heading, code });
  }
  return examples;
}

function readPage(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** The rows of a page's tables, cell by cell. */
export function rowsOf(page: string): string[][] {
  return [...readPage(page).matchAll(/^\| (.+) \|$/gm)].map(([, cells = '']) =>
    cells.split('|').map((cell) => cell.trim()),
  );
}

export interface Program {
  readonly url: string;
  output(): string;
}

/**
 * Runs a program that listens on port 3000, on a free port instead, and waits until it answers.
 * It is the text of the page: nothing else is changed.
 */
export async function runProgram(code: string): Promise<Program> {
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [
      '--conditions=@questline/source',
      '--input-type=module',
      '--eval',
      code.replaceAll('3000', String(port)),
    ],
    // Where the packages are found from.
    { cwd: ROOT, env: { PATH: process.env.PATH, JWT_SECRET: 'a1'.repeat(32) } },
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
