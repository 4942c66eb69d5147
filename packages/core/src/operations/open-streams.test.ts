import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import { createOpenStreams } from './open-streams.ts';

function setUp() {
  const clock = createFakeClock();
  const streams = createOpenStreams(clock);
  let stopped = 0;
  const stream = {
    stop() {
      stopped += 1;
    },
  };
  /** @returns whether the drain has ended. */
  const drain = (timeoutMs: number): (() => boolean) => {
    let hasEnded = false;
    void streams.drain(timeoutMs).then(() => {
      hasEnded = true;
    });
    return () => hasEnded;
  };
  return { clock, streams, drain, add: () => streams.add({ ...stream }), countStopped: () => stopped };
}

it('ends at once without a stream', async () => {
  const { clock, streams } = setUp();
  await streams.drain(1000);
  await streams.drain(0);
  expect(clock.pending).toBe(0);
});

it('waits for streams that end by themselves', async () => {
  const { clock, drain, add, countStopped } = setUp();
  const ends = [add(), add()];
  const hasEnded = drain(1000);
  await clock.advance(500);
  ends[0]?.();
  await clock.advance(499);
  expect(hasEnded()).toBe(false);
  ends[1]?.();
  await clock.advance(0);
  expect([hasEnded(), countStopped(), clock.pending]).toEqual([true, 0, 0]);
});

it('stops the other streams after the time, and waits until they are settled', async () => {
  const { clock, drain, add, countStopped } = setUp();
  const ends = [add(), add(), add()];
  ends[0]?.();
  const hasEnded = drain(1000);
  await clock.advance(999);
  expect(countStopped()).toBe(0);
  await clock.advance(1);
  expect(countStopped()).toBe(2);
  await clock.advance(4000);
  expect(hasEnded()).toBe(false);
  ends[1]?.();
  ends[2]?.();
  await clock.advance(0);
  expect([hasEnded(), clock.pending]).toEqual([true, 0]);
});

it('waits for the shortest time', async () => {
  const { clock, drain, add, countStopped } = setUp();
  add();
  drain(1);
  await clock.advance(0);
  expect(countStopped()).toBe(0);
  await clock.advance(1);
  expect(countStopped()).toBe(1);
});

it('waits five seconds for stopped streams', async () => {
  const { clock, drain, add, countStopped } = setUp();
  add();
  const hasEnded = drain(0);
  expect(countStopped()).toBe(1);
  await clock.advance(0);
  await clock.advance(4999);
  expect(hasEnded()).toBe(false);
  await clock.advance(1);
  expect([hasEnded(), clock.pending]).toEqual([true, 0]);
});

it('ends all of several drains', async () => {
  const { clock, drain, add } = setUp();
  const end = add();
  const ended = [drain(1000), drain(2000)];
  await clock.advance(0);
  end();
  await clock.advance(0);
  expect([ended.map((hasEnded) => hasEnded()), clock.pending]).toEqual([[true, true], 0]);
});
