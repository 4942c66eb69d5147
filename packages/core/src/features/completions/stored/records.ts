import type { WireUsage } from '../../../credits/wire-usage.ts';
import { defineCollection, type StoredRecord } from '../../../ports/store.ts';

/** What a stored completion contains besides its text, as clients receive it. */
export interface StoredOutcome {
  readonly tools?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly thinking?: readonly { readonly type: string; readonly [field: string]: unknown }[];
  readonly usage?: WireUsage;
  readonly credits?: { readonly used: number; readonly usdCost: number };
  readonly stopReason?: string;
  readonly error?: { readonly message: string; readonly code?: string };
}

/** A completion whose caller asked to store it. Its id consists of the owner and the request id. */
export interface StoredCompletion extends StoredRecord {
  readonly ownerId: string;
  readonly requestId: string;
  readonly status: 'running' | 'done' | 'failed';
  /** The model that answers. */
  readonly model: string;
  /** Absent while it runs. */
  readonly text?: string;
  readonly outcome?: StoredOutcome;
  readonly createdAt: number;
  /** When the process that answers was last alive. */
  readonly heartbeatAt: number;
  readonly expiresAt: number;
}

export const STORED_COMPLETIONS = defineCollection<StoredCompletion>({
  name: 'stored_completions',
  columns: { ownerId: 'text', status: 'text', heartbeatAt: 'integer', expiresAt: 'integer' },
  unique: [],
  indexes: [['ownerId'], ['status', 'heartbeatAt'], ['expiresAt']],
});

/** Request ids belong to their caller: two users may choose the same one. */
export function toCompletionId(ownerId: string, requestId: string): string {
  return `${ownerId}:${requestId}`;
}

/** How long a completion can be read, in milliseconds. */
export const KEEP_MS = 24 * 3_600_000;

export const HEARTBEAT_MS = 15_000;

/** A running completion without a heartbeat for this time was interrupted, in milliseconds. */
export const STALE_MS = 4 * HEARTBEAT_MS;
