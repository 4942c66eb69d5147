import { afterEach, describe, expect, it, vi } from 'vitest';
import { createSystemClock } from './clock.ts';

describe('the system clock', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('calls back once, after its delay', async () => {
    vi.useFakeTimers();
    const calls: number[] = [];
    const clock = createSystemClock();
    const start = clock.now();
    clock.timer(1000, () => calls.push(clock.now() - start));
    await vi.advanceTimersByTimeAsync(999);
    expect(calls).toEqual([]);
    await vi.advanceTimersByTimeAsync(5000);
    expect(calls).toEqual([1000]);
  });

  it('waits out delays that are longer than a Node timer can be', async () => {
    vi.useFakeTimers();
    const clock = createSystemClock();
    const days = 24 * 60 * 60 * 1000;
    let calls = 0;
    const cancel = clock.timer(90 * days, () => {
      calls += 1;
    });
    await vi.advanceTimersByTimeAsync(90 * days - 1);
    expect(calls).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(calls).toBe(1);
    cancel();
    cancel();
  });

  it('does not call back once cancelled, whichever part of a long delay it is in', async () => {
    vi.useFakeTimers();
    const clock = createSystemClock();
    const days = 24 * 60 * 60 * 1000;
    const calls: string[] = [];
    const cancel = clock.timer(60 * days, () => calls.push('late'));
    await vi.advanceTimersByTimeAsync(50 * days);
    cancel();
    await vi.advanceTimersByTimeAsync(50 * days);
    expect(calls).toEqual([]);
  });

  it('never keeps the process alive', () => {
    const timeouts = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timeouts();
    const cancel = createSystemClock().timer(60_000, () => undefined);
    expect(timeouts()).toBe(before);
    cancel();
  });
});
