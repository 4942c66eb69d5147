import type { ActorType, AuditAction } from '../contract/audit.ts';
import { defineCollection, type Json, type StoredRecord } from '../ports/store.ts';

/** A changed field. Without `before` it is new, without `after` it is removed. Never a secret. */
export interface AuditChange {
  readonly field: string;
  readonly before?: Json;
  readonly after?: Json;
}

/** Who acts, and by which request. */
export interface AuditActor {
  readonly type: ActorType;
  readonly userId?: string;
  readonly keyId?: string;
  /** Identifies the call; made by the service. */
  readonly callId?: string;
  readonly requestId?: string;
  /** The network address of the client, as the host knows it. */
  readonly address?: string;
}

/** One administrative act. Never changed or deleted, except by the retention and by `forgetUser`. */
export interface AuditRecord extends StoredRecord {
  readonly action: AuditAction;
  readonly actorType: ActorType;
  /** The user who acts. */
  readonly actorId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly targetType: string;
  readonly targetId: string;
  /** The organization whose administrators see the entry. */
  readonly organizationId?: string | undefined;
  /** The user whom the target belongs to. */
  readonly targetOwner?: string | undefined;
  readonly changes: readonly AuditChange[];
  readonly requestId?: string | undefined;
  readonly address?: string | undefined;
  /** All ids in the entry, so that `forgetUser` finds it. */
  readonly mentions: readonly string[];
  readonly createdAt: number;
}

export const AUDIT_LOG = defineCollection<AuditRecord>({
  name: 'audit_log',
  columns: {
    action: 'text',
    actorId: 'text',
    targetId: 'text',
    organizationId: 'text',
    mentions: 'list',
    createdAt: 'integer',
  },
  unique: [],
  indexes: [
    ['createdAt'],
    ['organizationId', 'createdAt'],
    ['actorId', 'createdAt'],
    ['targetId', 'createdAt'],
    ['action', 'createdAt'],
  ],
});

/** A grant that may have happened without its entry. Its id is a hash of account and key. */
export interface GrantIntentRecord extends StoredRecord {
  readonly account: string;
  readonly amount: number;
  readonly key: string;
  readonly reason: string;
  readonly actor: AuditActor;
  /** Time at which the recovery looks at it. Epoch milliseconds. */
  readonly checkAt: number;
  readonly createdAt: number;
}

export const GRANT_INTENTS = defineCollection<GrantIntentRecord>({
  name: 'grant_intents',
  columns: { checkAt: 'integer' },
  unique: [],
  indexes: [['checkAt']],
});
