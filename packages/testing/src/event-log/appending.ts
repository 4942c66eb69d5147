import type { Json } from '@questline/core/ports';
import { expect } from 'vitest';
import { aborting } from '../parallel.ts';
import { add, type EventLogCase, LONG_MS, numbered, readAll } from './subject.ts';

const behaviour: readonly EventLogCase[] = [
  {
    name: 'returns events in order and unchanged, numbered from 1',
    section: 'behaviour',
    async run({ eventLog, peers = [] }) {
      const events: Json[] = [
        { type: 'text', text: 'caf\u00e9 \u{1f30d}\n"quoted" \\ \r\n\u0000\u2028' },
        { nested: { list: [1, -2.5, null, true, ''] } },
        'text',
        [],
      ];
      await add(eventLog, 'quest', 0, events.slice(0, 1));
      await add(eventLog, 'quest', 1, events.slice(1));
      for (const log of [eventLog, ...peers]) expect(await readAll(log, 'quest')).toEqual(events);
    },
  },
  {
    name: 'keeps streams apart',
    section: 'behaviour',
    async run({ eventLog }) {
      const names = ['quest', 'quest:1', 'quest:10', 'QUEST', 'quest ', '%', 'q'.repeat(200)];
      for (const name of names) await add(eventLog, name, 0, [name]);
      for (const name of names) expect(await readAll(eventLog, name)).toEqual([name]);
    },
  },
  {
    name: 'continues after any sequence, also in the middle of a batch',
    section: 'behaviour',
    async run({ eventLog }) {
      const events = numbered(30);
      await add(eventLog, 'quest', 0, events.slice(0, 7));
      await add(eventLog, 'quest', 7, events.slice(7, 8));
      await add(eventLog, 'quest', 8, events.slice(8));
      for (let after = 0; after <= 30; after += 1) {
        expect(await readAll(eventLog, 'quest', after)).toEqual(events.slice(after));
      }
    },
  },
  {
    name: 'returns nothing later at the end, and undefined for a sequence that the stream does not have',
    section: 'behaviour',
    async run({ eventLog }) {
      expect(await eventLog.read('quest', 0)).toEqual([]);
      expect(await eventLog.read('quest', 1)).toBeUndefined();
      await add(eventLog, 'quest', 0, numbered(3));
      expect(await eventLog.read('quest', 3)).toEqual([]);
      expect(await eventLog.read('quest', 4)).toBeUndefined();
      expect(await eventLog.read('quest', 1_000_000)).toBeUndefined();
    },
  },
  {
    name: 'reads a long stream in pages without a gap',
    section: 'behaviour',
    async run({ eventLog }) {
      const events = numbered(2600);
      for (let at = 0; at < 100; at += 10) await add(eventLog, 'quest', at, events.slice(at, at + 10));
      await add(eventLog, 'quest', 100, events.slice(100, 1100));
      await add(eventLog, 'quest', 1100, events.slice(1100, 2100));
      await add(eventLog, 'quest', 2100, events.slice(2100));
      expect(await readAll(eventLog, 'quest')).toEqual(events);
      expect(await readAll(eventLog, 'quest', 1234)).toEqual(events.slice(1234));
    },
  },
  {
    name: 'stores events of 256 KiB',
    section: 'behaviour',
    async run({ eventLog }) {
      const events = [{ text: 'a'.repeat(262_144) }, { text: '\u{1f30d}'.repeat(65_536) }, 'end'];
      await add(eventLog, 'quest', 0, events);
      expect(await readAll(eventLog, 'quest')).toEqual(events);
    },
  },
  {
    name: 'refuses a repeated batch and reports the last sequence',
    section: 'behaviour',
    async run({ eventLog, peers = [] }) {
      const batch = { attempt: 1, after: 0, events: numbered(2), keepMs: LONG_MS };
      await add(eventLog, 'quest', 0, batch.events);
      for (const log of [eventLog, ...peers]) {
        expect(await log.append('quest', batch)).toEqual({ isAppended: false, last: 2, attempt: 1 });
      }
      expect(await readAll(eventLog, 'quest')).toEqual(batch.events);
    },
  },
  {
    name: 'refuses a batch that would leave a gap',
    section: 'behaviour',
    async run({ eventLog }) {
      const batch = { attempt: 1, after: 5, events: ['late'], keepMs: LONG_MS };
      expect(await eventLog.append('quest', batch)).toEqual({ isAppended: false, last: 0, attempt: 0 });
      await add(eventLog, 'quest', 0, numbered(4));
      expect(await eventLog.append('quest', batch)).toEqual({ isAppended: false, last: 4, attempt: 1 });
      expect(await readAll(eventLog, 'quest')).toEqual(numbered(4));
    },
  },
  {
    name: 'refuses an earlier attempt after a later one',
    section: 'behaviour',
    async run({ eventLog, peers = [] }) {
      await add(eventLog, 'quest', 0, ['first']);
      await add(eventLog, 'quest', 1, ['second'], { attempt: 2 });
      for (const log of [eventLog, ...peers]) {
        const late = { attempt: 1, after: 2, events: ['late'], keepMs: LONG_MS };
        expect(await log.append('quest', late)).toEqual({ isAppended: false, last: 2, attempt: 2 });
      }
      await add(eventLog, 'quest', 2, ['third'], { attempt: 2 });
      expect(await readAll(eventLog, 'quest')).toEqual(['first', 'second', 'third']);
    },
  },
];

const aborts: readonly EventLogCase[] = (['before', 'during'] as const).map((when) => ({
  name: `adds a whole batch or nothing when it is aborted ${when} the call`,
  section: 'abort',
  async run({ eventLog }) {
    await add(eventLog, 'quest', 0, ['first']);
    const batch = { attempt: 1, after: 1, events: numbered(50), keepMs: LONG_MS };
    await aborting(when, (signal) => eventLog.append('quest', batch, { signal }));
    // Shows that the stream still works, and orders the check after the aborted call.
    const again = await eventLog.append('quest', batch);
    expect(again.last).toBe(51);
    expect(await readAll(eventLog, 'quest')).toEqual(['first', ...numbered(50)]);
  },
}));

export const appendingCases: readonly EventLogCase[] = [...behaviour, ...aborts];
