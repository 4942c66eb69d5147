import type { Publisher } from '@questline/core/ports';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { onTestFinished } from 'vitest';
import { createSqlQueue, migrate } from '../src/index.ts';
import { SQLITE_MEMORY } from './engines.ts';

/** The delay of a notice, as a share of 25 ms. */
export const [NONE, WHOLE] = [0, 255];

/** Two processes on one database, with a publisher that both share. */
export async function setUpNotices(
  delay: number,
  change: (publisher: Publisher) => Publisher = (own) => own,
) {
  const { database, close } = await SQLITE_MEMORY.open();
  onTestFinished(close);
  await migrate(database, { collections: [] });
  const clock = createFakeClock();
  const published: string[] = [];
  const open = { count: 0, began: 0 };
  const listeners = new Set<(message: string) => void>();
  const publisher = change({
    async publish(topic, message) {
      published.push(topic);
      for (const listener of listeners) listener(message);
    },
    async subscribe(_topic, listener) {
      listeners.add(listener);
      open.count += 1;
      open.began += 1;
      return async () => {
        listeners.delete(listener);
        open.count -= 1;
      };
    },
  });
  const ids = { ...createFakeIds(), bytes: () => Uint8Array.of(delay) };
  const start = () => createSqlQueue(database, { clock, ids, publisher });
  const [here, there] = [start(), start()];
  const calls = { here: 0, there: 0 };
  const listen = (name: 'here' | 'there') =>
    (name === 'here' ? here : there).onReady(() => {
      calls[name] += 1;
    });
  let last = 0;
  const enqueue = (more: object = {}) => {
    last += 1;
    return here.enqueue({ kind: 'work', key: `k${last}`, payload: {}, ...more });
  };
  return { clock, here, start, published, open, calls, listen, enqueue };
}
