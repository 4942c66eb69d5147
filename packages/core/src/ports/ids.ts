/** Identifiers and secrets, injected so that tests can foresee them. */
export interface Ids {
  /** A new record id: 24 lower-case hexadecimal characters, never given twice, ordered roughly by time. */
  next(): string;
  /** A new correlation id: a version 4 UUID. */
  requestId(): string;
  /** `length` characters of `0-9A-Za-z` from a cryptographically strong source. */
  secret(length: number): string;
  /** `length` bytes from a cryptographically strong source. */
  bytes(length: number): Uint8Array;
}
