import { getEventListeners } from 'node:events';
import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import { firstStep } from './first-step.ts';

function setUp() {
  const clock = createFakeClock();
  const leaving = new AbortController();
  let answer = (_step: IteratorResult<string>): void => undefined;
  let fail = (_error: unknown): void => undefined;
  const calls: string[] = [];
  const source: AsyncIterator<string> = {
    next() {
      calls.push('next');
      return new Promise((resolve, reject) => {
        answer = resolve;
        fail = reject;
      });
    },
    async return() {
      calls.push('return');
      return { done: true, value: undefined };
    },
  };
  return {
    clock,
    leaving,
    calls,
    source,
    answer: () => answer({ done: false, value: 'Hello' }),
    fail: (error: unknown) => fail(error),
    /** Returns the open timers and listeners. */
    leftovers: () => [clock.pending, getEventListeners(leaving.signal, 'abort').length],
  };
}

it('waits for the first step', async () => {
  const { clock, leaving, source, calls, answer, leftovers } = setUp();
  let isOver = false;
  const waiting = firstStep(source, clock, leaving.signal).finally(() => {
    isOver = true;
  });
  await clock.advance(9999);
  expect(isOver).toBe(false);
  answer();
  const { step } = await waiting;
  expect(await step).toEqual({ done: false, value: 'Hello' });
  expect(calls).toEqual(['next']);
  expect(leftovers()).toEqual([0, 0]);
});

it('goes on without the first step after ten seconds', async () => {
  const { clock, leaving, source, calls, answer, leftovers } = setUp();
  const waiting = firstStep(source, clock, leaving.signal);
  await clock.advance(10_000);
  const { step } = await waiting;
  expect(leftovers()).toEqual([0, 0]);
  answer();
  expect(await step).toEqual({ done: false, value: 'Hello' });
  expect(calls).toEqual(['next']);
});

it('fails as the first step does', async () => {
  const { clock, leaving, source, calls, fail, leftovers } = setUp();
  const waiting = firstStep(source, clock, leaving.signal);
  const error = new Error('away');
  fail(error);
  await expect(waiting).rejects.toBe(error);
  expect(calls).toEqual(['next']);
  expect(leftovers()).toEqual([0, 0]);
});

it('stops its source when the client disconnects', async () => {
  const { clock, leaving, source, calls, leftovers } = setUp();
  const waiting = firstStep(source, clock, leaving.signal);
  const reason = new Error('left');
  leaving.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(calls).toEqual(['next', 'return']);
  expect(leftovers()).toEqual([0, 0]);
});

it('stops its source when the client has disconnected before', async () => {
  const { clock, leaving, source, calls, leftovers } = setUp();
  leaving.abort(new Error('left'));
  await expect(firstStep(source, clock, leaving.signal)).rejects.toThrow('left');
  expect(calls).toEqual(['next', 'return']);
  expect(leftovers()).toEqual([0, 0]);
});
