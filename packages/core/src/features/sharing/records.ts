import type { Permission } from '../../access/access.ts';
import { defineCollection, type StoredRecord } from '../../ports/store.ts';

export const INVITE_STATES = ['pending', 'accepted', 'refused', 'revoked'] as const;
export type InviteStatus = (typeof INVITE_STATES)[number];

/** Offers a share in a resource to an e-mail address. */
export interface SharingInviteRecord extends StoredRecord {
  /** The kind of the resource: the word in its path. */
  readonly type: string;
  readonly resourceId: string;
  /** Lower case. */
  readonly email: string;
  readonly permission: Permission;
  readonly status: InviteStatus;
  /** Kind, resource and address while pending: a unique key that permits one pending invite. */
  readonly pendingFor?: string | undefined;
  readonly invitedBy: string;
  /** The user who accepted it. */
  readonly acceptedBy?: string | undefined;
  readonly createdAt: number;
  /** Expiry. Null: never. */
  readonly expiresAt: number | null;
}

export const SHARING_INVITES = defineCollection<SharingInviteRecord>({
  name: 'sharing_invites',
  columns: {
    type: 'text',
    resourceId: 'text',
    email: 'text',
    status: 'text',
    pendingFor: 'text',
    invitedBy: 'text',
    acceptedBy: 'text',
    createdAt: 'integer',
    expiresAt: 'integer',
  },
  unique: [['pendingFor']],
  indexes: [
    ['email', 'createdAt'],
    ['resourceId', 'createdAt'],
  ],
});

export function pendingFor({
  type,
  resourceId,
  email,
}: Pick<SharingInviteRecord, 'type' | 'resourceId' | 'email'>): string {
  return `${type}:${resourceId}:${email}`;
}
