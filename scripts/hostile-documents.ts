import { createCeiling } from '../test/files/hostile/ceiling.ts';
import { runHostileDocuments } from '../test/files/hostile/run.ts';

/*
 * Sends hostile documents to the self-hosted server under a memory limit: `npm run hostile-documents -- 200
 * 1024` (documents, MiB). Needs a memory control group, and so root. Exits with 1 when the server ended
 * unexpectedly, or when another user's small document took 2 s or more.
 */

const documents = Number(process.argv[2] ?? 200);
const megabytes = Number(process.argv[3] ?? 1024);
const MAX_BYSTANDER_MS = 2000;

const ceiling = createCeiling(megabytes * 2 ** 20);
if (ceiling === undefined) {
  console.error('memory control groups are not available: run as root on Linux');
  process.exit(2);
}
const report = await runHostileDocuments({
  documents,
  scale: 1,
  ceiling,
  print: (line) => console.log(line),
});
const { bystander, ...rest } = report;
console.log(
  JSON.stringify({ ...rest, peakMemory: `${Math.round(rest.peakMemory / 2 ** 20)} MiB` }, undefined, 2),
);
let worst = 0;
for (const [where, times] of Object.entries(bystander)) {
  const last = times.at(-1) ?? 0;
  worst = Math.max(worst, last);
  const median = times[times.length >> 1] ?? 0;
  console.log(
    `small document, ${where}: ${times.length} read, median ${Math.round(median)} ms, worst ${Math.round(last)} ms`,
  );
}
process.exit(report.crashes === 0 && worst < MAX_BYSTANDER_MS ? 0 : 1);
