import { afterEach, describe, expect, it, vi } from 'vitest';
import { createSystemClock } from './clock.ts';

describe('system clock', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('calls back once after its delay', () => {
    vi.useFakeTimers();
    const calls: number[] = [];
    const clock = createSystemClock();
    const start = clock.now();
    clock.timer(1000, () => calls.push(clock.now() - start));
    vi.advanceTimersByTime(999);
    expect(calls).toEqual([]);
    vi.advanceTimersByTime(5000);
    expect(calls).toEqual([1000]);
  });

  it('supports delays that exceed the maximum of a Node timer', () => {
    vi.useFakeTimers();
    const clock = createSystemClock();
    const days = 24 * 60 * 60 * 1000;
    let calls = 0;
    const cancel = clock.timer(90 * days, () => {
      calls += 1;
    });
    vi.advanceTimersByTime(90 * days - 1);
    expect(calls).toBe(0);
    vi.advanceTimersByTime(1);
    expect(calls).toBe(1);
    cancel();
    cancel();
  });

  it('does not call back once cancelled, at any point of a long delay', () => {
    vi.useFakeTimers();
    const clock = createSystemClock();
    const days = 24 * 60 * 60 * 1000;
    const calls: string[] = [];
    const cancel = clock.timer(60 * days, () => calls.push('late'));
    vi.advanceTimersByTime(50 * days);
    cancel();
    vi.advanceTimersByTime(50 * days);
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
