import { setImmediate as turn } from 'node:timers/promises';

/** Counts the turns of the event loop until work is done. */
export async function countTurns(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const done = work.then(() => {
    isDone = true;
  });
  // Work that never waits is done before the first turn.
  for (let step = 0; step < 20; step += 1) await Promise.resolve();
  while (!isDone) {
    await turn();
    turns += 1;
  }
  await done;
  return turns;
}
