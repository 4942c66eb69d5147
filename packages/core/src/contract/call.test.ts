import { expect, it } from 'vitest';
import { type Caller, getAccount, getPayer, getStopSignal, inProject, withoutModelLists } from './call.ts';
import { getUserRateClass } from './operation.ts';

it('stops a stream with its connection, and creates no signal for it', () => {
  const connection = AbortSignal.abort();
  const call = {
    connection,
    get signal(): AbortSignal {
      throw new Error('created');
    },
  };
  expect(getStopSignal(call)).toBe(connection);
});

it('stops a stream with the signal where the host has no connection', () => {
  const { signal } = new AbortController();
  expect(getStopSignal({ signal })).toBe(signal);
});

const USER: Caller = { kind: 'token', userId: 'u', isAdmin: false };
const LIMITS = {
  spendCap: { amount: 5, period: 'day' },
  modelLists: [{ source: 'key', models: ['m'] }],
} as const;
const KEY: Caller = {
  ...{ kind: 'key', userId: 'u', keyId: 'k', name: '', keyPrefix: '', scopes: [], organizationId: 'o' },
  ...{ requestsPerMinute: 1, requestsPerDay: 1, ...LIMITS },
};

it('lets the organization of a caller pay, or the user', () => {
  expect([getAccount(USER), getAccount(KEY)]).toEqual(['user:u', 'organization:o']);
  expect(getPayer(USER)).toEqual({ account: 'user:u', userId: 'u' });
  const payer = { account: 'organization:o', userId: 'u', keyId: 'k', ...LIMITS };
  expect(getPayer(KEY)).toEqual(payer);
  expect(getPayer(KEY, 'user:other')).toEqual({ ...payer, account: 'user:other' });
  const { modelLists: _, ...unlisted } = payer;
  expect(withoutModelLists(payer)).toEqual(unlisted);
  expect([inProject(payer, { projectId: 'p' }), inProject(payer, {})]).toEqual([
    { ...payer, projectId: 'p' },
    payer,
  ]);
});

it.each([
  ['unlimited', 'GET', undefined],
  ['standard', 'GET', 'reads'],
  ['standard', 'POST', 'work'],
  ['reads', 'POST', 'reads'],
] as const)('limits the rate of a user: %s, %s', (user, method, rate) => {
  expect(getUserRateClass({ rate: { key: 'standard', user }, method })).toBe(rate);
});
