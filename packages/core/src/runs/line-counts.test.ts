import { describe, expect, it } from 'vitest';
import { openLine } from '../../test/waiting-line.ts';

describe('line of waiting work', () => {
  it('counts what is not stored yet, and not what was not accepted', async () => {
    const { line, accept, waiting } = openLine(2);
    expect(await line.enter('a')).toBeUndefined();
    expect(await line.enter('a')).toBeUndefined();
    expect(await line.enter('b')).toBe(5000);
    line.leave(false);
    line.leave(false);
    const { counts } = waiting;
    waiting.count = 0;
    expect(await accept('a')).toEqual([]);
    expect(waiting.counts).toBe(counts);
  });

  it('counts only when it may be long: rarely before', async () => {
    const { accept, waiting, clock } = openLine(1000);
    expect(await accept('a', 49)).toEqual([]);
    expect(waiting.counts).toBe(0);
    expect(await accept('a', 2)).toEqual([]);
    expect(waiting.counts).toBe(1);
    await accept('a', 200);
    const { counts } = waiting;
    expect(counts).toBeLessThanOrEqual(6);
    await clock.advance(60_000);
    await accept('a');
    expect(waiting.counts).toBeLessThanOrEqual(counts + 1);
  });

  it('counts each second while it is longer than a half', async () => {
    const { accept, waiting, clock, line } = openLine(1000);
    await accept('a', 51);
    waiting.count = 600;
    await accept('a', 50);
    const { counts } = waiting;
    await clock.advance(999);
    await line.enter('a');
    expect(waiting.counts).toBe(counts);
    await clock.advance(1);
    await line.enter('a');
    expect(waiting.counts).toBe(counts + 1);
  });

  it('counts once for requests that come together', async () => {
    const { line, waiting, clock, accept } = openLine(10);
    let go = (): void => undefined;
    waiting.go = new Promise<void>((resolve) => {
      go = resolve;
    });
    await accept('z');
    waiting.count = 9;
    const entering = [line.enter('a'), line.enter('b')];
    await clock.advance(0);
    expect(waiting.counts).toBe(1);
    go();
    expect(await Promise.all(entering)).toEqual([undefined, 5000]);
  });

  it('counts nothing at first', async () => {
    const { line, waiting } = openLine(2);
    expect(line.enter('a')).toBeUndefined();
    expect(waiting.counts).toBe(0);
  });

  it('counts for the first time once a half of it asks for admission', async () => {
    const { line, waiting } = openLine(2);
    waiting.count = 2;
    expect(line.enter('a')).toBeUndefined();
    expect(await line.enter('b')).toBe(5000);
    expect(waiting.counts).toBe(1);
  });

  it.each([
    [10, 1],
    [40, 2],
    [100, 5],
    [5000, 50],
  ])('counts the line of at most %d after it has accepted %d', async (max, accepted) => {
    const { accept, waiting } = openLine(max);
    await accept('a', accepted);
    expect(waiting.counts).toBe(0);
    await accept('a');
    expect(waiting.counts).toBe(1);
  });

  it('counts again once what it accepted would fill it, and not where it was full', async () => {
    const { accept, waiting } = openLine(100);
    await accept('a', 5);
    waiting.count = 99;
    await accept('a');
    expect(waiting).toMatchObject({ count: 100, counts: 1 });
    waiting.count = 99;
    expect(await accept('b')).toEqual([]);
    expect(waiting).toMatchObject({ count: 100, counts: 2 });
    for (let times = 0; times < 3; times += 1) expect(await accept('c')).toHaveLength(1);
    expect(waiting.counts).toBe(3);
  });

  it('counts each second from a half of its maximum', async () => {
    for (const [count, counts] of [
      [3, 1],
      [4, 2],
    ] as const) {
      const { line, accept, waiting, clock } = openLine(10);
      await accept('a');
      waiting.count = count;
      await line.enter('a');
      await clock.advance(1000);
      await line.enter('a');
      expect(waiting.counts).toBe(counts);
    }
  });
});
