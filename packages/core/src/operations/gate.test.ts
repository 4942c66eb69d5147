import { describe, expect, it } from 'vitest';
import type { Caller } from '../contract/call.ts';
import type { Operation } from '../contract/operation.ts';
import { createAdmissionControl } from './admission-control.ts';
import { parseExpiry } from './expiry.ts';
import { checkScopes, requireUnlimited } from './gate.ts';

/** @returns the refusal, if there is one. */
function check(
  operation: Partial<Operation>,
  caller: object,
): { status: number; message: string } | undefined {
  try {
    checkScopes(
      { scopes: [], family: 'public', auth: 'key-or-token', ...operation } as Operation,
      caller as Caller,
    );
    return undefined;
  } catch (error) {
    return error as { status: number; message: string };
  }
}

const key = (...scopes: string[]) => ({ kind: 'key', scopes });

describe('the scopes of a caller', () => {
  it('include one of those of the operation', () => {
    const scopes = ['me:read', 'files:read'] as never;
    expect(check({ scopes }, key('files:read', 'files:write'))).toBeUndefined();
    expect(check({ scopes }, key('files:write'))).toMatchObject({
      ...{ status: 403, message: 'API key does not have the scopes this operation requires' },
      extra: { required_scopes: scopes },
    });
    expect(check({ scopes }, key())).not.toHaveProperty('extra.also_required_scopes');
    expect(check({ scopes, family: 'completions' }, key())).toMatchObject({
      message: 'API key does not have permission for AI completions',
    });
  });

  it('include all of those that the operation also requires', () => {
    const operation = { scopes: ['me:read'], alsoScopes: ['files:read', 'files:write'] } as never;
    expect(check(operation, key('me:read', 'files:read', 'files:write'))).toBeUndefined();
    for (const caller of [key('me:read', 'files:read'), key('files:read', 'files:write')]) {
      expect(check(operation, caller)).toMatchObject({
        status: 403,
        extra: { required_scopes: ['me:read'], also_required_scopes: ['files:read', 'files:write'] },
      });
    }
  });

  it('are named where the operation requires one in addition', () => {
    expect(check({ alsoScopes: ['files:read'] as never }, key())).toMatchObject({
      extra: { also_required_scopes: ['files:read'] },
    });
  });

  it('do not matter where the operation names none, unless they confine the key', () => {
    expect(check({}, key('me:read'))).toBeUndefined();
    expect(check({}, key())).toBeUndefined();
    expect(check({}, key('embed:chat'))).toMatchObject({ status: 403 });
    expect(check({}, key('me:read', 'embed:chat'))).toMatchObject({ status: 403 });
    expect(check({ scopes: ['embed:chat'] }, key('embed:chat'))).toBeUndefined();
  });

  it('do not matter for a user, unless the host narrows the user', () => {
    const scopes = ['me:read'] as never;
    expect(check({ scopes, auth: 'token' }, { kind: 'token' })).toBeUndefined();
    const narrowed = { kind: 'token', scopes };
    expect(check({ scopes }, narrowed)).toBeUndefined();
    expect(check({ scopes: ['files:read'] }, narrowed)).toMatchObject({ status: 403 });
    expect(check({ scopes, auth: 'token' }, narrowed)).toMatchObject({
      status: 403,
      message: expect.stringContaining('limited'),
    });
    expect(check({ scopes, auth: 'token' }, key('me:read'))).toBeUndefined();
  });
});

it('creates no unlimited credential for a user with limits of the host', () => {
  const accepts = (caller: object): boolean => {
    try {
      requireUnlimited(caller as Caller);
      return true;
    } catch (error) {
      expect(error).toMatchObject({ status: 403 });
      return false;
    }
  };
  expect(accepts({ kind: 'token' })).toBe(true);
  expect(accepts({ kind: 'token', modelLists: [{ source: 'plan', models: [] }] })).toBe(true);
  expect(accepts({ kind: 'token', modelLists: [{ source: 'plan' }, { source: 'identity' }] })).toBe(false);
  expect(accepts({ kind: 'token', requestsPerMinute: 1 })).toBe(false);
  expect(accepts({ kind: 'token', requestsPerDay: 1 })).toBe(false);
  expect(accepts({ kind: 'token', spendCap: { amount: 1, period: 'day' } })).toBe(false);
  expect(accepts({ kind: 'key', requestsPerMinute: 1, requestsPerDay: 1 })).toBe(true);
});

it('rejects new work while it is closed', () => {
  const control = createAdmissionControl();
  expect(() => control.admit()).not.toThrow();
  control.close();
  let refusal: unknown;
  try {
    control.admit();
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toMatchObject({
    ...{ status: 503, headers: { 'Retry-After': '5' }, applicationCode: 'INTERNAL_ERROR' },
  });
  control.open();
  expect(() => control.admit()).not.toThrow();
});

it('reads an expiry in the future', () => {
  const now = Date.UTC(2026, 5, 1);
  const toText = (at: number): string => new Date(at).toISOString();
  expect(parseExpiry(undefined, now)).toBeNull();
  expect(parseExpiry(toText(now + 1), now)).toBe(now + 1);
  for (const at of [now, now - 1]) expect(() => parseExpiry(toText(at), now)).toThrow('in the future');
});
