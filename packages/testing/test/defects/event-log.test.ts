import { createMemoryEventLog } from '@questline/core/memory';
import type { EventLog } from '@questline/core/ports';
import { createFakeClock, type EventLogSubject, eventLogCases, fakeTime } from '@questline/testing';
import { type Defect, defectTests, gap } from './red.ts';

function defect(
  name: string,
  red: readonly string[],
  spoil: (sound: EventLog) => Partial<EventLog>,
): Defect<EventLogSubject> {
  return {
    name,
    red,
    create: async () => {
      const clock = createFakeClock();
      const sound = createMemoryEventLog({ clock });
      return { eventLog: { ...sound, ...spoil(sound) }, time: fakeTime(clock) };
    },
  };
}

defectTests('event log', eventLogCases, [
  defect(
    'adds a repeated batch twice',
    ['refuses a repeated batch and reports the last sequence'],
    (sound) => ({
      async append(stream, batch) {
        const result = await sound.append(stream, batch);
        return result.isAppended ? result : sound.append(stream, { ...batch, after: result.last });
      },
    }),
  ),
  defect('ignores attempts', ['refuses an earlier attempt after a later one'], (sound) => ({
    append: (stream, batch) => sound.append(stream, { ...batch, attempt: 1 }),
  })),
  defect(
    'checks the position before it writes',
    ['adds exactly one of 40 parallel batches with the same position'],
    (sound) => ({
      async append(stream, batch, options) {
        options?.signal?.throwIfAborted();
        const isThere = (await sound.read(stream, batch.after + 1)) !== undefined;
        await gap();
        if (isThere) return sound.append(stream, batch);
        const { last } = await sound.append(stream, { ...batch, after: 1_000_000 });
        return sound.append(stream, { ...batch, after: last });
      },
    }),
  ),
  defect(
    'repeats the event at which a reader continues',
    ['continues after any sequence, also in the middle of a batch'],
    (sound) => ({
      read: (stream, after) => sound.read(stream, Math.max(0, after - 1)),
    }),
  ),
  defect(
    'continues only between batches',
    ['continues after any sequence, also in the middle of a batch'],
    (sound) => {
      const ends = new Map<string, number[]>();
      return {
        async append(stream, batch) {
          const result = await sound.append(stream, batch);
          if (result.isAppended) ends.set(stream, [...(ends.get(stream) ?? [0]), result.last]);
          return result;
        },
        read(stream, after) {
          const end = (ends.get(stream) ?? []).find((one) => one >= after);
          return sound.read(stream, end ?? after);
        },
      };
    },
  ),
  defect(
    'returns an empty list for a sequence that is gone',
    ['returns nothing later at the end, and undefined for a sequence that the stream does not have'],
    (sound) => ({ read: async (stream, after) => (await sound.read(stream, after)) ?? [] }),
  ),
  // Every other expectation about its events holds: readers only cannot wait at the end.
  defect('reports the end of a stream as unknown', ['keeps streams apart'], (sound) => ({
    async read(stream, after) {
      const page = await sound.read(stream, after);
      return after > 0 && page?.length === 0 ? undefined : page;
    },
  })),
  defect('cuts long streams', ['reads a long stream in pages without a gap'], (sound) => ({
    read: async (stream, after) => (after >= 1000 ? [] : sound.read(stream, after)),
  })),
  defect(
    'numbers events anew when it joins batches',
    ['still refuses repeated batches and earlier attempts after joining, and continues'],
    (sound) => {
      const joined = new Set<string>();
      return {
        compact: async (stream) => void joined.add(stream),
        append: (stream, batch) =>
          sound.append(stream, joined.has(stream) ? { ...batch, attempt: 9 } : batch),
      };
    },
  ),
  defect(
    'loses what arrives while it joins batches',
    ['loses and repeats nothing when batches are joined during appends'],
    (sound) => {
      let isJoining = false;
      return {
        async compact(stream, keepMs) {
          isJoining = true;
          await gap();
          isJoining = false;
          await sound.compact(stream, keepMs);
        },
        async append(stream, batch) {
          if (!isJoining) return sound.append(stream, batch);
          return { isAppended: true, last: batch.after + batch.events.length, attempt: batch.attempt };
        },
      };
    },
  ),
  defect(
    'keeps a stream for the time of its first batch',
    ['keeps a stream for the time of its last batch, and deletes it afterwards as a whole'],
    (sound) => {
      const kept = new Map<string, number>();
      return {
        append(stream, batch) {
          const keepMs = kept.get(stream) ?? batch.keepMs;
          kept.set(stream, keepMs);
          return sound.append(stream, { ...batch, keepMs: Math.min(keepMs, batch.keepMs) / 2 });
        },
      };
    },
  ),
  defect(
    'never deletes',
    [
      'keeps a stream for the time of its last batch, and deletes it afterwards as a whole',
      'keeps a joined stream for the given time, shorter or longer than before',
      'counts the streams that it deletes',
    ],
    () => ({ expire: async () => 0 }),
  ),
]);
