import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createIds } from './ids.ts';

describe('ids', () => {
  it('are 24 hexadecimal characters that increase and never repeat, also in a burst', () => {
    const ids = createIds({ clock: createFakeClock() });
    const given = Array.from({ length: 20_000 }, () => ids.next());
    for (const id of given) expect(id).toMatch(/^[0-9a-f]{24}$/);
    expect(new Set(given).size).toBe(given.length);
    expect([...given].sort()).toEqual(given);
  });

  it('increase with time, also when the clock goes back', async () => {
    let now = 1_790_000_000_000;
    const ids = createIds({ clock: { now: () => now, timer: () => () => undefined } });
    const given: string[] = [];
    for (const step of [0, 5, -1000, 0, 1, 2000]) {
      now += step;
      given.push(ids.next(), ids.next());
    }
    expect([...given].sort()).toEqual(given);
    expect(new Set(given).size).toBe(given.length);
    expect(Number.parseInt(given.at(-1)?.slice(0, 11) ?? '', 16)).toBe(now);
  });

  it('differ between generators at the same instant', () => {
    const clock = createFakeClock();
    const given = Array.from({ length: 100 }, () => createIds({ clock }).next());
    expect(new Set(given).size).toBe(100);
  });

  it('include correlation ids that are version 4 UUIDs', () => {
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    expect(createIds().requestId()).toMatch(uuid);
  });

  it('include secrets of any length with uniformly distributed characters', () => {
    const ids = createIds();
    for (const length of [0, 1, 32, 1000])
      expect(ids.secret(length)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`));
    expect(ids.secret(32)).not.toBe(ids.secret(32));
    const counts = new Map<string, number>();
    const drawn = 310_000;
    for (const character of ids.secret(drawn)) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // 5000 of each are expected, with a deviation of 70; a plain remainder of 256 would give the first eight
    // 6055.
    for (const count of counts.values()) expect(Math.abs(count - drawn / 62)).toBeLessThan(500);
  });

  it('include random bytes', () => {
    const ids = createIds();
    expect(ids.bytes(16)).toHaveLength(16);
    expect(ids.bytes(16)).not.toEqual(ids.bytes(16));
  });
});
