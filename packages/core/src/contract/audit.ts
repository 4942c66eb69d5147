/** What the audit log records, as `<kind of target>.<past participle>`. */
export const AUDIT_ACTIONS = [
  'key.created',
  'key.updated',
  'key.rotated',
  'key.revoked',
  'credits.granted',
  'user.created',
  'user.updated',
  'user.role_changed',
  'user.disabled',
  'user.enabled',
  'user.deleted',
  'setting.changed',
  'organization.created',
  'organization.updated',
  'organization.deleted',
  'organization.transferred',
  'organization.member_added',
  'organization.member_removed',
  'organization.member_role_changed',
  'organization.member_invited',
  'organization.invite_revoked',
  'budget.created',
  'budget.updated',
  'budget.deleted',
  'provider_key.created',
  'provider_key.activated',
  'provider_key.deleted',
  'webhook.created',
  'webhook.updated',
  'webhook.disabled',
  'webhook.enabled',
  'webhook.secret_rotated',
  'webhook.deleted',
  'registration_invite.created',
  'registration_invite.deleted',
  'agent.approved',
  'agent.refused',
] as const;

export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/**
 * Who acts: a signed-in user, a user whom the host identifies, an API key, the command line, or the service itself,
 * including calls of the host's code.
 */
export const ACTOR_TYPES = ['user', 'host-user', 'key', 'command-line', 'service'] as const;

export type ActorType = (typeof ACTOR_TYPES)[number];
