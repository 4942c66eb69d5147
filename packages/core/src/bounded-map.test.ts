import { describe, expect, it } from 'vitest';
import { createBoundedMap } from './bounded-map.ts';

const keysOf = (map: { entries(): Iterable<[string, unknown]> }): string[] =>
  [...map.entries()].map(([key]) => key).sort();

describe('a bounded map', () => {
  it('never holds more than its bound, and tells once of everything that leaves', () => {
    const dropped: number[] = [];
    const map = createBoundedMap<number>(100, (value) => dropped.push(value));
    for (let index = 0; index < 1000; index += 1) {
      map.set(`key${index}`, index);
      const kept = keysOf(map);
      expect(kept.length).toBeLessThanOrEqual(100);
      expect(kept.length + dropped.length).toBe(index + 1);
    }
    expect(new Set(dropped).size).toBe(dropped.length);
  });

  it('keeps what is asked for', () => {
    const map = createBoundedMap<number>(10);
    map.set('asked', 1);
    for (let index = 0; index < 1000; index += 1) {
      map.set(`key${index}`, index);
      expect(map.get('asked')).toBe(1);
    }
    // The last half of the bound is there in any case.
    expect([996, 997, 998, 999].map((index) => map.get(`key${index}`))).toEqual([996, 997, 998, 999]);
    expect(map.get('key0')).toBeUndefined();
  });

  it('forgets at once what is deleted, young or old, and replaces what is set again', () => {
    const dropped: string[] = [];
    const map = createBoundedMap<string>(4, (value) => dropped.push(value));
    for (const key of ['a', 'b', 'c']) map.set(key, key);
    map.delete('a');
    map.delete('c');
    map.delete('nobody');
    expect([map.get('a'), map.get('c'), keysOf(map)]).toEqual([undefined, undefined, ['b']]);
    map.set('b', 'B');
    expect([map.get('b'), dropped]).toEqual(['B', ['a', 'c', 'b']]);
  });
});
