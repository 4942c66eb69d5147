import { abortable } from './streams.ts';

interface Timers {
  /** @returns a function that cancels the timer. */
  timer(ms: number, listener: () => void): () => void;
}

/** A running timeout. */
export interface Timeout {
  /** Aborted after the timeout, or earlier together with the outer signal. */
  readonly signal: AbortSignal;
  /** Stops the timer. */
  end(): void;
}

/** @param error creates the reason of the abort. @param outer aborts earlier, with its own reason. */
export function startTimeout(clock: Timers, ms: number, error: () => Error, outer?: AbortSignal): Timeout {
  const control = new AbortController();
  const cancel = clock.timer(ms, () => control.abort(error()));
  const pass = (): void => control.abort(outer?.reason);
  if (outer?.aborted === true) pass();
  outer?.addEventListener('abort', pass, { once: true });
  return {
    signal: control.signal,
    end() {
      cancel();
      outer?.removeEventListener('abort', pass);
    },
  };
}

/** Rejects after `ms`, or when the outer signal is aborted, even if `work` ignores its signal. */
export async function withTimeout<T>(
  clock: Timers,
  ms: number,
  error: () => Error,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted();
  const timeout = startTimeout(clock, ms, error, outer);
  try {
    return await abortable(work(timeout.signal), timeout.signal);
  } finally {
    timeout.end();
  }
}
