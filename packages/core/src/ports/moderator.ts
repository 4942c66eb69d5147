import type { CallOptions } from './options.ts';

/** An uploaded file before its release to users. Its bytes no longer change. */
export interface FileToCheck {
  /** The file name, as given by the owner. */
  readonly name: string;
  /** The media type, as declared by the owner. */
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
  /** Fairness key: a string that is constant per owner, as `ExtractOptions` has it. Absent: the owner is unknown. */
  readonly owner?: string;
  /** Returns the bytes from `start` (inclusive) to `end` (exclusive), or fewer at the end of the file. */
  read(start: number, end: number): Promise<Uint8Array>;
  /** Streams all bytes. Can be called more than once. */
  stream(): AsyncIterable<Uint8Array>;
}

/** The decision about a file. */
export type Verdict =
  | { readonly isClean: true }
  /** The reason is for operators; clients never see it. */
  | { readonly isClean: false; readonly reason: string };

/**
 * Decides whether a file may be used. `check` rejects if it cannot decide: the service retries, and blocks the file
 * after three failures. The same file may be checked more than once, and checks may be concurrent.
 */
export interface Moderator {
  check(file: FileToCheck, options?: CallOptions): Promise<Verdict>;
}
