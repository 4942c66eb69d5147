import type { ModelChunk, ModelPart } from '@questline/core/ports';
import type { AnswerReader, StreamPart } from './answer.ts';

/** Stream parts that may wait for a slow reader before reading from the model pauses. */
const readAhead = 256;

export interface ChunkOptions {
  readonly answer: AnswerReader;
  /** Converts an error to the one that the reader receives. */
  readonly failure: (error: unknown) => unknown;
  /** Stops the model. Called once, unless the stream has ended by itself. */
  readonly stop: (reason: unknown) => void;
  /** Aborted when the caller has disconnected. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Yields what a model streams. All events of one turn of the event loop form one chunk: the SDK passes each event
 * through several streams, and every step of ours would cost more than the event.
 */
export function toChunks(
  stream: ReadableStream<StreamPart>,
  { answer, failure, stop, signal }: ChunkOptions,
): AsyncIterableIterator<ModelChunk> {
  const reader = stream.getReader();
  let ready: ModelPart[] = [];
  let reading = false;
  let over = false;
  let failed: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  let resume: (() => void) | undefined;
  let turn: NodeJS.Immediate | undefined;

  const aborted = () => end({ error: signal?.reason }, 'stop');
  if (signal?.aborted) aborted();
  else signal?.addEventListener('abort', aborted);

  function end(outcome: { readonly error: unknown } | undefined, how: 'done' | 'stop'): void {
    if (over) return;
    over = true;
    failed = outcome;
    signal?.removeEventListener('abort', aborted);
    if (how === 'stop') {
      // Streams that a vendor's package has split do not forward a cancellation: abort the call too.
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
      if (!reading) {
        reading = true;
        void pump();
      }
      while ((ready.length === 0 || turn !== undefined) && !over) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (ready.length > 0) {
        const chunk = ready;
        ready = [];
        resume?.();
        return { done: false, value: chunk };
      }
      if (failed !== undefined) {
        const { error } = failed;
        failed = undefined;
        throw error;
      }
      return { done: true, value: undefined };
    },
    async return() {
      ready = [];
      end(undefined, 'stop');
      failed = undefined;
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
