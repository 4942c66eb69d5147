import { setImmediate } from 'node:timers/promises';
import type { EventLog, Json } from '@questline/core/ports';
import { expect } from 'vitest';
import { inParallel } from '../parallel.ts';
import { add, type EventLogCase, LONG_MS, numbered, readAll } from './subject.ts';

/** Appends events one by one as a worker does, until it is refused for good. @returns the added events. */
async function write(log: EventLog, attempt: number, count: number) {
  const added: Json[] = [];
  let after = 0;
  while (added.length < count) {
    const event = `${attempt}: ${added.length}`;
    const result = await log.append('quest', { attempt, after, events: [event], keepMs: LONG_MS });
    if (result.isAppended) added.push(event);
    else if (result.attempt > attempt) return added;
    after = result.last;
  }
  return added;
}

export const raceCases: readonly EventLogCase[] = [
  {
    name: 'adds exactly one of 40 parallel batches with the same position',
    section: 'race',
    async run({ eventLog, peers = [] }) {
      await add(eventLog, 'quest', 0, ['first']);
      for (const after of [1, 3]) {
        const results = await inParallel(40, [eventLog, ...peers], (log, at) =>
          log.append('quest', {
            attempt: 1,
            after,
            events: [`writer ${at}`, `writer ${at} again`],
            keepMs: LONG_MS,
          }),
        );
        expect(results.filter(({ isAppended }) => isAppended)).toHaveLength(1);
        expect(new Set(results.map(({ last }) => last))).toEqual(new Set([after + 2]));
      }
      const events = await readAll(eventLog, 'quest');
      expect(events).toHaveLength(5);
      expect(events[2]).toBe(`${String(events[1])} again`);
      expect(events[4]).toBe(`${String(events[3])} again`);
    },
  },
  {
    name: 'adds nothing of an earlier attempt after a later one',
    section: 'race',
    async run({ eventLog, peers = [] }) {
      const logs = [eventLog, ...peers];
      const written = await inParallel(3, logs, (log, at) => write(log, at + 1, 15));
      const events = (await readAll(eventLog, 'quest')).map(String);
      const attempts = events.map((event) => Number.parseInt(event, 10));
      expect(attempts).toEqual([...attempts].sort((a, b) => a - b));
      for (const [at, added] of written.entries()) {
        expect(events.filter((event) => event.startsWith(`${at + 1}:`))).toEqual(added);
      }
    },
  },
  {
    name: 'loses and repeats nothing when batches are joined during appends',
    section: 'race',
    async run({ eventLog, peers = [] }) {
      const other = peers[0] ?? eventLog;
      let isOver = false;
      const joining = async (): Promise<void> => {
        while (!isOver) {
          await other.compact('quest', LONG_MS);
          // A log in memory must not keep the event loop busy.
          await setImmediate();
        }
      };
      const joins = joining();
      const added = await write(eventLog, 1, 40).finally(() => {
        isOver = true;
      });
      await joins;
      expect(await readAll(other, 'quest')).toEqual(added);
    },
  },
  {
    name: 'joins batches once when several handles do it at the same time',
    section: 'race',
    async run({ eventLog, peers = [] }) {
      const events = numbered(40);
      for (let at = 0; at < 40; at += 2) await add(eventLog, 'quest', at, events.slice(at, at + 2));
      await inParallel(6, [eventLog, ...peers], (log) => log.compact('quest', LONG_MS));
      expect(await readAll(eventLog, 'quest')).toEqual(events);
    },
  },
];
