import { createRandom } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { compareValues } from './compare.ts';
import { type Bound, createSortedKeys, type SortKey } from './sorted.ts';

const toKey = (number: number): SortKey => [number % 7, `k${String(number).padStart(5, '0')}`];

function compareKeys(a: SortKey, b: SortKey): number {
  return compareValues(a[0] ?? null, b[0] ?? null) || compareValues(a[1] ?? null, b[1] ?? null);
}

/** The number of keys before a bound, counted one by one. */
function countBefore(keys: readonly SortKey[], { prefix, side }: Bound): number {
  return keys.filter((key) => {
    const order = compareKeys(key.slice(0, prefix.length), prefix);
    return order < 0 || (order === 0 && side === 'behind');
  }).length;
}

/** Keys beside a plain list of the same ones. */
function setUp() {
  const sorted = createSortedKeys();
  const plain: SortKey[] = [];
  return {
    sorted,
    plain,
    insert(key: SortKey) {
      sorted.insert(key);
      plain.push(key);
      plain.sort(compareKeys);
    },
    remove(key: SortKey) {
      sorted.remove(key);
      const at = plain.findIndex((one) => compareKeys(one, key) === 0);
      if (at >= 0) plain.splice(at, 1);
    },
    check() {
      expect(sorted.size()).toBe(plain.length);
      expect([...sorted.walk(0, plain.length)]).toEqual(plain);
      expect([...sorted.walk(plain.length, 0)]).toEqual(plain.toReversed());
    },
  };
}

describe('sorted keys', () => {
  it.each([
    ['increasing', (at: number) => [at]],
    ['decreasing', (at: number) => [5000 - at]],
    ['alternating', (at: number) => [at % 2 === 0 ? at : -at]],
    ['scattered', (at: number) => [(at * 7919) % 3000]],
  ] as const)('keep %s keys in order', (_, toPlace) => {
    const { sorted } = setUp();
    const numbers = Array.from({ length: 3000 }, (_, at) => toPlace(at)[0] ?? 0);
    for (const number of numbers) sorted.insert([number]);
    const expected = numbers.toSorted((a, b) => a - b).map((number) => [number]);
    expect([...sorted.walk(0, 3000)]).toEqual(expected);
    for (const at of [0, 1, 511, 512, 513, 1024, 2047, 2999]) {
      const key = expected[at] ?? [];
      expect([...sorted.walk(at, at + 1)]).toEqual([key]);
      expect(sorted.rank({ prefix: key, side: 'before' })).toBe(at);
      expect(sorted.rank({ prefix: key, side: 'behind' })).toBe(at + 1);
    }
    expect(sorted.size()).toBe(3000);
  });

  it.each([1, 2])('stay equal to a plain list through random changes (%i)', (seed) => {
    const random = createRandom(seed);
    const { sorted, plain, insert, remove, check } = setUp();
    for (let number = 0; number < 1200; number += 1) {
      const key = toKey((number * 7919) % 1201);
      sorted.insert(key);
      plain.push(key);
    }
    plain.sort(compareKeys);
    check();
    for (let round = 0; round < 150; round += 1) {
      if (random.chance(0.6)) remove(plain[random.below(plain.length)] ?? []);
      else insert([random.below(7), `n${round}`]);
      const prefix = [
        random.below(8),
        ...(random.chance(0.5) ? [plain[random.below(plain.length)]?.[1] ?? ''] : []),
      ];
      for (const side of ['before', 'behind'] as const)
        expect(sorted.rank({ prefix, side })).toBe(countBefore(plain, { prefix, side }));
      const [from, to] = [random.below(plain.length + 1), random.below(plain.length + 1)];
      const part = from <= to ? plain.slice(from, to) : plain.slice(to, from).toReversed();
      expect([...sorted.walk(from, to)]).toEqual(part);
    }
    check();
  });

  it('can be removed to the last one, and inserted again', () => {
    const { sorted, insert, remove, check } = setUp();
    for (let number = 0; number < 1100; number += 1) insert([number, 'x']);
    for (let number = 0; number < 1100; number += 1) remove([(number * 7) % 1100, 'x']);
    check();
    expect([sorted.size(), sorted.rank({ prefix: [5], side: 'behind' })]).toEqual([0, 0]);
    expect([...sorted.walk(0, 1)]).toEqual([]);
    for (const number of [3, 1, 2]) insert([number, 'x']);
    check();
  });

  it('ignore the removal of a key that they do not have', () => {
    const { sorted, insert, check } = setUp();
    for (const number of [1, 3]) insert([number, 'x']);
    for (const key of [
      [2, 'x'],
      [0, 'x'],
      [4, 'x'],
      [3, 'y'],
    ])
      sorted.remove(key);
    check();
  });

  it('all stand between the bounds without a prefix', () => {
    const { sorted, insert } = setUp();
    expect(sorted.rank({ prefix: [], side: 'behind' })).toBe(0);
    for (const number of [1, 2, 3]) insert([number]);
    expect(sorted.rank({ prefix: [], side: 'before' })).toBe(0);
    expect(sorted.rank({ prefix: [], side: 'behind' })).toBe(3);
  });

  it('are only those of the range that exist', () => {
    const { sorted, insert } = setUp();
    for (const number of [1, 2]) insert([number]);
    expect([...sorted.walk(1, 9)]).toEqual([[2]]);
    expect([...sorted.walk(2, 2)]).toEqual([]);
    expect([...sorted.walk(1, 0)]).toEqual([[1]]);
  });

  it('walk from any place in both directions', () => {
    const { sorted, plain, insert } = setUp();
    for (let number = 0; number < 1100; number += 1) insert([number]);
    for (let from = 3; from <= plain.length; from += 1) {
      expect([...sorted.walk(from, from - 3)]).toEqual(plain.slice(from - 3, from).toReversed());
      expect([...sorted.walk(from - 3, from)]).toEqual(plain.slice(from - 3, from));
    }
  });

  it('have their order also for fractions', () => {
    const { insert, check } = setUp();
    for (const number of [2, 1.5, 2.5, 2.25, 1.75]) insert([number]);
    check();
  });
});
