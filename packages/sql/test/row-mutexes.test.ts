import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { watch } from '../../../test/support/watch.ts';
import { createDeadline } from '../src/deadline.ts';
import { createRowMutexes } from '../src/postgres/row-mutexes.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Lets what was released go on. */
const settle = () => vi.advanceTimersByTimeAsync(0);

function setUp() {
  const mutexes = createRowMutexes();
  const lock = (row: string, signal?: AbortSignal) => mutexes.lock(row, createDeadline(100), signal);
  return { lock, ask: (row: string, signal?: AbortSignal) => watch(lock(row, signal)) };
}

describe('the statements of a busy row', () => {
  it('take turns, beside those of other rows', async () => {
    const { lock, ask } = setUp();
    const [first, other] = [await lock('a'), await lock('b')];
    const [second, third] = [ask('a'), ask('a')];
    await settle();
    expect([second, third]).toEqual([[], []]);
    first();
    await settle();
    expect([second.length, third.length]).toEqual([1, 0]);
    const fourth = ask('a');
    other();
    await settle();
    expect([third, fourth]).toEqual([[], []]);
    for (const turn of [second, third, fourth]) {
      expect(turn).toEqual([expect.any(Function)]);
      (turn[0] as () => void)();
      await settle();
    }
  });

  it('wait no longer than their deadline, which names what they wait for', async () => {
    const { lock, ask } = setUp();
    const release = await lock('a');
    const late = ask('a');
    await vi.advanceTimersByTimeAsync(100);
    expect(String(late[0])).toContain('waiting for a busy row took longer than 100 ms');
    const next = ask('a');
    await settle();
    expect(next).toEqual([]);
    release();
    await settle();
    expect(next).toEqual([expect.any(Function)]);
  });

  it('leave nothing of their row after the last of them', async () => {
    const removed = vi.spyOn(Map.prototype, 'delete');
    onTestFinished(() => removed.mockRestore());
    const isKept = (row: string) => !removed.mock.calls.some(([key]) => key === row);
    const { lock, ask } = setUp();
    const row = 'a row of this test';
    const release = await lock(row);
    const left = new AbortController();
    const waiting = ask(row, left.signal);
    left.abort('left');
    await settle();
    expect(waiting).toEqual(['left']);
    expect(isKept(row)).toBe(true);
    release();
    expect(isKept(row)).toBe(false);
    const gone = AbortSignal.abort('left');
    await expect(lock('another row', gone)).rejects.toBe('left');
    expect(isKept('another row')).toBe(false);
  });
});
