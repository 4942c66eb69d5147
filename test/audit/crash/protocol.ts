import type { EngineAddress } from '../../../packages/sql/test/engines.ts';

/** Where the process kills itself. */
export type GrantCrash =
  /** The intent is stored; nothing is granted. */
  | 'before-grant'
  /** Granted, but the audit log has no entry. */
  | 'after-grant';

export interface GrantOrder {
  readonly address: EngineAddress;
  readonly account: string;
  /** The idempotency key of the grant. */
  readonly key: string;
  readonly crash?: GrantCrash;
}
