import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '@questline/testing';
import type { OwnPostgres } from '../../test/support/postgres-server.ts';
import type { Fleet } from './fleet.ts';
import type { OwnRedis } from './redis.ts';

export interface Broken {
  readonly postgres: OwnPostgres;
  readonly redis: OwnRedis;
  readonly fleet: Fleet;
}

interface Fault {
  readonly atMs: number;
  readonly name: string;
  run(broken: Broken): Promise<number | string | undefined>;
}

const KILL_EVERY_MS = [3000, 7000] as const;
const POSTGRES_AWAY_MS = 2000;
const REDIS_AWAY_MS = 2000;

/** The faults of a run, at times that only the seed decides. */
export function planFaults(random: Random, totalMs: number): readonly Fault[] {
  const faults: Fault[] = [];
  const [least, most] = KILL_EVERY_MS;
  for (let at = least; at < totalMs; at += least + random.below(most - least)) {
    const place = random.below(3);
    faults.push({
      atMs: at,
      name: `kill process ${place}`,
      run: async ({ fleet }) => (fleet.kill(place) ? undefined : 'no, it is starting or the last one'),
    });
  }
  const once = (share: number, name: string, run: Fault['run']): void => {
    faults.push({ atMs: totalMs * share + random.below(1000), name, run });
  };
  once(0.2, 'terminate all connections of PostgreSQL', ({ postgres }) => postgres.terminateAll());
  once(0.35, 'cut all connections of Redis', async ({ redis }) => void (await redis.cut()));
  once(0.5, 'crash PostgreSQL', ({ postgres }) => postgres.crash(() => pause(POSTGRES_AWAY_MS)));
  once(0.7, 'restart Redis', async ({ redis }) => void (await redis.restart(REDIS_AWAY_MS)));
  once(0.85, 'terminate all connections of PostgreSQL', ({ postgres }) => postgres.terminateAll());
  once(0.95, 'flush Redis', async ({ redis }) => void (await redis.flush()));
  return faults.sort((a, b) => a.atMs - b.atMs);
}

/** Runs the faults at their times, one after the other. @returns how many of each kind. */
export async function runFaults(
  faults: readonly Fault[],
  broken: Broken,
  say: (line: string) => void,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const began = performance.now();
  for (const { atMs, name, run } of faults) {
    await pause(Math.max(0, began + atMs - performance.now()));
    const result = await run(broken);
    const kind = name.replace(/ \d+$/, '');
    if (typeof result !== 'string') counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const shown = result === undefined ? '' : `: ${typeof result === 'number' ? Math.round(result) : result}`;
    say(`${((performance.now() - began) / 1000).toFixed(1)} s  ${name}${shown}`);
  }
  return counts;
}
