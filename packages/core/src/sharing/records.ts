import { defineCollection, type StoredRecord } from '../ports/store.ts';

export const PERMISSIONS = ['read', 'write'] as const;
export type Permission = (typeof PERMISSIONS)[number];

export const INVITE_STATES = ['pending', 'accepted', 'refused', 'revoked'] as const;
export type InviteStatus = (typeof INVITE_STATES)[number];

/** Offers whoever has an e-mail address a share in something. */
export interface SharingInviteRecord extends StoredRecord {
  /** Which kind of thing: the word in its path. */
  readonly type: string;
  readonly resourceId: string;
  /** Lower case. */
  readonly email: string;
  readonly permission: Permission;
  readonly status: InviteStatus;
  /** Kind, thing and address while it is pending, so that there is one at a time. */
  readonly pendingFor?: string | undefined;
  readonly invitedBy: string;
  /** The user it has let in. */
  readonly acceptedBy?: string | undefined;
  readonly createdAt: number;
  /** Null: never. */
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
