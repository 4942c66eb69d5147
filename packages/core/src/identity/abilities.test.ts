import { createMongoAbility, subject } from '@casl/ability';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../contract/call.ts';
import { may, requireAbility, rulesFor } from './abilities.ts';

const ADA = 'a'.repeat(24);
const EVE = 'e'.repeat(24);
const user: Caller = { kind: 'token', userId: ADA, isAdmin: false };
const admin: Caller = { kind: 'token', userId: ADA, isAdmin: true };
const key: Caller = {
  kind: 'key',
  userId: ADA,
  keyId: 'k',
  name: 'key',
  keyPrefix: 'svc_live_0000000',
  scopes: ['admin:*'],
  organizationId: undefined,
  requestsPerMinute: 60,
  requestsPerDay: 1000,
  spendCap: undefined,
};

describe('abilities', () => {
  it('allow users all actions on their own records, and none on others', () => {
    expect(may(user, 'update', 'Session', { userId: ADA })).toBe(true);
    expect(may(user, 'update', 'Session', { userId: EVE })).toBe(false);
    expect(may(user, 'read', 'Agent', { ownerId: EVE, isPublic: true })).toBe(true);
    expect(may(user, 'update', 'Agent', { ownerId: EVE, isPublic: true })).toBe(false);
    expect(may(user, 'update', 'User', { _id: ADA })).toBe(true);
    expect(may(user, 'update', 'User', { _id: EVE })).toBe(false);
    expect(may(user, 'update', 'Project', { owner_id: EVE, permission: 'write' })).toBe(true);
    expect(may(user, 'delete', 'Project', { owner_id: EVE, permission: 'write' })).toBe(false);
  });

  it.each([
    ['Session', 'userId'],
    ['Project', 'owner_id'],
    ['File', 'owner_id'],
    ['Artifact', 'owner_id'],
    ['Agent', 'ownerId'],
    ['Organization', 'ownerId'],
    ['Invite', 'invitedBy'],
  ] as const)('tell by the owner who may change and delete a record: %s', (what, field) => {
    for (const action of ['create', 'read', 'update', 'delete', 'manage'] as const) {
      expect(may(user, action, what, { [field]: ADA })).toBe(true);
    }
    for (const caller of [user, admin]) {
      for (const action of ['update', 'delete', 'manage'] as const) {
        expect(may(caller, action, what, { [field]: EVE })).toBe(false);
        expect(may(caller, action, what)).toBe(false);
      }
    }
    expect(may(user, 'read', what, { [field]: EVE })).toBe(true);
    expect(may(user, 'read', what)).toBe(true);
  });

  it.each(['Session', 'Project', 'File', 'Artifact', 'Agent'] as const)(
    'let users with the permission change a shared record, and not delete it: %s',
    (what) => {
      expect(may(user, 'update', what, { permission: 'write' })).toBe(true);
      expect(may(user, 'update', what, { permission: 'read' })).toBe(false);
      expect(may(user, 'delete', what, { permission: 'write' })).toBe(false);
      expect(may(user, 'create', what)).toBe(false);
    },
  );

  it.each(['AdminSetting', 'RegistrationInvite'] as const)('extend no rule to another kind: %s', (what) => {
    const fields = { _id: ADA, userId: ADA, owner_id: ADA, ownerId: ADA, invitedBy: ADA };
    for (const action of ['create', 'read', 'update', 'delete', 'manage', 'administer'] as const) {
      expect(may(user, action, what)).toBe(false);
      expect(may(user, action, what, { ...fields, permission: 'write' })).toBe(false);
    }
  });

  it('let users manage their keys, and read users and subscriptions', () => {
    for (const what of ['ApiKey', 'ProviderKey'] as const) expect(may(user, 'manage', what)).toBe(true);
    for (const what of ['User', 'Subscription'] as const) {
      expect(may(user, 'read', what)).toBe(true);
      for (const action of ['create', 'update', 'delete'] as const) {
        expect(may(user, action, what)).toBe(false);
      }
    }
    expect(may(admin, 'update', 'User', { _id: EVE })).toBe(true);
    expect(may(admin, 'delete', 'User')).toBe(false);
  });

  it('do not extend a rule for some records to all of a kind', () => {
    expect(may(user, 'update', 'User')).toBe(false);
    expect(may(user, 'administer', 'Subscription')).toBe(false);
    expect(may(user, 'create', 'Organization')).toBe(true);
  });

  it('let administrators administer, and no API key act as one', () => {
    for (const [action, what] of [
      ['manage', 'AdminSetting'],
      ['manage', 'RegistrationInvite'],
      ['administer', 'Subscription'],
      ['administer', 'User'],
      ['administer', 'Organization'],
      ['administer', 'Agent'],
      ['update', 'User'],
    ] as const) {
      expect(may(admin, action, what)).toBe(true);
      for (const caller of [user, key]) {
        expect(may(caller, action, what)).toBe(false);
        expect(() => requireAbility(caller, action, what)).toThrow('Administrators only');
      }
    }
    expect(may(admin, 'update', 'Session', { userId: EVE })).toBe(false);
  });

  it('are valid rules for a client of CASL', () => {
    const sent = JSON.parse(JSON.stringify(rulesFor({ userId: ADA, isAdmin: false })));
    const ability = createMongoAbility(sent);
    expect(ability.can('delete', subject('Session', { userId: ADA }))).toBe(true);
    expect(ability.can('delete', subject('Session', { userId: EVE }))).toBe(false);
  });
});
