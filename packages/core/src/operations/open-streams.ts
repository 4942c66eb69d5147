import type { Clock } from '../ports/clock.ts';
import { createBag } from '../shared/bag.ts';

/** A running streamed response that can be stopped from outside. */
export interface OpenStream {
  /** Sends an error event to the client and settles the charge. */
  stop(): void;
}

/** Tracks the streamed responses of this process for graceful shutdown. */
export interface OpenStreams {
  /** @returns removes the stream: to be called when the response has ended and is settled. */
  add(stream: OpenStream): () => void;
  /** Resolves when no stream is open. Stops the remaining streams after `timeoutMs`. */
  drain(timeoutMs: number): Promise<void>;
}

/** Maximum time for a stopped stream to settle, in milliseconds. */
const SETTLE_MS = 5000;

export function createOpenStreams(clock: Clock): OpenStreams {
  const open = createBag<OpenStream>();
  const waiting = new Set<() => void>();

  /** Waits at most `timeoutMs`. */
  const untilEmpty = (timeoutMs: number): Promise<void> => {
    if (open.size() === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        waiting.delete(end);
        resolve();
      };
      const cancel = clock.timer(timeoutMs, end);
      waiting.add(end);
    });
  };

  return {
    add(stream) {
      const remove = open.add(stream);
      return () => {
        remove();
        if (open.size() === 0) for (const end of [...waiting]) end();
      };
    },
    async drain(timeoutMs) {
      if (timeoutMs > 0) await untilEmpty(timeoutMs);
      for (const stream of open.values()) stream.stop();
      await untilEmpty(SETTLE_MS);
    },
  };
}
