import { hash } from 'node:crypto';

/**
 * Returns the record id of an event: a retry, a second worker and a recovery after a crash write the same event, and
 * not a second one.
 */
export function getEventRecordId(type: string, key: string): string {
  return hash('sha256', `${type} ${key}`, 'hex').slice(0, 24);
}

export function toEventId(recordId: string): string {
  return `evt_${recordId}`;
}

/** Returns the user or the organization of an account. */
export function getAccountOwner(account: string): {
  readonly userId?: string;
  readonly organizationId?: string;
} {
  const at = account.indexOf(':');
  const id = account.slice(at + 1);
  return account.slice(0, at) === 'organization' ? { organizationId: id } : { userId: id };
}
