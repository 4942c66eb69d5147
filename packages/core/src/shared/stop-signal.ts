/**
 * The part of an `AbortSignal` that a stream needs. An open stream keeps one, and a whole `AbortSignal` takes more than 1 KB.
 */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** The listener is called at most once, and not for an abort before. */
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
