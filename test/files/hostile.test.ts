import { expect, it } from 'vitest';
import { createCeiling } from './hostile/ceiling.ts';
import { runHostileDocuments } from './hostile/run.ts';

const DOCUMENTS = 8;
/** Most of the time the run waits for the lease of the killed server to expire. A busy machine needs more than 240 s. */
const TIMEOUT_MS = 600_000;

it(`survives ${DOCUMENTS} hostile documents in chats and a data lake with 1 GiB of memory, and reads small documents of another user meanwhile`, {
  timeout: TIMEOUT_MS + 10_000,
}, async ({ skip }) => {
  const ceiling = createCeiling(2 ** 30);
  if (ceiling === undefined) return skip('memory control groups are not available here');
  const report = await runHostileDocuments({
    documents: DOCUMENTS,
    scale: 0.1,
    ceiling,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const { bystander, crashes, peakMemory, outcomes } = report;
  console.info(
    `hostile documents: ${JSON.stringify(outcomes)}, peak ${Math.round(peakMemory / 2 ** 20)} MiB, small documents read meanwhile: ${bystander.lake.length} in a lake, ${bystander.chat.length} in chats`,
  );
  expect(crashes).toBe(0);
  expect(Object.values(outcomes).reduce((sum, count) => sum + count, 0)).toBe(DOCUMENTS);
  expect(bystander.lake.length).toBeGreaterThan(1);
  expect(bystander.chat.length).toBeGreaterThan(1);
});
