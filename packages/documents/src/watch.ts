import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import type { Excess } from './limits.ts';

/*
 * A thread that ends the reader's process even while its main thread is busy: when it exceeds its memory
 * limit, when a document exceeds the timeout without action of the host, and when the host has ended.
 */

export interface WatchOptions {
  /** Counts up when a document begins and when it ends: odd while one is read. */
  readonly turns: Int32Array;
  readonly maxMemoryBytes: number;
  readonly maxMs: number;
  /** The host's process id. */
  readonly host: number;
}

const BUSY_MS = 5;
const IDLE_MS = 1000;
const STDERR = 2;

const { turns, maxMemoryBytes, maxMs, host } = workerData as WatchOptions;

function end(excess: Excess): never {
  try {
    writeSync(STDERR, `\n${excess}\n`);
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
  throw new Error(excess);
}

let turn = 0;
let since = Date.now();
for (;;) {
  const now = Atomics.load(turns, 0);
  if (now !== turn) {
    turn = now;
    since = Date.now();
  }
  if (process.ppid !== host) end('crash');
  if (process.memoryUsage.rss() > maxMemoryBytes) end('memory');
  const isBusy = turn % 2 === 1;
  if (isBusy && Date.now() - since > maxMs) end('time');
  Atomics.wait(turns, 0, turn, isBusy ? BUSY_MS : IDLE_MS);
}
