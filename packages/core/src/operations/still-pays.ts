import type { Payer } from '../contract/call.ts';
import { API_KEYS } from '../identity/records.ts';
import type { Store } from '../ports/store.ts';

export interface StillPaysServices {
  readonly store: Store;
  readonly isMember: (userId: string, organizationId: string) => Promise<boolean>;
}

const ORGANIZATION = 'organization:';

/**
 * Whether the payer of a waiting quest pays for what its user continues. An organization pays for its members, and for an
 * active key of its own.
 */
export async function stillPays(
  { store, isMember }: StillPaysServices,
  { account, userId, keyId }: Payer,
): Promise<boolean> {
  if (!account.startsWith(ORGANIZATION)) return true;
  const organizationId = account.slice(ORGANIZATION.length);
  if (await isMember(userId, organizationId)) return true;
  if (keyId === undefined) return false;
  const own = { status: 'active', organizationId } as const;
  return (await store.collection(API_KEYS).get(keyId, own)) !== undefined;
}
