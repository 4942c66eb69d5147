import { createMemoryExpiringRecords } from '@questline/core/memory';
import type { ExpiringRecords } from '@questline/core/ports';
import fc from 'fast-check';
import { expect } from 'vitest';
import { aborting, inParallel } from './parallel.ts';
import { type Case, getRuns, registerSuite, type Subject, type SuiteOptions } from './suite.ts';

export interface ExpiringSubject extends Subject {
  readonly records: ExpiringRecords;
  /** Further handles on the same engine, like other processes. Concurrency cases use all of them. */
  readonly peers?: readonly ExpiringRecords[];
}

export type ExpiringCase = Case<ExpiringSubject>;

/** In units: longer than any case. */
const LONG = 40;
const WHEN = ['before', 'during'] as const;

const all = ({ records, peers = [] }: ExpiringSubject) => [records, ...peers];

const behaviour: readonly ExpiringCase[] = [
  {
    name: 'keeps a created record until it is taken or removed',
    section: 'behaviour',
    async run({ records, time }) {
      const life = LONG * time.unit;
      const value = 'caf\u00e9 \u{1f30d}\n"quoted" \\';
      expect(await records.get('a')).toBeUndefined();
      expect(await records.create('a', value, life)).toBe(true);
      expect(await records.create('b', '', life)).toBe(true);
      expect([await records.get('a'), await records.get('a'), await records.get('b')]).toEqual([
        value,
        value,
        '',
      ]);
      expect(await records.take('a')).toBe(value);
      expect([await records.get('a'), await records.take('a')]).toEqual([undefined, undefined]);
      await records.remove('b');
      await records.remove('b');
      expect(await records.get('b')).toBeUndefined();
    },
  },
  {
    name: 'rejects creation under a key in use and keeps its record',
    section: 'behaviour',
    async run({ records, time }) {
      const life = LONG * time.unit;
      await records.create('a', 'first', life);
      expect(await records.create('a', 'second', life)).toBe(false);
      expect(await records.get('a')).toBe('first');
      await records.take('a');
      expect(await records.create('a', 'second', life)).toBe(true);
    },
  },
  {
    name: 'replaces the value and its expiry on set',
    section: 'behaviour',
    async run({ records, time }) {
      await records.create('a', 'first', time.unit);
      await records.set('a', 'second', LONG * time.unit);
      await records.set('b', 'long', LONG * time.unit);
      await records.set('b', 'short', time.unit);
      await time.advance(1.5 * time.unit);
      expect([await records.get('a'), await records.get('b')]).toEqual(['second', undefined]);
    },
  },
  {
    name: 'treats an expired record as absent',
    section: 'behaviour',
    async run({ records, time }) {
      for (const key of ['a', 'b', 'c']) await records.create(key, 'first', time.unit);
      await time.advance(1.5 * time.unit);
      expect([await records.get('a'), await records.take('b')]).toEqual([undefined, undefined]);
      expect(await records.create('c', 'second', LONG * time.unit)).toBe(true);
      expect(await records.get('c')).toBe('second');
    },
  },
  {
    name: 'does not extend a record when creation under its key is rejected',
    section: 'behaviour',
    async run({ records, time }) {
      await records.create('a', 'first', time.unit);
      await records.create('a', 'second', LONG * time.unit);
      await time.advance(1.5 * time.unit);
      expect(await records.get('a')).toBeUndefined();
    },
  },
  {
    name: 'expires a record to the millisecond',
    section: 'behaviour',
    needsExactTime: true,
    async run({ records, time }) {
      await records.create('a', 'first', time.unit);
      await time.advance(time.unit - 1);
      expect(await records.get('a')).toBe('first');
      await time.advance(1);
      expect(await records.get('a')).toBeUndefined();
    },
  },
];

const races: readonly ExpiringCase[] = [
  {
    name: 'creates one record in 50 parallel creations of one key',
    section: 'race',
    async run(subject) {
      const life = LONG * subject.time.unit;
      for (let round = 0; round < 3; round += 1) {
        const made = await inParallel(50, all(subject), (records, at) =>
          records.create(`round ${round}`, `${at}`, life),
        );
        expect(made.filter(Boolean)).toHaveLength(1);
        expect(await subject.records.get(`round ${round}`)).toBe(`${made.indexOf(true)}`);
      }
    },
  },
  {
    name: 'gives a record to one of 50 parallel takes',
    section: 'race',
    async run(subject) {
      for (let round = 0; round < 3; round += 1) {
        await subject.records.set('a', 'once', LONG * subject.time.unit);
        const taken = await inParallel(50, all(subject), (records) => records.take('a'));
        expect(taken.filter((value) => value === 'once')).toHaveLength(1);
        expect(taken.filter((value) => value === undefined)).toHaveLength(49);
      }
    },
  },
];

const aborts: readonly ExpiringCase[] = WHEN.map((when) => ({
  name: `leaves a whole record or none when creation is aborted ${when} the call`,
  section: 'abort',
  async run({ records, time }) {
    const life = LONG * time.unit;
    const made = await aborting(when, (signal) => records.create('a', 'value', life, { signal }));
    const kept = await records.get('a');
    expect(['value', undefined]).toContain(kept);
    if (made.isDone) expect(kept).toBe('value');
    await records.set('a', 'value', life);
    const taken = await aborting(when, (signal) => records.take('a', { signal }));
    const left = await records.get('a');
    expect(['value', undefined]).toContain(left);
    if (taken.isDone) expect([taken.value, left]).toEqual(['value', undefined]);
  },
}));

const step = fc.record({
  do: fc.constantFrom('create', 'get', 'take', 'set', 'remove', 'advance'),
  key: fc.constantFrom('a', 'b', 'c'),
  value: fc.string({ maxLength: 8 }),
  isShort: fc.boolean(),
});

const random: readonly ExpiringCase[] = [
  {
    name: 'behaves like the reference for any sequence of calls',
    section: 'random',
    async run({ records, time }, options) {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 50 }), async (steps) => {
          run += 1;
          const clock = { now: () => time.now(), timer: () => () => undefined };
          const reference = createMemoryExpiringRecords({ clock });
          for (const { do: what, key, value, isShort } of steps) {
            if (what === 'advance' && time.isExact) await time.advance(time.unit / 2);
            const life = isShort && time.isExact ? time.unit : LONG * time.unit;
            const perform = (one: ExpiringRecords) => {
              const name = `${run} ${key}`;
              if (what === 'create') return one.create(name, value, life);
              if (what === 'get') return one.get(name);
              if (what === 'take') return one.take(name);
              return what === 'set' ? one.set(name, value, life) : one.remove(name);
            };
            expect(await perform(records)).toEqual(await perform(reference));
          }
        }),
        getRuns(options),
      );
    },
  },
];

/** The cases of every `ExpiringRecords`. */
export const expiringCases: readonly ExpiringCase[] = [...behaviour, ...races, ...aborts, ...random];

/** Registers the conformance suite of `ExpiringRecords` as tests. */
export function expiringSuite(options: SuiteOptions<ExpiringSubject>): void {
  registerSuite('short-lived records', expiringCases, options);
}
