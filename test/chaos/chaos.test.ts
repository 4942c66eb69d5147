import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { runChaos } from '../../bench/chaos/chaos.ts';
import { findPostgresPrograms } from '../../bench/chaos/postgres.ts';

/** Seconds of load. The faults end before the rest of the work can. */
const SECONDS = 60;
const FAULT_SECONDS = 25;
/** Holds of killed processes end within 30 s. */
const HOLD_SECONDS = 60;
/** After the load, work of killed processes waits for the end of its lease. */
const MAX_MS = 480_000;

const programs = findServers();

function findServers(): string | undefined {
  const found = findPostgresPrograms();
  const hasRedis = spawnSync('redis-server', ['--version']).status === 0;
  if (found !== undefined && hasRedis) return found;
  const missing = 'The programs of PostgreSQL or redis-server are missing';
  if (process.env.CI === 'true') throw new Error(missing);
  console.warn(`${missing}: outages of stores and killed processes are not tested together.`);
  return undefined;
}

describe.skipIf(programs === undefined)('three processes whose stores break and which are killed', () => {
  it('lose no quest, charge nothing twice and answer no 500', { timeout: MAX_MS }, async () => {
    const lines: string[] = [];
    const { memory, audits, faults } = await runChaos({
      programs: programs ?? '',
      seed: 7,
      seconds: SECONDS,
      faultSeconds: FAULT_SECONDS,
      holdSeconds: HOLD_SECONDS,
      say: (line) => lines.push(line),
    });
    const counts = `${memory.quests.size} quests, ${memory.reported.size} completions, ${[...faults].map(([name, count]) => `${count} x ${name}`).join('; ')}`;
    console.log(counts);
    expect(
      audits.filter(({ wrong }) => wrong.length > 0),
      lines.join('\n'),
    ).toEqual([]);
    // The faults happened, and work was accepted meanwhile.
    expect([...faults.keys()]).toEqual(
      expect.arrayContaining(['kill process', 'crash PostgreSQL', 'restart Redis', 'flush Redis']),
    );
    expect(memory.quests.size).toBeGreaterThan(100);
    expect(memory.reported.size).toBeGreaterThan(50);
  });
});
