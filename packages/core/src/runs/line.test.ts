import { describe, expect, it } from 'vitest';
import { openLine } from '../../test/waiting-line.ts';

describe('line of waiting work', () => {
  it('admits up to its maximum, and then promises places after 5 seconds', async () => {
    const { accept, waiting, clock } = openLine(10);
    expect(await accept('a', 10)).toEqual([]);
    expect(await accept('b')).toEqual([5000]);
    // It has one place for a tenth of its maximum.
    expect(await accept('c')).toEqual([5000]);
    expect(waiting.count).toBe(10);
    await clock.advance(5000);
    expect(await accept('b')).toEqual([]);
    expect((await accept('c')).length).toBe(1);
    expect(waiting.count).toBe(11);
  });

  it('estimates the wait from the speed at which work leaves it', async () => {
    const { accept, waiting, clock } = openLine(10);
    await accept('a', 10);
    expect(await accept('b')).toEqual([5000]);
    await clock.advance(2000);
    // One job has left in 2 seconds, and its place is promised.
    waiting.count = 9;
    expect(await accept('c')).toEqual([2000]);
    expect(await accept('d')).toEqual([4000]);
    // A count after more than 10 seconds says nothing about the speed.
    await clock.advance(40_000);
    waiting.count = 10;
    expect(await accept('e')).toEqual([5000]);
  });

  it('waits a minute where nothing leaves it', async () => {
    const { accept, clock } = openLine(10);
    await accept('a', 10);
    await clock.advance(1000);
    await accept('z');
    await clock.advance(1000);
    expect(await accept('b')).toEqual([60_000]);
  });

  it('keeps a place for its owner for 30 seconds', async () => {
    const { accept, clock } = openLine(10);
    await accept('a', 10);
    expect(await accept('b')).toEqual([5000]);
    await clock.advance(4999);
    expect(await accept('b')).toEqual([1000]);
    await clock.advance(30_001);
    expect((await accept('b')).length).toBe(1);
  });

  it('of one owner lets the owner have all places', async () => {
    for (const hasOwners of [true, false]) {
      const { line, accept, clock } = openLine(20, hasOwners);
      await accept('a', 20);
      await line.enter('a');
      await line.enter('a');
      await clock.advance(5000);
      expect((await accept('a', 2)).length).toBe(hasOwners ? 1 : 0);
    }
  });

  it('gives a place to one admission of its owner', async () => {
    const { accept, clock } = openLine(10);
    await accept('a', 10);
    expect(await accept('b')).toEqual([5000]);
    await clock.advance(5000);
    expect(await accept('b', 2)).toEqual([60_000]);
  });

  it('admits the owner of a place early where it has room, and takes its place back', async () => {
    for (const left of [1, 2]) {
      const { accept, clock, waiting } = openLine(10);
      await accept('a', 10);
      expect(await accept('b')).toEqual([5000]);
      await clock.advance(1000);
      waiting.count -= left;
      expect(await accept('b')).toEqual([]);
      expect(await accept('c', left - 1)).toEqual([]);
      expect(await accept('c')).toHaveLength(1);
    }
  });

  it('names the rest of the wait in whole seconds, rounded up', async () => {
    const { accept, clock } = openLine(10);
    await accept('a', 10);
    await accept('b');
    for (const [ms, rest] of [
      [3000, 2000],
      [999, 2000],
      [1, 1000],
    ] as const) {
      await clock.advance(ms);
      expect(await accept('b')).toEqual([rest]);
    }
  });

  it('knows its speed from counts that are up to 10 seconds apart', async () => {
    for (const [ms, wait] of [
      [10_000, 10_000],
      [10_001, 5000],
    ] as const) {
      const { accept, clock, waiting } = openLine(10);
      await accept('a', 10);
      await accept('b');
      await clock.advance(ms);
      waiting.count = 9;
      expect(await accept('c')).toEqual([wait]);
    }
  });
});
