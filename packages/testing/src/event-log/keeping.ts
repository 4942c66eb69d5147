import { expect } from 'vitest';
import { add, type EventLogCase, LONG_MS, numbered, readAll } from './subject.ts';

export const keepingCases: readonly EventLogCase[] = [
  {
    name: 'changes nothing for readers when it joins the batches of a stream',
    section: 'behaviour',
    async run({ eventLog, peers = [] }) {
      const events = numbered(60);
      for (let at = 0; at < 60; at += 3) await add(eventLog, 'quest', at, events.slice(at, at + 3));
      await add(eventLog, 'other', 0, ['other']);
      await eventLog.compact('quest', LONG_MS);
      for (const log of [eventLog, ...peers]) {
        for (const after of [0, 1, 2, 3, 31, 59, 60]) {
          expect(await readAll(log, 'quest', after)).toEqual(events.slice(after));
        }
      }
      expect(await readAll(eventLog, 'other')).toEqual(['other']);
    },
  },
  {
    name: 'still refuses repeated batches and earlier attempts after joining, and continues',
    section: 'behaviour',
    async run({ eventLog }) {
      await add(eventLog, 'quest', 0, numbered(2));
      await add(eventLog, 'quest', 2, numbered(2, 3), { attempt: 3 });
      await eventLog.compact('quest', LONG_MS);
      await eventLog.compact('quest', LONG_MS);
      for (const late of [
        { attempt: 3, after: 2 },
        { attempt: 2, after: 4 },
        { attempt: 3, after: 0 },
      ]) {
        const result = await eventLog.append('quest', { ...late, events: ['late'], keepMs: LONG_MS });
        expect(result).toEqual({ isAppended: false, last: 4, attempt: 3 });
      }
      await add(eventLog, 'quest', 4, ['more'], { attempt: 3 });
      expect(await readAll(eventLog, 'quest')).toEqual([...numbered(4), 'more']);
    },
  },
  {
    name: 'joins more events than one stored batch holds',
    section: 'behaviour',
    async run({ eventLog }) {
      const events = Array.from({ length: 24 }, (_, at) => `${at} ${'x'.repeat(20_000)}`);
      for (const [at, event] of events.entries()) await add(eventLog, 'quest', at, [event]);
      await eventLog.compact('quest', LONG_MS);
      expect(await readAll(eventLog, 'quest')).toEqual(events);
    },
  },
  {
    name: 'joins nothing in an unknown stream',
    section: 'behaviour',
    async run({ eventLog }) {
      await eventLog.compact('unknown', LONG_MS);
      expect(await eventLog.read('unknown', 0)).toEqual([]);
      await add(eventLog, 'unknown', 0, ['first']);
    },
  },
  {
    name: 'keeps a stream for the time of its last batch, and deletes it afterwards as a whole',
    section: 'behaviour',
    async run({ eventLog, time }) {
      await add(eventLog, 'quest', 0, ['first'], { keepMs: 2 * time.unit });
      await add(eventLog, 'lasting', 0, ['lasting'], { keepMs: 100 * time.unit });
      await time.advance(time.unit);
      await add(eventLog, 'quest', 1, ['second'], { keepMs: 3 * time.unit });
      await time.advance(1.5 * time.unit);
      await eventLog.expire();
      expect(await readAll(eventLog, 'quest')).toEqual(['first', 'second']);
      await time.advance(2 * time.unit);
      await eventLog.expire();
      expect(await eventLog.read('quest', 0)).toEqual([]);
      expect(await eventLog.read('quest', 1)).toBeUndefined();
      expect(await readAll(eventLog, 'lasting')).toEqual(['lasting']);
      await add(eventLog, 'quest', 0, ['anew']);
    },
  },
  {
    name: 'keeps a joined stream for the given time, shorter or longer than before',
    section: 'behaviour',
    async run({ eventLog, time }) {
      await add(eventLog, 'shorter', 0, ['one'], { keepMs: 100 * time.unit });
      await add(eventLog, 'shorter', 1, ['two'], { keepMs: 100 * time.unit });
      await add(eventLog, 'longer', 0, ['one'], { keepMs: 2 * time.unit });
      await eventLog.compact('shorter', 2 * time.unit);
      await eventLog.compact('longer', 100 * time.unit);
      await time.advance(time.unit);
      await eventLog.expire();
      expect(await readAll(eventLog, 'shorter')).toEqual(['one', 'two']);
      await time.advance(2 * time.unit);
      await eventLog.expire();
      expect(await eventLog.read('shorter', 0)).toEqual([]);
      expect(await readAll(eventLog, 'longer')).toEqual(['one']);
    },
  },
  {
    name: 'counts the streams that it deletes',
    section: 'behaviour',
    needsExactTime: true,
    async run({ eventLog, time }) {
      for (const name of ['a', 'b', 'c']) {
        await add(eventLog, name, 0, numbered(2), { keepMs: time.unit });
        await add(eventLog, name, 2, numbered(2), { keepMs: time.unit });
      }
      await time.advance(time.unit - 1);
      expect(await eventLog.expire()).toBe(0);
      await time.advance(1);
      expect(await eventLog.expire()).toBe(3);
      expect(await eventLog.expire()).toBe(0);
    },
  },
];
