import type { Clock } from '../ports/clock.ts';

/** An answer under way that can be ended from outside, properly. */
export interface OpenStream {
  /** The client is told, and what was made so far is settled. */
  stop(): void;
}

/** The streamed answers of this process, so that they can be brought to an end before it ends. */
export interface OpenStreams {
  add(stream: OpenStream): void;
  /** It has come to its end, money and all. */
  remove(stream: OpenStream): void;
  /** Resolves when none is open any more; those that still are after `timeoutMs` are stopped. */
  drain(timeoutMs: number): Promise<void>;
}

/** So long a stopped stream may take to settle. */
const SETTLE_MS = 5000;

export function createOpenStreams(clock: Clock): OpenStreams {
  const open = new Set<OpenStream>();
  const waiting = new Set<() => void>();

  /** @returns after at most `timeoutMs`. */
  const untilEmpty = (timeoutMs: number): Promise<void> => {
    if (open.size === 0) return Promise.resolve();
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
      open.add(stream);
    },
    remove(stream) {
      open.delete(stream);
      if (open.size === 0) for (const end of [...waiting]) end();
    },
    async drain(timeoutMs) {
      if (timeoutMs > 0) await untilEmpty(timeoutMs);
      for (const stream of [...open]) stream.stop();
      await untilEmpty(SETTLE_MS);
    },
  };
}
