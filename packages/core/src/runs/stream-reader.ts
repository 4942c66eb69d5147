import type { Call } from '../contract/call.ts';
import type { Clock } from '../ports/clock.ts';
import type { LiveTails } from './live-tails.ts';

/** Longest silence before a keep-alive comment, in milliseconds. */
export const MAX_SILENCE_MS = 15_000;

/** The call of a reader. */
export type ReaderCall = Pick<Call, 'request' | 'signal' | 'checkCredential'>;

/** Checks the credential of the reader before each look. */
export function withCredential<T>(call: ReaderCall, load: () => Promise<T>): () => Promise<T> {
  return async () => {
    await call.checkCredential?.();
    return load();
  };
}

/** The connection of one reader. */
export interface StreamReader {
  /** Whether it has disconnected, or the process ends. */
  isLeft(): boolean;
  /** Waits for `wake` or the end of the connection. @returns true after `ms` without either. */
  wait(ms: number): Promise<boolean>;
  wake(): void;
}

/** Creates the body of a streamed response. @param generate its writes; it must end soon after the reader has left. */
export function streamToReader(
  { clock, liveTails }: { readonly clock: Clock; readonly liveTails: LiveTails },
  signal: AbortSignal,
  generate: (reader: StreamReader) => AsyncGenerator<string, undefined>,
): AsyncIterableIterator<string> {
  let isLeft = false;
  /** Woken since the last wait. */
  let isWoken = false;
  let resume = (): void => undefined;
  const wake = (): void => {
    isWoken = true;
    resume();
  };
  const leave = (): void => {
    isLeft = true;
    wake();
  };
  const reader: StreamReader = {
    isLeft: () => isLeft,
    wait: (ms) =>
      new Promise((resolve) => {
        const end = (isSilent: boolean): void => {
          cancel();
          resume = () => undefined;
          isWoken = false;
          resolve(isSilent);
        };
        const cancel = clock.timer(ms, () => end(true));
        resume = () => end(false);
        if (isWoken || isLeft) end(false);
      }),
    wake,
  };
  async function* run(): AsyncGenerator<string, undefined> {
    const remove = liveTails.add(leave);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    try {
      yield* generate(reader);
    } finally {
      remove();
      signal.removeEventListener('abort', leave);
    }
  }
  const writes = run();
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => writes.next(),
    async return() {
      leave();
      return writes.return(undefined);
    },
  };
}

/** Whether the record is gone, or the reader may no longer read it. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'status' in error && [401, 403, 404].includes(Number(error.status));
}
