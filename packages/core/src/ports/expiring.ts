import type { CallOptions } from './options.ts';

/**
 * Short texts that end by themselves: one-time tokens, pauses between mails. Each call is atomic, in every process that
 * shares them; a record whose time is over answers like one that never was. They may be lost: nothing that must survive.
 */
export interface ExpiringRecords {
  /** Keeps `value` for `lifeMs`, unless the key is in use. @returns whether this call did: of any number at once exactly one. */
  create(key: string, value: string, lifeMs: number, options?: CallOptions): Promise<boolean>;
  get(key: string, options?: CallOptions): Promise<string | undefined>;
  /** Removes the record and hands it over: of concurrent takers exactly one gets it. */
  take(key: string, options?: CallOptions): Promise<string | undefined>;
  /** Keeps `value` for `lifeMs` from now, whatever was there before. */
  set(key: string, value: string, lifeMs: number, options?: CallOptions): Promise<void>;
  /** Removing an unknown key is no error. */
  remove(key: string, options?: CallOptions): Promise<void>;
}
