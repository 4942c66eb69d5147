import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openBooks } from './audit.ts';
import { createClient } from './client.ts';
import { createReport, inMB, type Point, slope } from './figures.ts';
import { startLoad } from './load.ts';
import { readLog } from './log.ts';
import { FREE_CREDITS, openTown } from './people.ts';
import { startProcess } from './process.ts';

/*
 * The self-hosted server under a mixed load for a while: `npm run soak -- 30` (minutes), or QUESTLINE_SOAK_MINUTES.
 * QUESTLINE_SOAK_RATE: errands begun per second. Exits with 1 when a bound is broken.
 */

const minutes = Number(process.argv[2] ?? process.env.QUESTLINE_SOAK_MINUTES ?? 30);
const perSecond = Number(process.env.QUESTLINE_SOAK_RATE ?? 15);
if (!(minutes > 0 && minutes <= 24 * 60 && perSecond > 0 && perSecond <= 200)) {
  throw new RangeError('expected up to 1440 minutes, and up to 200 errands per second');
}

const SAMPLE_EVERY_MS = 5000;
/** Idle connections and what they keep have gone by then. */
const QUIET_MS = 8000;
/** Caches fill up at first: what grows in a few minutes is no leak yet. */
const [HEAP_MB_PER_MINUTE, RSS_MB_PER_MINUTE] = minutes < 10 ? [2, 8] : [0.2, 1];
/** Pending timers belong to what is due later, e.g. uploads that lapse. */
const TIMERS = 5;
const END_MS = 1000;
/** What the demo account is given. */
const DEMO_CREDITS = 1000;

const folder = mkdtempSync(join(tmpdir(), 'questline-soak-'));
const log = join(folder, 'server.log');
const metricsToken = randomBytes(24).toString('base64url');
const server = await startProcess(
  {
    STORAGE_DIR: folder,
    PORT: '0',
    TRUST_PROXY: 'true',
    QUESTLINE_REALTIME: 'true',
    METRICS_TOKEN: metricsToken,
  },
  log,
);
const client = createClient(server.url);
client.secrets.add(metricsToken);
const town = await openTown(server, client);
const books = openBooks(join(folder, 'demo.db'));

// Once through everything, so that what is made at its first use is there before anything is compared.
await startLoad(town, { perSecond, seconds: 20 }).done;
const accounts = () => [...town.ids].map((id) => `user:${id}`);
await books.settled(accounts());
await client.hangUp();
await pause(QUIET_MS);
const before = await server.sample();

console.log(`${minutes} minutes, ${perSecond} errands a second; the log is ${log}`);
const load = startLoad(town, { perSecond, seconds: minutes * 60 });
const points: Point[] = [];
const began = performance.now();
let isOver = false;
const sampling = (async () => {
  while (!isOver) {
    await pause(SAMPLE_EVERY_MS);
    const { heap, rss } = await server.sample();
    points.push({ minutes: (performance.now() - began) / 60_000, heap, rss });
    if (points.length % 12 === 1) {
      console.log(
        `${(points.at(-1)?.minutes ?? 0).toFixed(1)} min: heap ${inMB(heap)}, rss ${inMB(rss)}, ${load.begun} begun`,
      );
    }
  }
})();
await load.done;
isOver = true;
await sampling;

await books.settled(accounts());
await client.hangUp();
await pause(QUIET_MS);
const after = await server.sample();
const counts = await books.counts();
const grants = accounts().map((account) => ({ account, amount: FREE_CREDITS * 1e6 }));
// The demo account, which was there first, has been given something else.
const money = await books.audit(
  grants.map((grant, at) => (at === 0 ? { ...grant, amount: DEMO_CREDITS * 1e6 } : grant)),
);
await books.close();
const { stopMs, endMs } = await server.stop();
const reading = await readLog(log, client.secrets);

console.log('\nErrands');
for (const [name, ends] of load.ends) {
  console.log(`  ${name.padEnd(20)} ${[...ends].map(([end, count]) => `${count} ${end}`).join(', ')}`);
}
console.log(`  answers: ${[...client.statuses].map(([kind, count]) => `${count} ${kind}`).join(', ')}`);
console.log(`  ${load.heldBack} not begun, because too many were under way`);
console.log(
  `  ${money.entries} entries of ${grants.length} accounts; ${client.secrets.size} secrets in ${reading.lines} lines of log\n`,
);

const report = createReport();
const [first, last] = [points[points.length >> 1], points.at(-1)];
for (const what of ['heap', 'rss'] as const) {
  const bound = what === 'heap' ? HEAP_MB_PER_MINUTE : RSS_MB_PER_MINUTE;
  const details = `${inMB(first?.[what] ?? 0)} to ${inMB(last?.[what] ?? 0)}`;
  report.figure(`${what}, second half`, slope(points, what), bound, ' MB/min', details);
}
for (const kind of new Set([...Object.keys(before.handles), ...Object.keys(after.handles)])) {
  const [was, is] = [before.handles[kind] ?? 0, after.handles[kind] ?? 0];
  report.figure(`handles: ${kind}`, is, was + (kind === 'Timeout' ? TIMERS : 0), '', `${was} before`);
}
report.figure('errands that failed', load.failures.length, 0);
report.list(load.failures);
// The log tells of those, too, that nobody waited for; some probes are not in it.
report.figure('answers that were its fault (5xx)', Math.max(client.faults.length, reading.faults), 0);
report.list(client.faults);
report.figure('jobs still waiting or in hand', counts.ready + counts.leased, 0);
report.figure('held after, micro-credits', money.held, 0);
report.figure('drift of the ledger, micro-credits', money.drift, 0);
report.figure('secrets in the log', reading.leaks.length, 0);
report.list(reading.leaks);
report.figure('errors in the log', reading.errors.length, 0);
report.list(reading.errors);
report.figure(
  'until the process had ended',
  endMs,
  END_MS,
  ' ms',
  `after ${stopMs.toFixed(0)} ms of stopping`,
);

if (report.isBroken) {
  console.log(`\nThe log is kept: ${log}`);
  process.exitCode = 1;
} else {
  rmSync(folder, { recursive: true, force: true });
}
