import { createMongoAbility, type ForcedSubject, type MongoAbility, subject } from '@casl/ability';
import type { Caller } from '../call.ts';
import { forbidden } from '../errors.ts';

/** What may be done with something. `manage`: anything. */
export type Action = 'create' | 'read' | 'update' | 'delete' | 'manage';

/** What there are rules about, as the application API calls it. `all`: anything. */
export type Subject =
  | 'AdminSetting'
  | 'Agent'
  | 'ApiKey'
  | 'Artifact'
  | 'File'
  | 'Invite'
  | 'Organization'
  | 'Project'
  | 'ProviderKey'
  | 'RegistrationInvite'
  | 'Session'
  | 'Subscription'
  | 'User'
  | 'all';

/** One rule, as a client is told it. With conditions it is about those whose fields are like that. */
export interface AbilityRule {
  readonly action: Action;
  readonly subject: Subject;
  readonly conditions?: Readonly<Record<string, string | boolean>>;
}

/** Who somebody is, as far as rules go. */
export interface Person {
  readonly userId: string;
  readonly isAdmin: boolean;
}

type Fields = Readonly<Record<string, unknown>>;
type Ability = MongoAbility<[Action, Subject | (Fields & ForcedSubject<Subject>)]>;

/**
 * What somebody may do, in one list. Administrators may do all; everybody has their own, and what is shared with them
 * besides: that stands on the things themselves, and storage asks it.
 */
export function rulesFor({ userId, isAdmin }: Person): AbilityRule[] {
  if (isAdmin) return [{ action: 'manage', subject: 'all' }];
  return [
    { action: 'read', subject: 'User', conditions: { _id: userId } },
    { action: 'update', subject: 'User', conditions: { _id: userId } },
    { action: 'manage', subject: 'Session', conditions: { userId } },
    { action: 'manage', subject: 'Project', conditions: { ownerId: userId } },
    { action: 'manage', subject: 'File', conditions: { ownerId: userId } },
    { action: 'manage', subject: 'Artifact', conditions: { ownerId: userId } },
    { action: 'manage', subject: 'Agent', conditions: { ownerId: userId } },
    { action: 'read', subject: 'Agent', conditions: { isPublic: true } },
    { action: 'create', subject: 'Organization' },
    { action: 'manage', subject: 'Organization', conditions: { ownerId: userId } },
    { action: 'manage', subject: 'Invite', conditions: { invitedBy: userId } },
    { action: 'read', subject: 'Subscription', conditions: { userId } },
    { action: 'manage', subject: 'ApiKey', conditions: { userId } },
    { action: 'manage', subject: 'ProviderKey', conditions: { userId } },
  ];
}

/**
 * Whether somebody may do this with everything of a kind or, when it is told what the thing is like, with that one.
 * A key may do what its scopes say, never what an administrator may.
 */
export function may(caller: Caller, action: Action, what: Exclude<Subject, 'all'>, like?: Fields): boolean {
  const isAdmin = caller.kind === 'token' && caller.isAdmin;
  const rules = rulesFor({ userId: caller.userId, isAdmin });
  const ability = createMongoAbility<Ability>(rules.map((rule) => ({ ...rule })));
  // A copy, because asking marks what is asked about.
  if (like !== undefined) return ability.can(action, subject(what, { ...like }));
  // By its kind alone CASL says yes where a rule holds for any one of them; here it must hold for all.
  return ability
    .rulesFor(action, what)
    .some(({ conditions, inverted }) => !inverted && conditions === undefined);
}

/** @throws ApiError 403 for whom the rules do not allow it. */
export function requireAbility(caller: Caller, action: Action, what: Exclude<Subject, 'all'>): void {
  if (!may(caller, action, what)) throw forbidden('Administrators only');
}
