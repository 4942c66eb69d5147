import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock } from '@questline/testing';
import { CompletionStream, type StreamSource } from '../src/features/completions/stream.ts';
import type { AnswerChunk, AnswerPart } from '../src/ports/models.ts';

interface Behaviour {
  readonly keepAlive?: () => string;
  readonly finish?: () => Promise<string>;
  /** Returns the failure's last frames. */
  readonly fail?: (error: Error) => Promise<string>;
  /** Whether the usage report is missing still. */
  readonly awaitsReport?: () => boolean;
  /** Stops the provider. */
  readonly leave?: (readOn: () => Promise<void>) => Promise<void>;
}

/** A stream over an answer that the test gives step by step. A frame is the texts of a step and a bar. */
export function openScriptedStream(behaviour: Behaviour = {}) {
  const clock = createFakeClock();
  const leaving = new AbortController();
  const log: string[] = [];
  const seen: AnswerPart[] = [];
  const answer = createScriptedAnswer(log);
  let buffered = '';
  const source: StreamSource = {
    chunks: answer,
    clock,
    signal: leaving.signal,
    encoder: {
      head: 'head|',
      ...(behaviour.keepAlive !== undefined && { keepAlive: behaviour.keepAlive }),
      add(part) {
        if (part.type !== 'text') return;
        if (part.text === undefined) throw new Error('a part without text');
        buffered += part.text;
      },
      flush() {
        const frames = buffered === '' ? '' : `${buffered}|`;
        buffered = '';
        return frames;
      },
    },
    see: (part) => void seen.push(part),
    awaitsReport: behaviour.awaitsReport ?? (() => false),
    async leave(readOn) {
      log.push('leave');
      await behaviour.leave?.(readOn);
    },
    finish() {
      log.push('finish');
      return behaviour.finish?.() ?? Promise.resolve('finished|');
    },
    fail(error) {
      const { message } = error as Error;
      log.push(`fail ${message}`);
      return behaviour.fail?.(error as Error) ?? Promise.resolve(`${message}|`);
    },
    async finalize() {
      log.push('finalize');
    },
  };
  return {
    stream: new CompletionStream(source, answer.next()),
    answer,
    clock,
    leaving,
    log,
    seen,
    /** Lets the work that is due run. */
    settle: () => turn(),
    /** Returns the numbers of open timers and listeners. */
    leftovers: () => [clock.pending, getEventListeners(leaving.signal, 'abort').length],
  };
}

/** An answer that the test gives step by step. Its cancellation is logged. */
export function createScriptedAnswer<T extends AnswerChunk = AnswerChunk>(
  log: string[],
  cancelled = 'cancel',
) {
  type Step = IteratorResult<T>;
  const steps: Promise<Step>[] = [];
  const readers: ((step: Promise<Step>) => void)[] = [];
  let thrown: Error | undefined;
  let reads = 0;
  const add = (step: Promise<Step>): void => {
    step.catch(() => undefined);
    const reader = readers.shift();
    if (reader === undefined) steps.push(step);
    else reader(step);
  };
  return {
    /** The number of steps that were asked for. */
    get reads() {
      return reads;
    },
    say: (chunk: T) => add(Promise.resolve({ done: false, value: chunk })),
    end: () => add(Promise.resolve({ done: true, value: undefined })),
    fail: (error: Error) => add(Promise.reject(error)),
    throwNext(error: Error) {
      thrown = error;
    },
    next(): Promise<Step> {
      reads += 1;
      if (thrown !== undefined) throw thrown;
      return steps.shift() ?? new Promise((resolve) => readers.push(resolve));
    },
    async return(): Promise<Step> {
      log.push(cancelled);
      return { done: true, value: undefined };
    },
  };
}
