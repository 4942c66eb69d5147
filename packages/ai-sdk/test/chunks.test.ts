import { getEventListeners } from 'node:events';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { AnswerReader } from '../src/answer.ts';
import { toChunks } from '../src/chunks.ts';
import { finish } from './scripted.ts';

const gone = new Error('gone');
const delta = (text: string): LanguageModelV4StreamPart => ({ type: 'text-delta', id: '0', delta: text });
const text = (said: string) => ({ type: 'text', text: said });
const settle = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)));
/** Runs pending microtasks, and no other turn of the event loop. */
const finishMicrotasks = async (): Promise<void> => {
  for (let count = 0; count < 20; count += 1) await Promise.resolve();
};

function start(signal?: AbortSignal) {
  const stopped: unknown[] = [];
  const cancelled: unknown[] = [];
  let controller: ReadableStreamDefaultController<LanguageModelV4StreamPart> | undefined;
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start: (own) => {
      controller = own;
    },
    cancel: (reason) => void cancelled.push(reason),
  });
  const chunks = toChunks(stream, {
    answer: new AnswerReader('test.chat'),
    failure: (error) => error,
    stop: (reason) => void stopped.push(reason),
    signal,
  });
  const say = (...parts: LanguageModelV4StreamPart[]) => {
    for (const part of parts) controller?.enqueue(part);
  };
  return { chunks, say, close: () => controller?.close(), stopped, cancelled };
}

describe('chunks of a stream', () => {
  test('have all parts of a turn, also where the reader comes late', async () => {
    const { chunks, say, close } = start();
    const first = chunks.next();
    say(delta('a'));
    expect(await first).toEqual({ done: false, value: [text('a')] });
    say(delta('b'));
    await finishMicrotasks();
    const second = chunks.next();
    say(delta('c'));
    expect(await second).toEqual({ done: false, value: [text('b'), text('c')] });
    say(finish);
    close();
    expect((await chunks.next()).value).toHaveLength(2);
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
  });

  test('end with an error where the answer is not complete', async () => {
    const { chunks, close, stopped } = start();
    close();
    await expect(chunks.next()).rejects.toThrow('the stream ended before the answer was complete');
    expect(stopped).toHaveLength(1);
  });

  test('are none where the signal is aborted from the beginning', async () => {
    const { chunks, stopped, cancelled } = start(AbortSignal.abort(gone));
    await expect(chunks.next()).rejects.toBe(gone);
    expect([stopped, cancelled]).toEqual([[gone], [gone]]);
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
  });

  test('are none after an abort, also of parts that come with it', async () => {
    const abort = new AbortController();
    const { chunks, say } = start(abort.signal);
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1);
    const waiting = chunks.next();
    await finishMicrotasks();
    say(delta('a'));
    abort.abort(gone);
    await expect(waiting).rejects.toBe(gone);
    await settle();
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });

  test('are none after the reader has left, neither parts nor the reason of an abort', async () => {
    const abort = new AbortController();
    const read = start(abort.signal);
    const first = read.chunks.next();
    read.say(delta('a'));
    await first;
    read.say(delta('b'));
    await settle();
    expect(await read.chunks.return?.()).toEqual({ done: true, value: undefined });
    expect(await read.chunks.next()).toEqual({ done: true, value: undefined });
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    const left = start(abort.signal);
    abort.abort(gone);
    await left.chunks.return?.();
    expect(await left.chunks.next()).toEqual({ done: true, value: undefined });
  });
});
