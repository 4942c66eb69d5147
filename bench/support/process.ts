import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Reading } from './child.ts';

export interface Measured {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  /** @param what `memory` collects garbage first. */
  read(what?: 'time' | 'memory'): Promise<Reading>;
  /** Bytes of live objects, after a collection. Only for processes that `measuresLive`. */
  readLive(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Starts `bench/support/<file>` in a separate process, which measures its own CPU time.
 * @param checkout the repository whose file is started. Default: this one.
 */
export async function start(
  name: string,
  file: string,
  environment: Record<string, string> = {},
  checkout = join(import.meta.dirname, '../..'),
  { measuresLive = false } = {},
): Promise<Measured> {
  const preload = measuresLive ? [`--import=${join(import.meta.dirname, 'live-memory.ts')}`] : [];
  const child: ChildProcess = fork(join(checkout, 'bench/support', file), {
    cwd: checkout,
    execArgv: ['--conditions=@questline/source', '--expose-gc', ...preload],
    env: { ...process.env, ...environment },
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    name,
    pid: child.pid ?? 0,
    url: `http://127.0.0.1:${port}`,
    async read(what = 'time') {
      const answer = once(child, 'message');
      child.send(what);
      const [reading] = (await answer) as [Reading];
      return reading;
    },
    readLive: () =>
      new Promise((resolve) => {
        const onMessage = (message: unknown): void => {
          // `serve` answers every message with a reading.
          if (typeof message !== 'object' || message === null || !('live' in message)) return;
          child.off('message', onMessage);
          resolve(Number(message.live));
        };
        child.on('message', onMessage);
        child.send('live');
      }),
    async stop() {
      const exit = once(child, 'exit');
      child.disconnect();
      await exit;
    },
  };
}

/**
 * Keeps all threads of a process on one core, where `taskset` exists. Otherwise the scheduler decides whether two processes
 * that talk share a core, which changes the cost of each message, for as long as they live.
 */
export function pin(pid: number, core: number): void {
  spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(pid)]);
}
