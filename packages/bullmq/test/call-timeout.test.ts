import { isStorageUnavailable } from '@questline/core/ports';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCallTimeout, isRefusal } from '../src/call-timeout.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate'] });
});

afterEach(() => {
  vi.useRealTimers();
});

/** A call that is answered by hand. */
function createCall() {
  let answer: (value: string) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const call = vi.fn(
    () =>
      new Promise<string>((resolve, reject) => {
        answer = resolve;
        fail = reject;
      }),
  );
  return { call, answer: (value: string) => answer(value), fail: (error: unknown) => fail(error) };
}

const TOO_LATE = 'Redis did not answer within 100 ms';

describe('a call to Redis', () => {
  it('has its answer, and leaves no timer', async () => {
    const { call, answer } = createCall();
    const called = createCallTimeout(100).run(call);
    answer('yes');
    expect(await called).toBe('yes');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is given up after the timeout, and not before what has arrived is read', async () => {
    const { call, answer } = createCall();
    const limit = createCallTimeout(100);
    const called = limit.run(call);
    vi.advanceTimersByTime(99);
    // The timer fires and the answer arrives in the same turn of the event loop.
    const first = createCall();
    const other = limit.run(first.call);
    vi.advanceTimersToNextTimer();
    answer('yes');
    expect(await called).toBe('yes');
    vi.advanceTimersByTime(99);
    first.answer('in time');
    expect(await other).toBe('in time');
  });

  it('gives its late answer to another', async () => {
    const { call, answer } = createCall();
    const late: string[] = [];
    const called = createCallTimeout(100).run(call, (value) => late.push(value));
    vi.advanceTimersByTime(100);
    vi.advanceTimersByTime(1);
    await expect(called).rejects.toSatisfy(isStorageUnavailable);
    answer('late');
    await Promise.resolve();
    expect(late).toEqual(['late']);
  });

  it('is not sent while an earlier one is unanswered', async () => {
    const limit = createCallTimeout(100);
    const [first, second, third] = [createCall(), createCall(), createCall()];
    const calls = [limit.run(first.call), limit.run(second.call)];
    vi.advanceTimersByTime(100);
    vi.advanceTimersByTime(1);
    for (const call of calls) await expect(call).rejects.toThrow(TOO_LATE);
    first.answer('late');
    await Promise.resolve();
    await expect(limit.run(third.call)).rejects.toThrow('Redis does not answer');
    second.fail(new Error('reset'));
    await Promise.resolve();
    expect(third.call).not.toHaveBeenCalled();
    const last = limit.run(third.call);
    third.answer('yes');
    expect(await last).toBe('yes');
  });

  it('is unavailable when it fails, with its cause, unless BullMQ refuses', async () => {
    const limit = createCallTimeout(100);
    const cause = new Error('reset');
    const failed = createCall();
    const called = limit.run(failed.call);
    failed.fail(cause);
    await expect(called).rejects.toMatchObject({
      name: 'StorageUnavailable',
      message: 'Redis failed',
      cause,
    });
    const refused = createCall();
    const refusal = Object.assign(new Error('no lock'), { code: -2 });
    const second = limit.run(refused.call);
    refused.fail(refusal);
    await expect(second).rejects.toBe(refusal);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it.each([
  [Object.assign(new Error('missing'), { code: -1 }), true],
  [Object.assign(new Error('odd'), { code: 0 }), false],
  [Object.assign(new Error('reset'), { code: 'ECONNRESET' }), false],
  [new Error('none'), false],
  [{ code: -1 }, false],
  [undefined, false],
])('knows a refusal of BullMQ: %s, %s', (error, expected) => {
  expect(isRefusal(error)).toBe(expected);
});
