import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../ports/clock.ts';
import type { ModelChunk, ModelContent, ModelMessage } from '../../ports/models.ts';
import { createDemoProvider } from '../demo.ts';

const user = (...content: ModelContent[]): ModelMessage => ({ role: 'user', content });
const text = (words: string): ModelContent => ({ type: 'text', text: words });

describe('pace of the demo model', () => {
  function handClock() {
    const pending = new Set<() => void>();
    const delays: number[] = [];
    const clock: Clock = {
      now: () => 0,
      timer(delay, callback) {
        delays.push(delay);
        pending.add(callback);
        return () => pending.delete(callback);
      },
    };
    const tick = () => {
      for (const callback of [...pending]) {
        pending.delete(callback);
        callback();
      }
    };
    return { clock, pending, delays, tick };
  }

  async function start(signal?: AbortSignal, pauseMs?: number) {
    const hand = handClock();
    const provider = createDemoProvider({ clock: hand.clock, ...(pauseMs !== undefined && { pauseMs }) });
    const stream = await provider.generate(
      { model: 'demo-echo', messages: [user(text('one two three four five six'))], maxTokens: 100 },
      signal ? { signal } : {},
    );
    return { ...hand, iterator: stream[Symbol.asyncIterator]() };
  }

  test('waits for the clock before each chunk', async () => {
    const { iterator, tick, pending } = await start();
    const seen: ModelChunk[] = [];
    const first = iterator.next().then((result) => seen.push(result.value as ModelChunk));
    await Promise.resolve();
    expect(seen).toEqual([]);
    tick();
    await first;
    expect(seen).toEqual([{ type: 'text', text: 'one two three ' }]);
    expect(pending.size).toBe(0);
  });

  test('leaves no timer and ends the waiting reader when the stream is returned early', async () => {
    const { iterator, pending } = await start();
    const waiting = iterator.next();
    expect(pending.size).toBe(1);
    await iterator.return?.();
    expect(pending.size).toBe(0);
    expect((await waiting).done).toBe(true);
    expect((await iterator.next()).done).toBe(true);
  });

  test('fails with the reason at once and leaves no timer when the stream is aborted', async () => {
    const abort = new AbortController();
    const { iterator, pending } = await start(abort.signal);
    const waiting = iterator.next();
    abort.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    expect(pending.size).toBe(0);
    expect((await iterator.next()).done).toBe(true);
  });

  test('does not begin an aborted call', async () => {
    await expect(start(AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  });

  test.each([
    [undefined, [30]],
    [1, [1]],
    [0, []],
    [-1, []],
  ])('is, for a pause of %j ms, that of the clock', async (pauseMs, expected) => {
    const { iterator, tick, delays } = await start(undefined, pauseMs);
    const first = iterator.next();
    tick();
    expect((await first).value).toEqual({ type: 'text', text: 'one two three ' });
    expect(delays).toEqual(expected);
  });

  test('does not change the parts of an answer', async () => {
    const { iterator } = await start(undefined, 0);
    const results = [];
    for (let call = 0; call < 5; call += 1) results.push(await iterator.next());
    expect(results.map(({ value }) => value && value.type)).toEqual([
      ...['text', 'text', 'usage', 'finish', undefined],
    ]);
    expect(results.map(({ done }) => done)).toEqual([false, false, false, false, true]);
  });

  test('keeps nothing of a pause that has ended', async () => {
    const { signal } = new AbortController();
    const { iterator, tick } = await start(signal);
    const first = iterator.next();
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    tick();
    await first;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('begins no pause after an abort between two chunks', async () => {
    const abort = new AbortController();
    const { iterator, tick, pending } = await start(abort.signal);
    const first = iterator.next();
    tick();
    await first;
    abort.abort(new Error('gone'));
    const second = iterator.next();
    expect(pending.size).toBe(0);
    await expect(second).rejects.toThrow('gone');
  });
});
