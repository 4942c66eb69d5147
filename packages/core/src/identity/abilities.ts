import { createMongoAbility, type ForcedSubject, type MongoAbility, subject } from '@casl/ability';
import type { Caller } from '../contract/call.ts';
import { forbidden } from '../shared/errors.ts';

/** An action on a subject. `manage`: all actions. `administer`: what an administrator may do with records of others. */
export type Action = 'create' | 'read' | 'update' | 'delete' | 'manage' | 'administer';

/** Subject types, with the names of the application API. */
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
  | 'User';

/** One rule, in the format for clients. Conditions limit it to subjects with these field values. */
export interface AbilityRule {
  readonly action: Action;
  readonly subject: Subject;
  readonly conditions?: Readonly<Record<string, string | boolean>>;
}

/** The properties of a user that rules depend on. */
export interface Person {
  readonly userId: string;
  readonly isAdmin: boolean;
}

type Fields = Readonly<Record<string, unknown>>;
type Ability = MongoAbility<[Action, Subject | (Fields & ForcedSubject<Subject>)]>;

/** What administrators may do beyond other users. Private content of others stays private. */
const ADMINISTRATION: readonly AbilityRule[] = [
  { action: 'manage', subject: 'AdminSetting' },
  { action: 'manage', subject: 'RegistrationInvite' },
  { action: 'update', subject: 'User' },
  { action: 'administer', subject: 'User' },
  { action: 'administer', subject: 'Organization' },
  { action: 'administer', subject: 'Subscription' },
  { action: 'administer', subject: 'Agent' },
];

const SHARED = ['Session', 'Project', 'File', 'Artifact', 'Agent'] as const;

/**
 * Lists what a user may do with the records that the API shows. Every record that it shows may be read. Conditions name
 * fields of these records; `permission` is a field of entries in lists with `shared=true`.
 */
export function rulesFor({ userId, isAdmin }: Person): AbilityRule[] {
  return [
    { action: 'read', subject: 'User' },
    { action: 'update', subject: 'User', conditions: { _id: userId } },
    { action: 'manage', subject: 'Session', conditions: { userId } },
    { action: 'manage', subject: 'Project', conditions: { owner_id: userId } },
    { action: 'manage', subject: 'File', conditions: { owner_id: userId } },
    { action: 'manage', subject: 'Artifact', conditions: { owner_id: userId } },
    { action: 'manage', subject: 'Agent', conditions: { ownerId: userId } },
    { action: 'manage', subject: 'Organization', conditions: { ownerId: userId } },
    ...SHARED.flatMap((subject): AbilityRule[] => [
      { action: 'read', subject },
      { action: 'update', subject, conditions: { permission: 'write' } },
    ]),
    { action: 'create', subject: 'Organization' },
    { action: 'read', subject: 'Organization' },
    { action: 'manage', subject: 'Invite', conditions: { invitedBy: userId } },
    { action: 'read', subject: 'Invite' },
    { action: 'read', subject: 'Subscription' },
    { action: 'manage', subject: 'ApiKey' },
    { action: 'manage', subject: 'ProviderKey' },
    ...(isAdmin ? ADMINISTRATION : []),
  ];
}

/**
 * Whether a caller may do this with all subjects of a type or, given fields, with one subject. An API key never has
 * administrator rights.
 */
export function may(caller: Caller, action: Action, what: Subject, like?: Fields): boolean {
  const isAdmin = caller.kind === 'token' && caller.isAdmin;
  const rules = rulesFor({ userId: caller.userId, isAdmin });
  const ability = createMongoAbility<Ability>(rules.map((rule) => ({ ...rule })));
  // A copy, because CASL marks the object.
  if (like !== undefined) return ability.can(action, subject(what, { ...like }));
  // For a bare type CASL answers yes if a rule holds for any subject; here it must hold for all.
  return ability
    .rulesFor(action, what)
    .some(({ conditions, inverted }) => !inverted && conditions === undefined);
}

/** @throws ApiError 403 if the rules do not allow the action. */
export function requireAbility(caller: Caller, action: Action, what: Subject): void {
  if (!may(caller, action, what)) throw forbidden('Administrators only');
}
