import { describe, expect, it } from 'vitest';
import type { UserRecord } from '../../identity/records.ts';
import { userAudit } from './audit.ts';
import { userEvents } from './events.ts';

const USER = {
  id: 'u',
  username: 'ada',
  firstName: 'Ada',
  lastName: null,
  email: 'ada@example.com',
  tier: 'free',
  isAdmin: false,
  disabled: false,
} as unknown as UserRecord;
const ABOUT = { target: { type: 'user', id: 'u' }, targetOwner: 'u' };
const ADMINISTRATOR = { type: 'user', userId: 'root' } as const;
const change = (field: string, before: unknown, after: unknown) => ({ field, before, after });

const toEntries = (
  after: object | undefined,
  before: object | undefined = USER,
  actor: object = ADMINISTRATOR,
) =>
  userAudit.toEntries(
    {
      ...(before !== undefined && { before: before as UserRecord }),
      ...(after !== undefined && { after: { ...USER, ...after } as UserRecord }),
    },
    actor as never,
  );

describe('the audit log of users', () => {
  it.each<[string, object, object[]]>([
    ['role', { isAdmin: true }, [change('isAdmin', false, true)]],
    ['access', { disabled: true }, [change('disabled', false, true)]],
  ])('names the act for the %s', (_, after, changes) => {
    const action = 'isAdmin' in after ? 'user.role_changed' : 'user.disabled';
    expect(toEntries(after)).toEqual([{ ...ABOUT, action, changes }]);
  });

  it('distinguishes a user who is enabled again', () => {
    const changes = [change('disabled', true, false)];
    expect(toEntries({}, { ...USER, disabled: true })).toEqual([
      { ...ABOUT, action: 'user.enabled', changes },
    ]);
  });

  it.each([
    ['username', 'countess'],
    ['firstName', 'Augusta'],
    ['email', 'countess@example.com'],
    ['tier', 'pro'],
  ])('contains the %s that another user changed', (field, value) => {
    const changes = [change(field, USER[field as keyof UserRecord], value)];
    expect(toEntries({ [field]: value })).toEqual([{ ...ABOUT, action: 'user.updated', changes }]);
    expect(toEntries({ [field]: value }, USER, { type: 'user', userId: 'u' })).toEqual([]);
  });

  it('contains each act of one change', () => {
    const all = toEntries({ isAdmin: true, disabled: true, tier: 'pro' });
    expect(all.map(({ action }) => action)).toEqual(['user.role_changed', 'user.disabled', 'user.updated']);
    expect(toEntries({})).toEqual([]);
    expect(toEntries(undefined)).toEqual([]);
  });

  it('contains new users, with their role and starting credits', () => {
    const after = { ...USER, isAdmin: true, startingCredits: 5 };
    const changes = [
      { field: 'isAdmin', after: true },
      { field: 'startingCredits', after: 5 },
    ];
    const actor = ADMINISTRATOR as never;
    expect(userAudit.toEntries({ after }, actor)).toEqual([{ ...ABOUT, action: 'user.created', changes }]);
  });
});

it('sends an event for a new user, and none for a change', () => {
  const data = { id: 'u', userId: 'u' };
  expect(userEvents.toEvents({ before: undefined, after: USER })).toEqual([{ type: 'user.created', data }]);
  expect(userEvents.toEvents({ before: USER, after: USER })).toEqual([]);
  expect(userEvents.matches({ isAdmin: true } as never)).toBe(false);
});
