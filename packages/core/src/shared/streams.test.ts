import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createScriptedAnswer } from '../../test/completion-stream.ts';
import type { AnswerPart } from '../ports/models.ts';
import { finalizing, type StreamEnd } from './streams.ts';

const part: AnswerPart = { type: 'text', text: 'Hello' };
const gone = new Error('gone');
const END = { done: true, value: undefined };

/** A stream over a scripted source. @param finalize what happens at its end, in a later turn. */
function open(finalize: () => Promise<void> = async () => undefined) {
  const log: string[] = [];
  const ends: StreamEnd[] = [];
  const source = createScriptedAnswer(log);
  const stream = finalizing(source, async (end) => {
    ends.push(end);
    await turn();
    await finalize();
    log.push('finalized');
  });
  return { stream, source, log, ends };
}

describe('stream with a last step', () => {
  it('takes it at the end of its source, before the reader sees the end', async () => {
    const { stream, source, log, ends } = open();
    source.say(part);
    source.end();
    expect(await stream.next()).toEqual({ done: false, value: part });
    expect(ends).toEqual([]);
    expect(await stream.next()).toEqual(END);
    expect(log).toEqual(['finalized']);
    expect(ends).toEqual([{ reason: 'done' }]);
  });

  it('can be iterated', async () => {
    const { stream, source, log } = open();
    source.say(part);
    source.end();
    const parts: unknown[] = [];
    for await (const one of stream) parts.push(one);
    expect(parts).toEqual([part]);
    expect(log).toEqual(['finalized']);
  });

  it('takes it once, and asks its source no more', async () => {
    const { stream, source, log, ends } = open();
    source.end();
    await stream.next();
    expect(await stream.next()).toEqual(END);
    expect(await stream.return?.()).toEqual(END);
    expect(source.reads).toBe(1);
    expect(ends).toEqual([{ reason: 'done' }]);
    expect(log).toEqual(['finalized', 'cancel']);
  });

  it('takes it before the reader sees a failure of the source', async () => {
    const { stream, source, log, ends } = open();
    source.fail(gone);
    await expect(stream.next()).rejects.toBe(gone);
    expect(ends).toEqual([{ reason: 'failed', error: gone }]);
    expect(log).toEqual(['finalized']);
    expect(await stream.next()).toEqual(END);
    expect(source.reads).toBe(1);
  });

  it('lets no reader see the end before', async () => {
    let end = (): void => undefined;
    const ending = new Promise<void>((resolve) => {
      end = resolve;
    });
    const { stream, source, log } = open(() => ending);
    source.end();
    const read = (): Promise<unknown> => stream.next().then(() => log.push('end'));
    const first = read();
    await turn();
    const second = read();
    await turn();
    expect(log).toEqual([]);
    end();
    await Promise.all([first, second]);
    expect(log).toEqual(['finalized', 'end', 'end']);
  });
});

describe('stream with a last step that fails', () => {
  const away = new Error('away');
  const fail = (): Promise<void> => Promise.reject(away);

  it('fails at its end', async () => {
    const { stream, source } = open(fail);
    source.end();
    await expect(stream.next()).rejects.toBe(away);
  });

  it('fails as its source does', async () => {
    const { stream, source } = open(fail);
    source.fail(gone);
    await expect(stream.next()).rejects.toBe(gone);
  });

  it('fails when its reader stops, after its source has stopped', async () => {
    const { stream, log } = open(fail);
    await expect(stream.return?.()).rejects.toBe(away);
    expect(log).toEqual(['cancel']);
  });

  it('fails also where it fails at once', async () => {
    const stream = finalizing(createScriptedAnswer([]), () => {
      throw away;
    });
    await expect(stream.return?.()).rejects.toBe(away);
  });
});

describe('reader that stops', () => {
  it('stops the source before the first read', async () => {
    const { stream, source, log, ends } = open();
    expect(await stream.return?.()).toEqual(END);
    expect(log).toEqual(['cancel', 'finalized']);
    expect(ends).toEqual([{ reason: 'abandoned' }]);
    expect(await stream.next()).toEqual(END);
    expect(source.reads).toBe(0);
  });

  it('needs no end of a read that is pending', async () => {
    const { stream, source, log, ends } = open();
    const reading = stream.next();
    await stream.return?.();
    expect(log).toEqual(['cancel', 'finalized']);
    source.end();
    expect(await reading).toEqual(END);
    expect(ends).toEqual([{ reason: 'abandoned' }]);
  });

  it('waits for its source after the last step', async () => {
    const log: string[] = [];
    let stopped = (_: IteratorResult<string>): void => undefined;
    const source: AsyncIterator<string> = {
      next: async () => ({ done: false, value: 'a' }),
      return: () =>
        new Promise((resolve) => {
          stopped = resolve;
        }),
    };
    const stream = finalizing(source, async () => void log.push('finalized'));
    const leaving = stream.return?.().then(() => log.push('over'));
    await turn();
    expect(log).toEqual(['finalized']);
    stopped({ done: true, value: undefined });
    await leaving;
    expect(log).toEqual(['finalized', 'over']);
  });

  it.each([
    ['fails to stop', { return: () => Promise.reject(gone) }],
    ['cannot be stopped', {}],
  ])('is served by a source that %s', async (_, more) => {
    const ends: StreamEnd[] = [];
    const stream = finalizing({ next: () => Promise.reject(gone), ...more }, (end) => void ends.push(end));
    expect(await stream.return?.()).toEqual(END);
    expect(ends).toEqual([{ reason: 'abandoned' }]);
  });
});
