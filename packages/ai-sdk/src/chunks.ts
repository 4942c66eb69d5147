import type { ModelChunk, ModelPart } from '@questline/core';
import type { AnswerReader, StreamPart } from './answer.ts';

/** Parts that may wait for a slow reader before we stop reading from the model. */
const readAhead = 256;

export interface ChunkTerms {
  readonly answer: AnswerReader;
  /** Turns what was thrown into what the reader is given. */
  readonly failure: (error: unknown) => unknown;
  /** Ends the model's work. Called once, unless the stream came to its own end. */
  readonly stop: (reason: unknown) => void;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Hands out what a model streams. All that one turn of the event loop brings is one chunk: the SDK passes every event
 * through several streams by itself, and each of our steps costs more than the event.
 */
export function toChunks(
  stream: ReadableStream<StreamPart>,
  { answer, failure, stop, signal }: ChunkTerms,
): AsyncIterableIterator<ModelChunk> {
  const reader = stream.getReader();
  let ready: ModelPart[] = [];
  let reading = false;
  let over = false;
  let fault: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  let resume: (() => void) | undefined;
  let turn: NodeJS.Immediate | undefined;

  const aborted = () => end({ error: signal?.reason }, 'stop');
  if (signal?.aborted) aborted();
  else signal?.addEventListener('abort', aborted, { once: true });

  function end(outcome: { readonly error: unknown } | undefined, how: 'done' | 'stop'): void {
    if (over) return;
    over = true;
    fault = outcome;
    signal?.removeEventListener('abort', aborted);
    clearImmediate(turn);
    if (how === 'stop') {
      // Streams that were split inside a vendor's package don't pass a cancellation on, so the call is aborted too.
      reader.cancel(outcome?.error).catch(() => {});
      stop(outcome?.error);
    }
    resume?.();
    wake?.();
  }

  async function pump(): Promise<void> {
    try {
      while (!over) {
        const { done, value } = await reader.read();
        if (over) return;
        if (done) {
          answer.end();
          end(undefined, 'done');
          return;
        }
        answer.read(value, ready);
        if (ready.length > 0 && turn === undefined) turn = setImmediate(deliver);
        if (ready.length >= readAhead) {
          await new Promise<void>((resolve) => {
            resume = resolve;
          });
        }
      }
    } catch (error) {
      end({ error: failure(error) }, 'stop');
    }
  }

  function deliver(): void {
    turn = undefined;
    wake?.();
  }

  return {
    async next() {
      if (!reading && !over) {
        reading = true;
        void pump();
      }
      while ((ready.length === 0 || turn !== undefined) && !over) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      wake = undefined;
      if (ready.length > 0) {
        const chunk = ready;
        ready = [];
        resume?.();
        return { done: false, value: chunk };
      }
      if (fault !== undefined) {
        const { error } = fault;
        fault = undefined;
        throw error;
      }
      return { done: true, value: undefined };
    },
    async return() {
      ready = [];
      end(undefined, 'stop');
      fault = undefined;
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
