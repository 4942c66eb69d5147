import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDeadline, pause } from '../src/deadline.ts';
import { createMutex } from '../src/mutex.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

describe('a mutex', () => {
  it('is free again after it was released, once', async () => {
    const mutex = createMutex('a thing');
    const release = mutex.tryLock();
    expect(mutex.tryLock()).toBeUndefined();
    release?.();
    const second = mutex.tryLock();
    expect(second).toBeTypeOf('function');
    release?.();
    expect(mutex.tryLock()).toBeUndefined();
    second?.();
    expect(await mutex.lock(createDeadline(10))).toBeTypeOf('function');
  });

  it('goes to those that wait in their order, and past those that gave up', async () => {
    const mutex = createMutex('a thing');
    const order: string[] = [];
    const release = mutex.tryLock();
    const lock = (name: string, timeoutMs: number) =>
      mutex.lock(createDeadline(timeoutMs)).then(
        (end) => {
          order.push(name);
          return end;
        },
        (error: unknown) => void order.push(String(error)),
      );
    const first = lock('first', 100);
    void lock('second', 10);
    const third = lock('third', 100);
    await vi.advanceTimersByTimeAsync(10);
    expect(order).toEqual([expect.stringContaining('waiting for a thing took longer than 10 ms')]);
    release?.();
    (await first)?.();
    (await third)?.();
    expect(order.slice(1)).toEqual(['first', 'third']);
    expect(mutex.tryLock()).toBeDefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is not taken for a caller that has left', async () => {
    const mutex = createMutex('a thing');
    const lock = mutex.lock(createDeadline(10), AbortSignal.abort('left'));
    await expect(lock).rejects.toBe('left');
    expect(mutex.tryLock()).toBeDefined();
  });
});

describe('a pause between attempts', () => {
  it.each([
    { attempt: 0, random: 0, left: 4500, ms: 0.5 },
    { attempt: 0, random: 1, left: 4500, ms: 1.5 },
    { attempt: 5, random: 1, left: 4500, ms: 32.5 },
    { attempt: 6, random: 1, left: 4500, ms: 50.5 },
    { attempt: 5000, random: 1, left: 4500, ms: 50.5 },
    { attempt: 6, random: 1, left: 20, ms: 20 },
  ])('lasts $ms ms: %j', async ({ attempt, random, left, ms }) => {
    const chance = vi.spyOn(Math, 'random').mockReturnValue(random);
    onTestFinished(() => chance.mockRestore());
    const delays: unknown[] = [];
    vi.stubGlobal('setTimeout', (end: () => void, delay: number) => {
      delays.push(delay);
      end();
    });
    await pause(attempt, createDeadline(left));
    vi.unstubAllGlobals();
    expect(delays).toEqual([ms]);
  });
});
