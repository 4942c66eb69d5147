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
