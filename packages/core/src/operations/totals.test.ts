import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import { type Collection, defineCollection, type StoredRecord } from '../ports/store.ts';
import { createTotals } from './totals.ts';

interface Thing extends StoredRecord {
  readonly name: string;
}

const THINGS = defineCollection<Thing>({
  name: 'things',
  columns: { name: 'text' },
  unique: [],
  indexes: [],
});

/** @param size the records that it counts. */
function countedThings(size: { records: number; counts: number }): Collection<Thing> {
  return {
    ...createMemoryStore().collection(THINGS),
    async count() {
      size.counts += 1;
      return size.records;
    },
  };
}

describe('total of a list', () => {
  it('is exact up to 10,000 records', async () => {
    const size = { records: 9_999, counts: 0 };
    const things = countedThings(size);
    const count = createTotals<Thing>({ clock: createFakeClock() });
    expect(await count(things, {})).toBe(9_999);
    size.records = 10_000;
    expect(await count(things, {})).toBe(10_000);
    size.records = 9_998;
    expect(await count(things, {})).toBe(9_998);
  });

  it('is counted once in 30 seconds for each filter above', async () => {
    const size = { records: 1_000_000, counts: 0 };
    const things = countedThings(size);
    const clock = createFakeClock();
    const count = createTotals<Thing>({ clock });
    expect(await count(things, {})).toBe(1_000_000);
    size.records += 1;
    expect(await count(things, {})).toBe(1_000_000);
    expect(await count(things, { name: 'other' })).toBe(1_000_001);
    expect(size.counts).toBe(2);
    await clock.advance(30_000);
    expect(await count(things, {})).toBe(1_000_001);
  });
});
