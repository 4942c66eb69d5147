import { createMongoAbility, subject } from '@casl/ability';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../call.ts';
import { may, requireAbility, rulesFor } from './abilities.ts';

const ADA = 'a'.repeat(24);
const EVE = 'e'.repeat(24);
const user: Caller = { kind: 'token', userId: ADA, isAdmin: false };
const admin: Caller = { kind: 'token', userId: ADA, isAdmin: true };
const key: Caller = {
  kind: 'key',
  userId: ADA,
  keyId: 'k',
  scopes: ['admin:*'],
  organizationId: undefined,
  requestsPerMinute: 60,
  requestsPerDay: 1000,
  spendCap: undefined,
};

describe('abilities', () => {
  it('let everybody do as they like with their own, and with nothing else', () => {
    expect(may(user, 'update', 'Session', { userId: ADA })).toBe(true);
    expect(may(user, 'update', 'Session', { userId: EVE })).toBe(false);
    expect(may(user, 'read', 'Agent', { ownerId: EVE, isPublic: true })).toBe(true);
    expect(may(user, 'update', 'Agent', { ownerId: EVE, isPublic: true })).toBe(false);
    expect(may(user, 'read', 'User', { _id: ADA })).toBe(true);
    expect(may(user, 'read', 'User', { _id: EVE })).toBe(false);
  });

  it('do not take what holds for some of a kind for what holds for all of it', () => {
    expect(may(user, 'read', 'User')).toBe(false);
    expect(may(user, 'read', 'Subscription')).toBe(false);
    expect(may(user, 'create', 'Organization')).toBe(true);
  });

  it('let administrators do all, and no key act as one', () => {
    for (const what of ['AdminSetting', 'RegistrationInvite', 'Subscription', 'User'] as const) {
      expect(may(admin, 'manage', what)).toBe(true);
      for (const caller of [user, key]) {
        expect(may(caller, 'manage', what)).toBe(false);
        expect(() => requireAbility(caller, 'manage', what)).toThrow('Administrators only');
      }
    }
  });

  it('are rules that a client of CASL understands as they are sent', () => {
    const sent = JSON.parse(JSON.stringify(rulesFor({ userId: ADA, isAdmin: false })));
    const ability = createMongoAbility(sent);
    expect(ability.can('delete', subject('Session', { userId: ADA }))).toBe(true);
    expect(ability.can('delete', subject('Session', { userId: EVE }))).toBe(false);
  });
});
