import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Reading } from './child.ts';

export interface Measured {
  readonly name: string;
  readonly url: string;
  /** @param what `memory` collects garbage first. */
  read(what?: 'time' | 'memory'): Promise<Reading>;
  stop(): Promise<void>;
}

/** Starts `bench/support/<file>` in a process of its own, so that its CPU time is its own. */
export async function start(
  name: string,
  file: string,
  environment: Record<string, string> = {},
): Promise<Measured> {
  const child: ChildProcess = fork(join(import.meta.dirname, file), {
    execArgv: ['--conditions=@questline/source', '--expose-gc'],
    env: { ...process.env, ...environment },
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    async read(what = 'time') {
      const answer = once(child, 'message');
      child.send(what);
      const [reading] = (await answer) as [Reading];
      return reading;
    },
    async stop() {
      const exit = once(child, 'exit');
      child.disconnect();
      await exit;
    },
  };
}
