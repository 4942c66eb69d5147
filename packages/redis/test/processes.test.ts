import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { forkScript } from '../../../test/support/children/fork.ts';
import { freshPrefix, REDIS_URL, removeKeys } from '../../../test/support/redis-server.ts';
import type { Start, Task } from './processes/protocol.ts';

const ROUNDS = 50;
const TAKES = 100;
const WINDOWS = [
  { name: 'minute', limit: 60, lengthMs: 600_000 },
  { name: 'day', limit: 1000, lengthMs: 86_400_000 },
];

describe.skipIf(REDIS_URL === undefined)('processes on one Redis', () => {
  const children: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.send('end');
      if (child.exitCode === null) await once(child, 'exit');
    }
  });

  const start = async (count: number, about: Start) => {
    for (let at = 0; at < count; at += 1) {
      children.push(forkScript(join(import.meta.dirname, 'processes', 'worker.ts')));
    }
    await Promise.all(
      children.map((child) => {
        child.send(about);
        return once(child, 'message');
      }),
    );
  };

  const ask = async (child: ChildProcess, task: Task): Promise<number> => {
    child.send(task);
    const [allowed] = await once(child, 'message');
    return Number(allowed);
  };

  it.each([2, 4])('allows exactly 60 of 100 takes in %i processes', async (count) => {
    const about = { url: REDIS_URL ?? '', prefix: freshPrefix() };
    await start(count, about);
    const passed: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const task = { key: `key:${round}`, windows: WINDOWS, takes: TAKES / count };
      const allowed = await Promise.all(children.map((child) => ask(child, task)));
      passed.push(allowed.reduce((sum, one) => sum + one, 0));
    }
    const client = new Redis(about.url);
    await removeKeys(client, about.prefix);
    await client.quit();
    console.log(
      `${count} processes on Redis: of ${TAKES} takes passed in each of ${ROUNDS} rounds: ${[...new Set(passed)].join(', ')}`,
    );
    expect(new Set(passed)).toEqual(new Set([60]));
    expect(passed).toHaveLength(ROUNDS);
  });
});
