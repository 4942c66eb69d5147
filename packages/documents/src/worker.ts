import { parentPort } from 'node:worker_threads';
import { type Outcome, type Reading, read } from './reading.ts';

/* The other thread. What goes wrong is told in words: errors of parsers do not always survive the way. */
parentPort?.on('message', async (reading: Reading) => {
  const outcome = await read(reading).then(
    (found): Outcome => ({ read: found }),
    (error: unknown): Outcome => ({ refused: error instanceof Error ? error.message : String(error) }),
  );
  parentPort?.postMessage(outcome);
});
