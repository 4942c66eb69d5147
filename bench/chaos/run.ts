import { findPostgresPrograms } from '../../test/support/postgres-server.ts';
import { runChaos } from './chaos.ts';

/*
 * Breaks the self-hosted server and its stores under load: `npm run chaos`; `-- 60`: for 60 seconds; `-- 300 7`: with seed
 * 7. Needs the programs of PostgreSQL and redis-server. Exits with 1 when an audit finds something.
 */

const [seconds = 300, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);
/** The work of a killed process begins again when its lease ends, within a minute. */
const QUIET_SECONDS = 40;

const programs = findPostgresPrograms();
if (programs === undefined) throw new Error('the programs of PostgreSQL are missing');
console.log(`${seconds} s, seed ${seed}; again with: npm run chaos -- ${seconds} ${seed}`);
const faultSeconds = Math.max(seconds / 3, seconds - QUIET_SECONDS);
const { memory, audits, faults, ends, holdsAfterLoad } = await runChaos({
  programs,
  seed,
  seconds,
  faultSeconds,
  say: console.log,
});

console.log(`\nfaults: ${[...faults].map(([name, count]) => `${count} x ${name}`).join('; ')}`);
for (const end of ends) console.log(`  ${end}`);
console.log('responses:');
for (const [kind, count] of [...memory.statuses].sort()) console.log(`  ${kind.padEnd(28)} ${count}`);
console.log(
  `${memory.quests.size} quests, ${memory.keys.size} keys, ${memory.reported.size} completions reported, ${memory.cut} cut off; ` +
    `${holdsAfterLoad} holds open after the load\n`,
);
for (const { name, wrong } of audits) {
  console.log(`${name.padEnd(36)} ${wrong.length}`);
  for (const line of wrong.slice(0, 10)) console.log(`    ${line}`);
}
process.exitCode = audits.some(({ wrong }) => wrong.length > 0) ? 1 : 0;
