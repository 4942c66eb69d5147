import type { Charge, Hold, LedgerEntry, Usage } from '@questline/core/ports';
import { type SqlRow, toNumber } from '../statement.ts';
import { fromJson } from '../store/json.ts';

export function toHold({ id, account, reserved, expires_at }: SqlRow): Hold {
  return {
    id: String(id),
    account: String(account),
    amount: toNumber(reserved),
    expiresAt: toNumber(expires_at),
  };
}

/** @param now an expired hold counts as released, even if it is not swept yet. */
export function toCharge(row: SqlRow, now: number): Charge {
  const isOpen = row.open_until !== null && toNumber(row.open_until) > now;
  return {
    id: String(row.id),
    account: String(row.account),
    status: row.settled_at !== null ? 'settled' : isOpen ? 'reserved' : 'released',
    amount: toNumber(isOpen ? row.reserved : row.charged),
    operation: String(row.operation),
    ...(row.model !== null && { model: String(row.model) }),
    ...(row.key_id !== null && { keyId: String(row.key_id) }),
    ...(row.user_id !== null && { userId: String(row.user_id) }),
    ...(row.request_id !== null && { requestId: String(row.request_id) }),
    ...(row.usage_text !== null && { usage: fromJson<Usage>(row.usage_text) }),
    createdAt: toNumber(row.created_at),
  };
}

export function toEntry(row: SqlRow): LedgerEntry {
  return {
    id: entryId(toNumber(row.sequence)),
    account: String(row.account),
    kind: row.kind === 'grant' ? 'grant' : 'charge',
    amount: toNumber(row.amount),
    key: String(row.key),
    reason: String(row.reason),
    createdAt: toNumber(row.created_at),
  };
}

/** The id of an entry is its sequence number, padded to the length of ids. */
function entryId(sequence: number): string {
  return sequence.toString(16).padStart(24, '0');
}

/** 0, before all entries, for an invalid id. */
export function entrySequence(id: string): number {
  return /^[0-9a-f]{1,24}$/.test(id) ? Math.min(Number.parseInt(id, 16), Number.MAX_SAFE_INTEGER) : 0;
}
