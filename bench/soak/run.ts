import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openLedgerAudit } from './audit.ts';
import { createClient } from './client.ts';
import { createReport, inMB, type Point, slope } from './figures.ts';
import { startLoad } from './load.ts';
import { readLog } from './log.ts';
import { startProcess } from './process.ts';
import { FREE_CREDITS, openWorkload } from './workload.ts';

/*
 * Puts the self-hosted server under a mixed load: `npm run soak -- 30` (minutes), or QUESTLINE_SOAK_MINUTES.
 * QUESTLINE_SOAK_RATE: scenarios per second. Exits with 1 when a bound is broken.
 */

const minutes = Number(process.argv[2] ?? process.env.QUESTLINE_SOAK_MINUTES ?? 30);
const perSecond = Number(process.env.QUESTLINE_SOAK_RATE ?? 15);
if (!(minutes > 0 && minutes <= 24 * 60 && perSecond > 0 && perSecond <= 200)) {
  throw new RangeError('expected up to 1440 minutes, and up to 200 scenarios per second');
}

const SAMPLE_EVERY_MS = 5000;
/** Waits for idle connections to close. */
const QUIET_MS = 8000;
/** Caches fill in the first minutes, which is no leak. */
const [HEAP_MB_PER_MINUTE, RSS_MB_PER_MINUTE] = minutes < 10 ? [2, 8] : [0.2, 1];
/** Pending timers belong to jobs that are due later, such as uploads that expire. */
const TIMERS = 5;
const END_MS = 1000;
/** Credits of the demo account. */
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
const workload = await openWorkload(server, client);
const ledgerAudit = openLedgerAudit(join(folder, 'demo.db'));

// Runs each scenario once, so that lazily created objects exist before the first sample.
await startLoad(workload, { perSecond, seconds: 20 }).done;
const accounts = () => [...workload.ids].map((id) => `user:${id}`);
await ledgerAudit.settled(accounts());
await client.hangUp();
await pause(QUIET_MS);
const before = await server.sample();

console.log(`${minutes} minutes, ${perSecond} scenarios per second; the log is ${log}`);
const load = startLoad(workload, { perSecond, seconds: minutes * 60 });
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
        `${(points.at(-1)?.minutes ?? 0).toFixed(1)} min: heap ${inMB(heap)}, rss ${inMB(rss)}, ${load.begun} started`,
      );
    }
  }
})();
await load.done;
isOver = true;
await sampling;

await ledgerAudit.settled(accounts());
await client.hangUp();
await pause(QUIET_MS);
const after = await server.sample();
const counts = await ledgerAudit.counts();
const grants = accounts().map((account) => ({ account, amount: FREE_CREDITS * 1e6 }));
// The demo account has other credits, because it existed before.
const money = await ledgerAudit.audit(
  grants.map((grant, at) => (at === 0 ? { ...grant, amount: DEMO_CREDITS * 1e6 } : grant)),
);
await ledgerAudit.close();
const { stopMs, endMs } = await server.stop();
const reading = await readLog(log, client.secrets);

console.log('\nScenarios');
for (const [name, ends] of load.ends) {
  console.log(`  ${name.padEnd(20)} ${[...ends].map(([end, count]) => `${count} ${end}`).join(', ')}`);
}
console.log(`  answers: ${[...client.statuses].map(([kind, count]) => `${count} ${kind}`).join(', ')}`);
console.log(`  ${load.heldBack} skipped, because too many were running`);
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
report.figure('failed scenarios', load.failures.length, 0);
report.list(load.failures);
// The log includes requests whose client disconnected; some probes are not in it.
report.figure('responses with status 5xx', Math.max(client.faults.length, reading.faults), 0);
report.list(client.faults);
report.figure('unfinished jobs', counts.ready + counts.leased, 0);
report.figure('held after, micro-credits', money.held, 0);
report.figure('drift of the ledger, micro-credits', money.drift, 0);
report.figure('secrets in the log', reading.leaks.length, 0);
report.list(reading.leaks);
report.figure('errors in the log', reading.errors.length, 0);
report.list(reading.errors);
report.figure(
  'time until the process ended',
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
