/** Creates identifiers and secrets. It is injected so that tests are deterministic. */
export interface Ids {
  /** Returns a new, unique record id: 24 lower-case hexadecimal characters, roughly ordered by time. */
  next(): string;
  /** Returns a new correlation id: a version 4 UUID. */
  requestId(): string;
  /** Returns `length` characters of `0-9A-Za-z` from a cryptographically strong source. */
  secret(length: number): string;
  /** Returns `length` bytes from a cryptographically strong source. */
  bytes(length: number): Uint8Array;
}
