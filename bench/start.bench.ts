/**
 * Measures the time from `questline start` to the first answered request, with the built command: cold in an
 * empty folder, where it creates secrets, tables and folders, and warm in the same folder. Bare Express,
 * which opens nothing, alternates with it.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from './support/report.ts';

const ROUNDS = Number(process.env.BENCH_PAIRS ?? 5);
const root = join(import.meta.dirname, '..');
const main = join(root, 'packages', 'server', 'dist', 'main.js');
const bare = join(import.meta.dirname, 'support', 'startup', 'bare-server.mjs');

interface Start {
  /** Wall time from the start of the process to the end of its first answer, in ms. */
  readonly firstAnswer: number;
  /** Start time that the server prints. */
  readonly ready: number;
  readonly memory: number;
}

async function start(script: string, args: readonly string[], cwd: string, path: string): Promise<Start> {
  const began = performance.now();
  const child = spawn(process.execPath, [script, ...args], {
    cwd,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let said = '';
  const figures = new Promise<Start>((resolve, reject) => {
    void ended.then(() => reject(new Error(`${script} ended: ${said}`)));
    let asking: Promise<number> | undefined;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const url = /listens on (\S+)/.exec(said)?.[1];
      if (url !== undefined) asking ??= firstAnswer(`${url}${path}`, began);
      const [, ready, memory] = /"readyMs":(\d+),"memoryMiB":(\d+)/.exec(said) ?? [];
      if (asking === undefined || ready === undefined) return;
      asking.then((ms) => resolve({ firstAnswer: ms, ready: Number(ready), memory: Number(memory) }), reject);
    });
  });
  try {
    return await figures;
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

async function firstAnswer(url: string, began: number): Promise<number> {
  const answer = await fetch(url);
  await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return performance.now() - began;
}

function tell(what: string, starts: readonly Start[], reference: number): void {
  const first = median(starts.map((one) => one.firstAnswer));
  const ready = median(starts.map((one) => one.ready)).toFixed(0);
  const memory = median(starts.map((one) => one.memory)).toFixed(0);
  console.log(
    `${what.padEnd(58)} ${first.toFixed(0)} ms   ${(first / reference).toFixed(2)} x bare Express   ready after ${ready} ms   ${memory} MiB`,
  );
}

execFileSync('npm', ['run', 'build', '--silent'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
const cold: Start[] = [];
const warm: Start[] = [];
const express: Start[] = [];
// The first round warms the file system cache for all three.
for (let round = -1; round < ROUNDS; round += 1) {
  const folder = mkdtempSync(join(tmpdir(), 'questline-start-'));
  try {
    const reference = await start(bare, [], folder, '/');
    const first = await start(main, ['start', '--port', '0'], folder, '/api/health');
    const second = await start(main, ['start', '--port', '0'], folder, '/api/health');
    if (round < 0) continue;
    express.push(reference);
    cold.push(first);
    warm.push(second);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
const reference = median(express.map((one) => one.firstAnswer));
tell('bare Express, to the first answer', express, reference);
tell('questline start, empty folder, to the first answer', cold, reference);
tell('questline start, same folder, to the first answer', warm, reference);
