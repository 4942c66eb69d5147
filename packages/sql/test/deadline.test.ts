import { getEventListeners } from 'node:events';
import { isStorageUnavailable } from '@questline/core/ports';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createDeferred } from '../../../test/support/deferred.ts';
import { watch } from '../../../test/support/watch.ts';
import { createDeadline, pause, within } from '../src/deadline.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const wait = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

/** A call with a deadline of 100 ms. */
function begin() {
  const call = createDeferred<string>();
  const caller = new AbortController();
  const late: string[] = [];
  const ended = watch(
    within(call.promise, createDeadline(100), 'the call', {
      signal: caller.signal,
      onLate: (value) => late.push(value),
    }),
  );
  const isWatching = () => [vi.getTimerCount(), getEventListeners(caller.signal, 'abort').length];
  return { call, caller, late, ended, isWatching };
}

describe('a deadline', () => {
  it('has time left until it is over, and never less than none', async () => {
    const deadline = createDeadline(100);
    expect(deadline.left()).toBe(100);
    await wait(70);
    expect(deadline.left()).toBe(30);
    await wait(70);
    expect(deadline.left()).toBe(0);
    const error = deadline.error('reading');
    expect(isStorageUnavailable(error)).toBe(true);
    expect(error.message).toBe('reading took longer than 100 ms');
  });

  it('counts from the time at which it was made', async () => {
    await wait(5000);
    const deadline = createDeadline(100);
    await wait(60);
    expect(deadline.left()).toBe(40);
  });

  it('shortens a pause to the time that is left', async () => {
    const deadline = createDeadline(100);
    await wait(100);
    const ended = watch(pause(20, deadline));
    await wait();
    expect(ended).toEqual([undefined]);
  });
});

describe('a call within a deadline', () => {
  it('has its own result, and leaves no timer and no listener', async () => {
    const { call, late, ended, isWatching } = begin();
    expect(isWatching()).toEqual([1, 1]);
    call.resolve('value');
    await wait();
    expect([ended, late, isWatching()]).toEqual([['value'], [], [0, 0]]);
  });

  it('has its own error, and leaves no timer and no listener', async () => {
    const { call, late, ended, isWatching } = begin();
    call.reject('error');
    await wait();
    expect([ended, late, isWatching()]).toEqual([['error'], [], [0, 0]]);
  });

  it('fails at its deadline; a result after it is passed on as late', async () => {
    const { call, caller, late, ended, isWatching } = begin();
    await wait(99);
    expect(ended).toEqual([]);
    await wait(1);
    expect(ended.map(String)).toEqual([expect.stringContaining('the call took longer than 100 ms')]);
    expect(isWatching()).toEqual([0, 0]);
    caller.abort('left');
    call.resolve('value');
    await wait();
    expect([ended.length, late]).toEqual([1, ['value']]);
  });

  it('fails when its caller leaves; a result after it is passed on as late', async () => {
    const { call, caller, late, ended, isWatching } = begin();
    caller.abort('left');
    await wait();
    expect([ended, isWatching()]).toEqual([['left'], [0, 0]]);
    call.resolve('value');
    await wait(200);
    expect([ended, late]).toEqual([['left'], ['value']]);
  });

  it.each(['resolve', 'reject'] as const)('needs no signal and no use for a late result: %s', async (end) => {
    const call = createDeferred<string>();
    const ended = watch(within(call.promise, createDeadline(100), 'the call'));
    await wait(100);
    call[end]('value');
    await wait();
    expect(ended.map(isStorageUnavailable)).toEqual([true]);
  });
});
