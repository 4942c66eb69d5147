import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { ExtractedText } from '@questline/core';
import type { Outcome, Reading } from './reading.ts';

export interface ThreadLimits {
  /** A document that takes longer is given up. Milliseconds. */
  readonly mostMs: number;
  /** So much memory a document may take while it is read. MiB. */
  readonly mostMemory: number;
}

/** Reads one document in another thread. Rejects with why it cannot be read, or with the signal's reason. */
export type ReadElsewhere = (reading: Reading, signal?: AbortSignal) => Promise<ExtractedText>;

interface Task {
  readonly reading: Reading;
  /** Gives it up, whether it waits or is being read. */
  readonly abort: () => void;
  readonly signal: AbortSignal | undefined;
  resolve(text: ExtractedText): void;
  reject(error: unknown): void;
}

/** A thread without work ends after so long. */
const IDLE_MS = 10_000;

/** This file as it runs: a source, or built for either kind of modules. The thread's own lies beside it, in the same kind. */
const here = typeof __filename === 'string' ? __filename : fileURLToPath(import.meta.url);

/**
 * One thread that reads documents one after the other: the host's own goes on with its requests meanwhile. It begins with
 * the first document and ends when there are no more for a while, or with the process. A document that takes too long or
 * too much takes the thread with it, and no other document: those that wait are read by a new one.
 */
export function createReadingThread({ mostMs, mostMemory }: ThreadLimits): ReadElsewhere {
  const waiting: Task[] = [];
  let thread: Worker | undefined;
  let task: Task | undefined;
  let timer: NodeJS.Timeout | undefined;

  const start = (): Worker => {
    const began = new Worker(new URL(`./worker${extname(here)}`, pathToFileURL(here)), {
      resourceLimits: { maxOldGenerationSizeMb: mostMemory },
      // Strangers' documents are read there: it needs nothing of the host's, runs nothing of it, and says nothing in its place.
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
    });
    began.on('message', (outcome: Outcome) => {
      if (began !== thread) return;
      if ('read' in outcome) end((ended) => ended.resolve(outcome.read));
      else end((ended) => ended.reject(new Error(outcome.refused)));
    });
    began.on('error', (error) => lose(began, error));
    began.on('exit', () => lose(began, new Error('the thread has ended')));
    return began;
  };

  const next = (): void => {
    clearTimeout(timer);
    task = waiting.shift();
    if (task === undefined) {
      rest();
      return;
    }
    const { reading } = task;
    try {
      thread ??= start();
      thread.ref();
      timer = setTimeout(() => giveUp(new RangeError(`it takes longer than ${mostMs} ms to read`)), mostMs);
      thread.postMessage(reading, [reading.bytes.buffer]);
    } catch (error) {
      end((ended) => ended.reject(error));
    }
  };

  /** Keeps no process alive for what may come. */
  const rest = (): void => {
    thread?.unref();
    timer = setTimeout(stop, IDLE_MS).unref();
  };

  const stop = (): void => {
    void thread?.terminate();
    thread = undefined;
  };

  const end = (tell: (ended: Task) => void): void => {
    const ended = task;
    if (ended === undefined) return;
    ended.signal?.removeEventListener('abort', ended.abort);
    tell(ended);
    next();
  };

  const giveUp = (error: unknown): void => {
    stop();
    end((ended) => ended.reject(error));
  };

  const lose = (lost: Worker, error: unknown): void => {
    if (lost !== thread) return;
    thread = undefined;
    const isFull = error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    const reason = isFull ? new RangeError(`it takes more than ${mostMemory} MiB to read`) : error;
    end((ended) => ended.reject(reason));
  };

  return (reading, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const own: Task = {
        reading,
        signal,
        resolve,
        reject,
        abort() {
          if (own === task) return giveUp(signal?.reason);
          waiting.splice(waiting.indexOf(own), 1);
          reject(signal?.reason as Error);
        },
      };
      signal?.addEventListener('abort', own.abort, { once: true });
      waiting.push(own);
      if (task === undefined) next();
    });
}
