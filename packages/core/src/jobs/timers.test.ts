import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { LeasedJob } from '../ports/queue.ts';
import { isJobInterrupted, JobInterrupted } from './interruption.ts';
import { createJobNotifier } from './job-notifier.ts';
import { repeating } from './repeating.ts';
import { retryAfterDelay } from './retry-after-delay.ts';

function setUp() {
  const clock = createFakeClock();
  const begun = clock.now();
  const notifier = createJobNotifier(clock);
  const heard: number[] = [];
  const listen = () => notifier.listen(() => void heard.push(clock.now() - begun));
  return { clock, notifier, heard, listen, wakeAfter: (ms: number) => notifier.wakeAt(begun + ms) };
}

describe('a notifier', () => {
  it('calls its listeners at each time, in order', async () => {
    const { clock, heard, listen, wakeAfter } = setUp();
    listen();
    for (const ms of [300, 100, 200, 200]) wakeAfter(ms);
    expect([heard, clock.pending]).toEqual([[], 1]);
    await clock.advance(100);
    expect(heard).toEqual([100]);
    wakeAfter(250);
    await clock.advance(300);
    expect([heard, clock.pending]).toEqual([[100, 200, 250, 300], 0]);
  });

  it('calls them at once for a time that has come', async () => {
    const { clock, heard, listen, wakeAfter } = setUp();
    listen();
    wakeAfter(0);
    wakeAfter(-1);
    expect([heard, clock.pending]).toEqual([[0, 0], 0]);
  });

  it('has no timer without a listener, and keeps the times', async () => {
    const { clock, heard, listen, wakeAfter } = setUp();
    wakeAfter(100);
    wakeAfter(50);
    expect(clock.pending).toBe(0);
    const ends = [listen(), listen()];
    expect(clock.pending).toBe(1);
    ends[0]?.();
    expect(clock.pending).toBe(1);
    ends[1]?.();
    expect(clock.pending).toBe(0);
    wakeAfter(70);
    listen();
    await clock.advance(200);
    expect(heard).toEqual([50, 70, 100]);
  });

  it('keeps up to 1,000 times', async () => {
    const { clock, heard, listen, wakeAfter } = setUp();
    listen();
    for (let ms = 1; ms <= 1001; ms += 1) wakeAfter(ms);
    await clock.advance(2000);
    expect([heard.length, heard.at(-1)]).toEqual([1000, 1000]);
    wakeAfter(3000);
    await clock.advance(2000);
    expect(heard.at(-1)).toBe(3000);
  });

  it('calls the other listeners after one that fails or ends another', () => {
    const { notifier, heard, listen, wakeAfter } = setUp();
    notifier.listen(() => {
      throw new Error('broken');
    });
    const ends: (() => void)[] = [];
    notifier.listen(() => ends.at(0)?.());
    ends.push(listen());
    listen();
    expect(() => wakeAfter(0)).not.toThrow();
    expect(heard).toEqual([0]);
  });

  it('goes on after its last listener ended during a call', async () => {
    const { clock, notifier, heard, listen, wakeAfter } = setUp();
    const end = notifier.listen(() => end());
    wakeAfter(100);
    wakeAfter(200);
    await clock.advance(100);
    expect(clock.pending).toBe(0);
    listen();
    await clock.advance(100);
    expect(heard).toEqual([200]);
  });
});

it('repeats a call until it is stopped, also from within the call', async () => {
  const clock = createFakeClock();
  let calls = 0;
  const stop = repeating(clock, 1000, () => {
    calls += 1;
    if (calls === 3) stop();
  });
  await clock.advance(999);
  expect(calls).toBe(0);
  await clock.advance(1);
  expect(calls).toBe(1);
  await clock.advance(10_000);
  expect([calls, clock.pending]).toEqual([3, 0]);
});

it('runs a clean-up again after a second and a minute, and no more', () => {
  const next = [1, 2, 3].map((attempt) => retryAfterDelay({ attempt } as LeasedJob));
  expect(next).toEqual([
    { afterMs: 1000, countAttempt: true },
    { afterMs: 60_000, countAttempt: true },
    undefined,
  ]);
});

it('knows interruptions of jobs by their name', () => {
  const interruption = new JobInterrupted('stopping');
  expect([isJobInterrupted(interruption), interruption.reason]).toEqual([true, 'stopping']);
  const foreign = Object.assign(new Error('x'), { name: 'JobInterrupted', reason: 'lease-lost' });
  expect(isJobInterrupted(foreign)).toBe(true);
  const others = [new Error('x'), { name: 'JobInterrupted', reason: 'x' }, undefined];
  const unnamed = Object.assign(new Error('x'), { reason: 'lease-lost' });
  const unreasoned = Object.assign(new Error('x'), { name: 'JobInterrupted' });
  expect([...others, unnamed, unreasoned].map(isJobInterrupted)).toEqual([false, false, false, false, false]);
});
