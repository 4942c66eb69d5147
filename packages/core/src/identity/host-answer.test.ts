import { expect, it } from 'vitest';
import { parseHostIdentity, toCaller } from './host-answer.ts';

function issueOf(answer: unknown): string {
  try {
    parseHostIdentity(answer);
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return (error as TypeError).message.replace('identity.identify: ', '');
  }
  return 'valid';
}

it.each([
  ['none', 'expected an object, undefined or null'],
  [{}, 'externalId: expected text'],
  [{ externalId: '' }, 'externalId: expected 1 to 200 characters, got 0'],
  [{ externalId: 'x'.repeat(200) }, 'valid'],
  [{ externalId: '\u{1f600}'.repeat(200) }, 'valid'],
  [{ externalId: 'x'.repeat(201) }, 'externalId: expected 1 to 200 characters, got 201'],
  [{ externalId: 'secret\0' }, 'externalId: expected text without U+0000 and lone surrogates'],
  [{ externalId: '\ud800' }, 'externalId: expected text without U+0000 and lone surrogates'],
  [{ externalId: 'u', email: 1, name: 2 }, 'email: expected text; name: expected text'],
  [{ externalId: 'u', organizationId: 1 }, 'organizationId: expected text'],
  [{ externalId: 'u', email: null, name: null, organizationId: null }, 'valid'],
  [{ externalId: 'u', roles: 'admin' }, 'roles: expected a list of text'],
  [{ externalId: 'u', scopes: 'me:read' }, 'scopes: expected a list of scopes'],
  [{ externalId: 'u', scopes: [] }, 'valid'],
  [{ externalId: 'u', scopes: ['me:read', 'embed:chat'] }, "scopes: embed:chat must be a key's only scope"],
  [{ externalId: 'u', limits: 1 }, 'limits: expected an object'],
  [{ externalId: 'u', limits: { requestsPerMinute: 0 } }, 'limits.requestsPerMinute: expected at least 1'],
  [{ externalId: 'u', limits: { requestsPerDay: 1.5 } }, 'limits.requestsPerDay: expected a whole number'],
  [{ externalId: 'u', limits: { models: 'm' } }, 'limits.models: expected a list of models'],
  [{ externalId: 'u', limits: { models: Array(1000).fill('m') } }, 'valid'],
  [{ externalId: 'u', limits: { spendCap: 1 } }, 'limits.spendCap: expected an object'],
  [
    { externalId: 'u', limits: { spendCap: { amount: 0.5, period: 'week' } } },
    'limits.spendCap.amount: expected whole micro-credits; limits.spendCap.period: expected day, month or total',
  ],
  [
    { externalId: 'u', limits: { spendCap: { amount: -1, period: 'day' } } },
    'limits.spendCap.amount: expected at least 0',
  ],
  [{ externalId: 'u', limits: { spendCap: { amount: 0, period: 'day' } } }, 'valid'],
])('checks an answer: %o', (answer, issue) => {
  expect(issueOf(answer)).toBe(issue);
});

it('rejects more than 1,000 models', () => {
  expect(issueOf({ externalId: 'u', limits: { models: Array(1001).fill('m') } })).toContain('limits.models');
});

it('leaves out what it does not know', () => {
  expect(parseHostIdentity({ externalId: 'u', isAdmin: true })).toEqual({ externalId: 'u' });
});

it('makes a caller without rights of an answer with an id only', () => {
  expect(toCaller('u', { externalId: 'x' }, [])).toStrictEqual({
    ...{ kind: 'token', userId: 'u', isAdmin: false, isFromHost: true },
  });
});

it('makes a caller with the limits of the answer', () => {
  const limits = {
    ...{ requestsPerMinute: 1, requestsPerDay: 2, models: ['m'] },
    spendCap: { amount: 3, period: 'day' },
  } as const;
  const lists = [{ source: 'plan', models: ['p'] }] as const;
  expect(toCaller('u', { externalId: 'x', organizationId: 'o', limits }, lists)).toEqual({
    ...{ kind: 'token', userId: 'u', isAdmin: false, isFromHost: true, organizationId: 'o' },
    ...{ requestsPerMinute: 1, requestsPerDay: 2, spendCap: { amount: 3, period: 'day' } },
    modelLists: [{ source: 'identity', models: ['m'] }, lists[0]],
  });
});

it('keeps an empty list of models, which permits none', () => {
  const caller = toCaller('u', { externalId: 'x', limits: { models: [] } }, []);
  expect(caller.modelLists).toEqual([{ source: 'identity', models: [] }]);
});

it.each([null, ''])('takes no organization from %o', (organizationId) => {
  expect(toCaller('u', { externalId: 'x', organizationId }, [])).not.toHaveProperty('organizationId');
});

it('makes an administrator of the role, unless scopes narrow the caller', () => {
  const isAdmin = (identity: { roles?: readonly string[]; scopes?: readonly string[] }) =>
    toCaller('u', { externalId: 'x', ...identity }, []).isAdmin;
  expect(isAdmin({ roles: ['user', 'admin'] })).toBe(true);
  expect(isAdmin({ roles: ['user'] })).toBe(false);
  expect(isAdmin({ roles: ['admin'], scopes: [] })).toBe(false);
  expect(toCaller('u', { externalId: 'x', scopes: ['me:read'] }, []).scopes).toEqual(['me:read']);
});
