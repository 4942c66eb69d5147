import type { CallOptions } from './options.ts';

/** A file before anybody may use it. Its bytes no longer change. */
export interface FileToCheck {
  /** As its owner calls it. */
  readonly name: string;
  /** As its owner declares it. */
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
  /** The bytes from `start` up to, not including, `end`; fewer where the file ends. */
  read(start: number, end: number): Promise<Uint8Array>;
  /** All of them, as they come. Can be read again and again. */
  stream(): AsyncIterable<Uint8Array>;
}

export type Verdict =
  | { readonly isClean: true }
  /** The reason is for operators; callers never see it. */
  | { readonly isClean: false; readonly reason: string };

/**
 * Decides whether a file may be used. Rejects when it cannot tell: it is asked again then, and the file is blocked when
 * that has happened three times. The same file may be checked more than once, and several at a time.
 */
export interface Moderator {
  check(file: FileToCheck, options?: CallOptions): Promise<Verdict>;
}
