import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { forkScript } from '../../../../test/support/children/fork.ts';
import type { EngineAddress } from '../engines.ts';
import type { Answer, Task } from './protocol.ts';

/** Processes that do the same work at the same time. */
export interface Children {
  /** @returns how many calls went through in all of them together. */
  run(task: Omit<Task, 'process' | 'calls'>, calls: number): Promise<number>;
  end(): Promise<void>;
}

export function forkSibling(script: string): ChildProcess {
  return forkScript(join(import.meta.dirname, script));
}

export async function startChildren(count: number, address: EngineAddress): Promise<Children> {
  const children = Array.from({ length: count }, () => forkSibling('worker.ts'));
  await Promise.all(
    children.map(async (child) => {
      child.send({ address });
      await once(child, 'message');
    }),
  );
  return {
    async run(task, calls) {
      const passed = await Promise.all(
        children.map(async (child, process) => {
          child.send({ ...task, process, calls: calls / count } satisfies Task);
          const [answer] = (await once(child, 'message')) as [Answer];
          return answer.passed;
        }),
      );
      return passed.reduce((sum, one) => sum + one, 0);
    },
    async end() {
      await Promise.all(
        children.map(async (child) => {
          child.send('end');
          if (child.exitCode === null) await once(child, 'exit');
        }),
      );
    },
  };
}
