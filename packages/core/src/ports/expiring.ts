import type { CallOptions } from './options.ts';

/**
 * Stores short texts with a TTL, such as one-time tokens. Each call is atomic across all processes that share the
 * store. An expired record behaves like an unknown key. Records may be lost: do not store anything that must be
 * durable.
 */
export interface ExpiringRecords {
  /**
   * Stores `value` for `lifeMs` milliseconds unless the key exists. @returns whether this call stored it; true for
   * exactly one of several concurrent calls.
   */
  create(key: string, value: string, lifeMs: number, options?: CallOptions): Promise<boolean>;
  get(key: string, options?: CallOptions): Promise<string | undefined>;
  /**
   * Deletes the record and returns its value. Exactly one of several concurrent callers gets it; the others get
   * `undefined`.
   */
  take(key: string, options?: CallOptions): Promise<string | undefined>;
  /** Stores `value` for `lifeMs` milliseconds and replaces an existing record. */
  set(key: string, value: string, lifeMs: number, options?: CallOptions): Promise<void>;
  /** Deletes the record. An unknown key is not an error. */
  remove(key: string, options?: CallOptions): Promise<void>;
}
