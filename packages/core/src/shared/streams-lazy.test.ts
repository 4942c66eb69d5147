import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createScriptedAnswer } from '../../test/completion-stream.ts';
import type { AnswerPart } from '../ports/models.ts';
import { abortable, cancelIterator, lazyIterator } from './streams.ts';

const part: AnswerPart = { type: 'text', text: 'Hello' };
const gone = new Error('gone');
const END = { done: true, value: undefined };

/** A lazy iterator, whose source exists once `create` or `fail` is called. */
function open() {
  const log: string[] = [];
  const source = createScriptedAnswer(log);
  let create = (): void => undefined;
  let fail = (): void => undefined;
  const lazy = lazyIterator(() => {
    log.push('open');
    return new Promise<typeof source>((resolve, reject) => {
      create = () => resolve(source);
      fail = () => reject(gone);
    });
  });
  return { lazy, source, log, create: () => create(), fail: () => fail() };
}

describe('lazy iterator', () => {
  it('is created by the first read', async () => {
    const { lazy, source, log, create } = open();
    expect(log).toEqual([]);
    const first = lazy.next();
    expect(log).toEqual(['open']);
    create();
    source.say(part);
    expect(await first).toEqual({ done: false, value: part });
    source.end();
    expect(await lazy.next()).toEqual(END);
    expect([log, source.reads]).toEqual([['open'], 2]);
  });

  it('is over after it could not be created', async () => {
    const { lazy, log, fail } = open();
    const first = lazy.next();
    fail();
    await expect(first).rejects.toBe(gone);
    expect(await lazy.next()).toEqual(END);
    expect(log).toEqual(['open']);
  });

  it('cancels its source', async () => {
    const { lazy, source, log, create } = open();
    const first = lazy.next();
    create();
    source.say(part);
    await first;
    expect(await lazy.return()).toEqual(END);
    expect(log).toEqual(['open', 'cancel']);
  });

  it('cancels a source that does not exist yet, as soon as it does', async () => {
    const { lazy, source, log, create } = open();
    const first = lazy.next();
    expect(await lazy.return()).toEqual(END);
    expect(log).toEqual(['open']);
    create();
    expect(await first).toEqual(END);
    expect([log, source.reads]).toEqual([['open', 'cancel'], 0]);
  });

  it('waits for its source to stop', async () => {
    const lazy = lazyIterator(async () => ({
      next: async () => ({ done: false, value: 1 }),
      return: () => Promise.reject(gone),
    }));
    await lazy.next();
    await expect(lazy.return()).rejects.toBe(gone);
  });

  it('needs no source that can be cancelled', async () => {
    const lazy = lazyIterator(async () => ({ next: async () => ({ done: false, value: 1 }) }));
    await lazy.next();
    expect(await lazy.return()).toEqual(END);
  });
});

describe('cancellation of an iterator', () => {
  const next = () => Promise.reject(gone);

  it('does not wait for it', () => {
    const log: string[] = [];
    cancelIterator(createScriptedAnswer(log));
    expect(log).toEqual(['cancel']);
  });

  it.each([
    ['fails', () => Promise.reject(gone)],
    [
      'throws',
      () => {
        throw gone;
      },
    ],
    ['returns nothing', () => undefined as never],
  ])('has no effect on others when it %s', async (_, stop) => {
    cancelIterator({ next, return: stop });
    await turn();
  });

  it('needs none that can be cancelled', () => {
    cancelIterator({ next });
  });
});

describe('work that can be aborted', () => {
  const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

  it('has its result', async () => {
    const { signal } = new AbortController();
    expect(await abortable(Promise.resolve('a'), signal)).toBe('a');
    await expect(abortable(Promise.reject(gone), signal)).rejects.toBe(gone);
    expect(listeners(signal)).toBe(0);
  });

  it('is over when its signal is aborted', async () => {
    const leaving = new AbortController();
    let fail = (): void => undefined;
    const work = new Promise((_, reject) => {
      fail = () => reject(gone);
    });
    const result = abortable(work, leaving.signal);
    expect(listeners(leaving.signal)).toBe(1);
    const reason = new Error('left');
    leaving.abort(reason);
    await expect(result).rejects.toBe(reason);
    expect(listeners(leaving.signal)).toBe(0);
    // A failure that nothing reads is no unhandled error.
    fail();
    await turn();
  });

  it('is over when its signal was aborted before', async () => {
    const reason = new Error('left');
    const signal = AbortSignal.abort(reason);
    await expect(abortable(new Promise(() => undefined), signal)).rejects.toBe(reason);
    expect(listeners(signal)).toBe(0);
  });
});
