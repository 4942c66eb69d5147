import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import type { TokenCaller } from '../contract/call.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { IdentityRequest } from '../ports/identity.ts';
import { createAuthenticator } from './credentials.ts';
import type { HostCallers } from './host-callers.ts';
import { createAccessTokens } from './tokens.ts';

const CALLER: TokenCaller = { kind: 'token', userId: 'u', isAdmin: false, isFromHost: true };
const KEY = `svc_live_${'a'.repeat(43)}`;

/** @param answer of the host. */
function setUp(answer: () => ReturnType<HostCallers['identify']> = () => CALLER) {
  const clock = createFakeClock();
  const tokens = createAccessTokens(new Uint8Array(32).fill(7), clock);
  const asked: (boolean | undefined)[] = [];
  const forgotten: string[] = [];
  let subscriptions = 0;
  const authenticator = createAuthenticator({
    ...{ store: createMemoryStore(), clock, tokens },
    publisher: {
      publish: async () => undefined,
      async subscribe() {
        subscriptions += 1;
        return async () => undefined;
      },
    },
    hostCallers: {
      identify(_request, changes) {
        asked.push(changes);
        return answer();
      },
      forgetUser: (userId) => forgotten.push(userId),
    },
    modelLists: {
      ofUser: () => [],
      ofOrganization: async () => [],
      ofOrganizations: async () => new Map(),
    },
    onError: () => undefined,
  });
  const authenticate = (
    headers: Record<string, string>,
    auth: 'token' | 'key-or-token' = 'token',
    changes?: boolean,
  ) => authenticator.authenticate(headers, auth, toRequest(headers), changes);
  const getSubscriptions = (): number => subscriptions;
  return { tokens, authenticator, authenticate, asked, forgotten, getSubscriptions };
}

function toRequest(headers: Record<string, string> = {}): IdentityRequest {
  return { method: 'GET', path: '/', headers, remoteAddress: undefined, protocol: 'http' };
}

const FOREIGN = { authorization: 'Bearer x.y.z' };

it('asks the host for requests without an own credential, at once', () => {
  const { authenticate, asked, getSubscriptions } = setUp();
  expect(authenticate({})).toBe(CALLER);
  expect(authenticate(FOREIGN, 'key-or-token', true)).toBe(CALLER);
  expect(authenticate(FOREIGN, 'token', false)).toBe(CALLER);
  expect(asked).toEqual([undefined, true, false]);
  expect(getSubscriptions()).toBe(1);
});

it('waits for the answer of the host', async () => {
  const { authenticate } = setUp(async () => CALLER);
  expect(await authenticate({})).toBe(CALLER);
});

it.each([
  ['at once', () => undefined],
  ['later', async () => undefined],
])('rejects a caller whom the host does not know: %s', async (_, answer) => {
  const { authenticate } = setUp(answer);
  const ask = async (auth: 'token' | 'key-or-token') => authenticate({}, auth);
  await expect(ask('token')).rejects.toMatchObject({
    ...{ status: 401, message: 'Authentication failed. Provide a valid access token.' },
  });
  await expect(ask('key-or-token')).rejects.toMatchObject({
    ...{ status: 401, message: 'Authentication failed. Provide a valid API key or JWT token.' },
  });
});

it('does not ask the host for own keys and tokens, nor without its request', async () => {
  const { tokens, authenticator, authenticate, asked } = setUp();
  const token = await tokens.sign({ id: 'u', tokenVersion: 0, typ: 'access' });
  await expect(authenticate({ authorization: `Bearer ${token}` })).rejects.toThrow(
    'Invalid or expired token',
  );
  await expect(authenticate({ 'x-api-key': KEY }, 'key-or-token')).rejects.toThrow('Provide a valid API key');
  expect(() => authenticate({ 'x-api-key': KEY })).toThrow('API keys are not accepted here');
  expect(() => authenticator.authenticate({}, 'token')).toThrow('Provide a valid access token');
  await expect(authenticator.authenticate(FOREIGN, 'token')).rejects.toThrow('Invalid or expired token');
  expect(asked).toEqual([]);
});

it('asks the host for connections, as for a request that changes something', async () => {
  const { tokens, authenticator, asked } = setUp();
  expect(await authenticator.identifyHost?.(toRequest())).toBe(CALLER);
  expect(await authenticator.identifyHost?.(toRequest(FOREIGN))).toBe(CALLER);
  expect(asked).toEqual([true, true]);
  const token = await tokens.sign({ id: 'u', tokenVersion: 0, typ: 'access' });
  for (const headers of [{ 'x-api-key': KEY }, { authorization: `Bearer ${token}` }]) {
    await expect(authenticator.identifyHost?.(toRequest(headers))).rejects.toMatchObject({
      ...{ status: 401, message: 'Authentication failed. Provide a valid API key or JWT token.' },
    });
  }
  expect(asked).toHaveLength(2);
});

it('rejects a connection of a caller whom the host does not know', async () => {
  const { authenticator } = setUp(async () => undefined);
  await expect(authenticator.identifyHost?.(toRequest())).rejects.toMatchObject({
    ...{ status: 401, message: 'Authentication failed. Provide a valid API key or JWT token.' },
  });
});

it('forgets what the host has answered for a user', () => {
  const { authenticator, forgotten } = setUp();
  authenticator.forgetUser('u');
  authenticator.forgetKey('k');
  expect(forgotten).toEqual(['u']);
});
