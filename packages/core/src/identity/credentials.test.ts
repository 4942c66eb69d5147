import { createFakeClock, createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import type { KeyCaller } from '../contract/call.ts';
import { createMemoryPublisher } from '../memory/publisher.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { Store } from '../ports/store.ts';
import { issueApiKey, type NewApiKey } from './api-keys.ts';
import { createAuthenticator } from './credentials.ts';
import { API_KEYS, USERS } from './records.ts';
import { createAccessTokens } from './tokens.ts';
import { createUser } from './users.ts';

const TTL_MS = 1500;
const FAILURE = new Error('the store has failed');
const BAD_KEY = { status: 401, message: 'Authentication failed. Provide a valid API key or JWT token.' };
const BAD_TOKEN = { status: 401, message: 'Invalid or expired token' };

/** Reads of the store wait while they are held. */
function holdable(store: Store) {
  let gate: Promise<void> | undefined;
  let open = (): void => undefined;
  const counts = { reads: 0 };
  const held: Store = {
    ...store,
    collection(definition) {
      const collection = store.collection(definition);
      const wait = async <T>(read: Promise<T>): Promise<T> => {
        counts.reads += 1;
        const found = await read;
        await gate;
        return found;
      };
      return {
        ...collection,
        get: (id, guard) => wait(collection.get(id, guard)),
        find: (filter, options) => wait(collection.find(filter, options)),
      };
    },
  };
  return {
    ...{ held, counts },
    hold() {
      gate = new Promise((resolve) => {
        open = resolve;
      });
    },
    release() {
      gate = undefined;
      open();
    },
  };
}

async function setUp(start?: number) {
  const clock = createFakeClock(start);
  const plain = createMemoryStore();
  const { held: store, ...reads } = holdable(plain);
  const ids = createFakeIds();
  const tokens = createAccessTokens(new Uint8Array(32).fill(7), clock, { access: 600, refresh: 3600 });
  const errors: unknown[] = [];
  const publisher = createMemoryPublisher();
  const services = {
    ...{ store, clock, tokens, publisher },
    modelLists: {
      ofUser: ({ tier }: { tier: string }) =>
        tier === 'pro' ? [{ source: 'plan', models: ['p'] } as const] : [],
      ofOrganization: async (id: string) => [{ source: 'organization', models: [id] } as const],
    },
    onError: (error: unknown) => errors.push(error),
  };
  const authenticator = createAuthenticator(services);
  const users = plain.collection(USERS);
  const keys = plain.collection(API_KEYS);
  const addUser = async (email: string) => {
    const user = await createUser({ store: plain, clock, ids }, { email, username: 'x' });
    if (user === undefined) throw new Error('the address is taken');
    return user;
  };
  const user = await addUser('ada@example.com');
  const issue = (input: Partial<NewApiKey> = {}) =>
    issueApiKey(
      { store: plain, clock, ids, authenticator },
      { userId: user.id, name: 'CI', scopes: ['me:read'], ...input },
    );
  const signFor = (claims: object = {}) =>
    tokens.sign({ id: user.id, tokenVersion: 0, typ: 'access', ...claims });
  const tryKey = (key: string) => authenticator.authenticate({ 'x-api-key': key }, 'key-or-token');
  const ask = async (headers: Record<string, string>, auth: 'token' | 'key-or-token' = 'key-or-token') =>
    authenticator.authenticate(headers, auth);
  return {
    ...{ clock, plain, reads, ids, tokens, services, authenticator, users, keys, errors, publisher },
    ...{ addUser, user, issue, signFor, tryKey, ask },
  };
}

it('finds a key or token in either header', async () => {
  const { issue, signFor, ask } = await setUp();
  const { key } = await issue();
  const token = await signFor();
  for (const headers of [
    { 'x-api-key': key },
    { authorization: `ApiKey ${key}` },
    { authorization: `bearer   ${key}  ` },
    { authorization: `Bearer ${key}`, 'x-api-key': key },
    { authorization: `Bearer ${token}`, 'x-api-key': key },
  ]) {
    expect(await ask(headers)).toMatchObject({ kind: 'key' });
    await expect(ask(headers, 'token')).rejects.toMatchObject({
      ...{ status: 401, message: 'API keys are not accepted here; sign in' },
    });
  }
  for (const headers of [
    { authorization: `Bearer ${token}` },
    { authorization: `BEARER ${token}`, 'x-api-key': token },
  ]) {
    expect(await ask(headers)).toMatchObject({ kind: 'token' });
    expect(await ask(headers, 'token')).toMatchObject({ kind: 'token' });
  }
});

it('rejects two different credentials', async () => {
  const { issue, signFor, ask } = await setUp();
  const [{ key }, other, token] = [await issue(), await issue(), await signFor()];
  for (const headers of [
    { authorization: `Bearer ${key}`, 'x-api-key': other.key },
    { authorization: `ApiKey ${token}`, 'x-api-key': key },
    { authorization: `Bearer ${key}`, 'x-api-key': token },
    { authorization: `Bearer ${token}`, 'x-api-key': 'svc_live_short' },
  ]) {
    await expect(ask(headers)).rejects.toMatchObject({
      status: 401,
      message: 'The request has two different credentials, in x-api-key and in Authorization. Send only one.',
    });
  }
});

it('rejects requests without a credential, and malformed keys', async () => {
  const { reads, signFor, ask } = await setUp();
  const { counts } = reads;
  const token = await signFor();
  counts.reads = 0;
  const message = 'Authentication failed. Provide a valid access token.';
  for (const headers of [
    {},
    { authorization: `Basic ${token}` },
    { authorization: `ApiKey ${token}` },
    { authorization: 'Bearer' },
    { 'x-api-key': token },
    { authorization: `Bearer svc_live_${'a'.repeat(31)}` },
  ]) {
    await expect(ask(headers)).rejects.toMatchObject(BAD_KEY);
    await expect(ask(headers, 'token')).rejects.toMatchObject({ status: 401, message });
  }
  expect(counts.reads).toBe(0);
});

it('knows the caller of a key', async () => {
  const { users, user, issue, tryKey } = await setUp();
  const plain = await issue();
  expect(await tryKey(plain.key)).toEqual({
    kind: 'key',
    userId: user.id,
    keyId: plain.record.id,
    name: 'CI',
    keyPrefix: plain.key.slice(0, 16),
    scopes: ['me:read'],
    organizationId: undefined,
    requestsPerMinute: 60,
    requestsPerDay: 1000,
    spendCap: undefined,
  });
  await users.update(user.id, { tier: 'pro' });
  const spendCap = { amount: 5, period: 'day' } as const;
  const limits = { spendCap, models: ['m'], requestsPerMinute: 7, requestsPerDay: 8 };
  const own = await issue(limits);
  // The record of the owner is cached.
  expect(await tryKey(own.key)).toMatchObject({ spendCap, requestsPerMinute: 7, requestsPerDay: 8 });
  expect(((await tryKey(own.key)) as KeyCaller).modelLists).toEqual([{ source: 'key', models: ['m'] }]);
  const shared = await issue({ models: ['m'], organizationId: 'o' });
  expect(await tryKey(shared.key)).toMatchObject({
    organizationId: 'o',
    modelLists: [
      { source: 'key', models: ['m'] },
      { source: 'organization', models: ['o'] },
    ],
  });
});

it('limits a key by the plan of its owner', async () => {
  const { users, user, issue, tryKey } = await setUp();
  await users.update(user.id, { tier: 'pro' });
  expect(await tryKey((await issue()).key)).toMatchObject({
    modelLists: [{ source: 'plan', models: ['p'] }],
  });
});

it('rejects keys that are unknown or revoked, and those of deleted and banned users', async () => {
  const { users, keys, addUser, issue, tryKey } = await setUp();
  await expect(tryKey(`svc_live_${'a'.repeat(43)}`)).rejects.toMatchObject(BAD_KEY);
  const revoked = await issue();
  await keys.update(revoked.record.id, { status: 'disabled' });
  await expect(tryKey(revoked.key)).rejects.toMatchObject(BAD_KEY);
  const eve = await addUser('eve@example.com');
  const { key } = await issue({ userId: eve.id });
  await users.update(eve.id, { disabled: true });
  await expect(tryKey(key)).rejects.toMatchObject(BAD_KEY);
  const bob = await addUser('bob@example.com');
  const lost = await issue({ userId: bob.id });
  await users.take(bob.id);
  await expect(tryKey(lost.key)).rejects.toMatchObject(BAD_KEY);
});

it('rejects a key from its expiry on, cached or not', async () => {
  const { clock, issue, tryKey } = await setUp();
  const expiresAt = clock.now() + 1000;
  const [known, other] = [await issue({ expiresAt }), await issue({ expiresAt })];
  await tryKey(known.key);
  await clock.advance(999);
  expect(await tryKey(known.key)).toMatchObject({ kind: 'key' });
  await clock.advance(1);
  expect(() => tryKey(known.key)).toThrow(BAD_KEY.message);
  await expect(tryKey(other.key)).rejects.toMatchObject(BAD_KEY);
});

it('believes a key for 1.5 seconds, and answers at once then', async () => {
  const { clock, reads, keys, issue, tryKey } = await setUp();
  const { key, record } = await issue();
  const caller = await tryKey(key);
  reads.counts.reads = 0;
  await keys.update(record.id, { status: 'disabled' });
  await clock.advance(TTL_MS - 1);
  expect(tryKey(key)).toBe(caller);
  expect(reads.counts.reads).toBe(0);
  await clock.advance(1);
  await expect(tryKey(key)).rejects.toMatchObject(BAD_KEY);
  await expect(tryKey(key)).rejects.toMatchObject(BAD_KEY);
});

it('believes a key no longer than its owner, and the owner for 1.5 seconds', async () => {
  const { clock, users, user, issue, signFor, ask, tryKey } = await setUp();
  const headers = { authorization: `Bearer ${await signFor()}` };
  await ask(headers);
  await users.update(user.id, { disabled: true });
  await clock.advance(TTL_MS - 1);
  const { key } = await issue();
  expect(await tryKey(key)).toMatchObject({ kind: 'key' });
  expect(await ask(headers)).toMatchObject({ kind: 'token' });
  await clock.advance(1);
  await expect(tryKey(key)).rejects.toMatchObject(BAD_KEY);
  await expect(ask(headers)).rejects.toMatchObject(BAD_TOKEN);
});

it('believes a key from the time of the request on', async () => {
  const { clock, reads, issue, tryKey } = await setUp();
  const { key } = await issue();
  reads.hold();
  const first = tryKey(key);
  await clock.advance(TTL_MS);
  reads.release();
  await first;
  expect(tryKey(key)).toBeInstanceOf(Promise);
});

it('notes the use of a key once a minute', async () => {
  const { clock, keys, issue, tryKey } = await setUp();
  const { key, record } = await issue();
  const getLastUse = async () => (await keys.get(record.id))?.lastUsedAt;
  const first = clock.now();
  await tryKey(key);
  expect(await getLastUse()).toBe(first);
  await clock.advance(1000);
  await tryKey(key);
  await clock.advance(58_999);
  await tryKey(key);
  expect(await getLastUse()).toBe(first);
  await clock.advance(1);
  await tryKey(key);
  expect(await getLastUse()).toBe(first + 60_000);
});

it('notes no use that another process has noted within the minute', async () => {
  const { clock, keys, issue, tryKey } = await setUp(60_000);
  const { key, record } = await issue();
  await keys.update(record.id, { lastUsedAt: clock.now() });
  await clock.advance(59_999);
  await tryKey(key);
  expect((await keys.get(record.id))?.lastUsedAt).toBe(60_000);
});

it('notes the first use of a key that was never used', async () => {
  const { keys, issue, tryKey } = await setUp(60_000);
  const { key, record } = await issue();
  await tryKey(key);
  expect((await keys.get(record.id))?.lastUsedAt).toBe(60_000);
});

it('reports a use that could not be noted, and accepts the key', async () => {
  const { clock, services, issue, errors } = await setUp();
  const { store } = services;
  const failing: Store = {
    ...store,
    collection: (definition) => ({
      ...store.collection(definition),
      update: () => Promise.reject(FAILURE),
    }),
  };
  const authenticator = createAuthenticator({ ...services, store: failing });
  const { key } = await issue();
  for (let time = 0; time < 2; time += 1) {
    expect(await authenticator.identify(key)).toMatchObject({ kind: 'key' });
    await clock.advance(0);
  }
  expect(errors).toEqual([FAILURE]);
});

it('forgets a key, and no other, here and in other processes', async () => {
  const { clock, services, authenticator, keys, issue, tryKey } = await setUp();
  const there = createAuthenticator(services);
  const [one, other] = [await issue(), await issue()];
  const tryThere = (key: string) => there.authenticate({ 'x-api-key': key }, 'key-or-token');
  for (const { key } of [one, other]) await Promise.all([tryKey(key), tryThere(key)]);
  await keys.update(one.record.id, { status: 'disabled' });
  authenticator.forgetKey('0'.repeat(24));
  expect(tryKey(one.key)).toMatchObject({ kind: 'key' });
  authenticator.forgetKey(one.record.id);
  await expect(tryKey(one.key)).rejects.toMatchObject(BAD_KEY);
  await clock.advance(0);
  await expect(tryThere(one.key)).rejects.toMatchObject(BAD_KEY);
  for (const answer of [tryKey(other.key), tryThere(other.key)])
    expect(answer).toMatchObject({ kind: 'key' });
});

it('forgets the new secret of a key that another process has rotated', async () => {
  const { clock, authenticator, keys, issue, tryKey } = await setUp();
  const [{ key, record }, next] = [await issue(), await issue()];
  await tryKey(key);
  await keys.take(next.record.id);
  await keys.update(record.id, { hash: next.record.hash });
  await tryKey(next.key);
  await clock.advance(TTL_MS);
  await tryKey(next.key);
  await expect(tryKey(key)).rejects.toMatchObject(BAD_KEY);
  await keys.update(record.id, { status: 'disabled' });
  authenticator.forgetKey(record.id);
  await expect(tryKey(next.key)).rejects.toMatchObject(BAD_KEY);
});

it('forgets the keys and tokens of a user, and of no other, here and in other processes', async () => {
  const { clock, services, authenticator, users, addUser, user, issue, signFor } = await setUp();
  const there = createAuthenticator(services);
  const eve = await addUser('eve@example.com');
  const [mine, also, hers] = [await issue(), await issue(), await issue({ userId: eve.id })];
  const token = await signFor();
  const both = [authenticator, there];
  for (const one of both) {
    for (const text of [mine.key, also.key, hers.key, token]) await one.identify(text);
  }
  await users.update(user.id, { disabled: true });
  await users.update(eve.id, { disabled: true });
  authenticator.forgetUser(user.id);
  await clock.advance(0);
  for (const one of both) {
    for (const { key } of [mine, also]) await expect(one.identify(key)).rejects.toMatchObject(BAD_KEY);
    await expect(one.identify(token)).rejects.toMatchObject(BAD_TOKEN);
    expect(await one.identify(hers.key)).toMatchObject({ kind: 'key' });
  }
});

it('does not believe what a read returns after a key is forgotten', async () => {
  const { clock, reads, authenticator, keys, issue, tryKey } = await setUp();
  const { key, record } = await issue();
  reads.hold();
  const first = tryKey(key);
  await clock.advance(0);
  await keys.update(record.id, { status: 'disabled' });
  authenticator.forgetKey(record.id);
  reads.release();
  await first;
  await expect(tryKey(key)).rejects.toMatchObject(BAD_KEY);
});

it('does not believe what a read returns after a user is forgotten', async () => {
  const { clock, reads, authenticator, users, user, signFor, ask } = await setUp();
  const headers = { authorization: `Bearer ${await signFor()}` };
  // Verifies the token, so that the next request begins with the read.
  await ask(headers);
  await clock.advance(TTL_MS);
  reads.hold();
  const second = ask(headers);
  await clock.advance(0);
  await users.update(user.id, { disabled: true });
  authenticator.forgetUser(user.id);
  reads.release();
  await second;
  await expect(ask(headers)).rejects.toMatchObject(BAD_TOKEN);
});

it('forgets at once, and reports messages that do not reach other processes', async () => {
  const { clock, services, keys, users, user, issue, errors } = await setUp();
  const authenticator = createAuthenticator({
    ...services,
    publisher: { publish: () => Promise.reject(FAILURE), subscribe: async () => async () => undefined },
  });
  const [one, other] = [await issue(), await issue()];
  for (const { key } of [one, other]) await authenticator.identify(key);
  await keys.update(one.record.id, { status: 'disabled' });
  authenticator.forgetKey(one.record.id);
  await expect(authenticator.identify(one.key)).rejects.toMatchObject(BAD_KEY);
  await users.update(user.id, { disabled: true });
  authenticator.forgetUser(user.id);
  await expect(authenticator.identify(other.key)).rejects.toMatchObject(BAD_KEY);
  await clock.advance(0);
  expect(errors).toEqual([FAILURE, FAILURE]);
});

it('knows the caller of a token', async () => {
  const { clock, users, user, signFor, authenticator } = await setUp();
  await users.update(user.id, { isAdmin: true, tier: 'pro' });
  expect(await authenticator.identify(await signFor())).toEqual({
    ...{ kind: 'token', userId: user.id, isAdmin: true },
    session: { renewableUntil: clock.now() + 600_000 },
    modelLists: [{ source: 'plan', models: ['p'] }],
  });
  const session = { family: 'f', renewableUntil: clock.now() + 900_000 };
  expect(await authenticator.identify(await signFor(session))).toMatchObject({ session });
});

it('rejects other tokens, and those of deleted and banned users', async () => {
  const { users, user, addUser, signFor, ask } = await setUp();
  const eve = await addUser('eve@example.com');
  await users.update(eve.id, { disabled: true });
  const endedFamilies = ['e', 'f'].map((id) => ({ id, until: 0 }));
  await users.update(user.id, { tokenVersion: 1, endedFamilies });
  const headersOf = async (claims: object) => ({ authorization: `Bearer ${await signFor(claims)}` });
  for (const claims of [
    { tokenVersion: 1, typ: 'refresh' },
    { tokenVersion: 0 },
    { tokenVersion: 2 },
    { id: eve.id },
    { id: '0'.repeat(24) },
    { tokenVersion: 1, family: 'f' },
  ]) {
    await expect(ask(await headersOf(claims))).rejects.toMatchObject(BAD_TOKEN);
  }
  await expect(ask({ authorization: 'Bearer x' })).rejects.toMatchObject(BAD_TOKEN);
  expect(await ask(await headersOf({ tokenVersion: 1, family: 'g' }))).toMatchObject({ kind: 'token' });
  expect(await ask(await headersOf({ tokenVersion: 1 }))).toMatchObject({ kind: 'token' });
});

it('reads a user of tokens once in 1.5 seconds', async () => {
  const { clock, reads, signFor, authenticator } = await setUp();
  const token = await signFor();
  await authenticator.identify(token);
  await clock.advance(TTL_MS - 1);
  await authenticator.identify(token);
  expect(reads.counts.reads).toBe(1);
  await clock.advance(1);
  await authenticator.identify(token);
  expect(reads.counts.reads).toBe(2);
});

it('accepts a user who is created after a refusal', async () => {
  const { users, user, signFor, authenticator } = await setUp();
  const token = await signFor();
  await users.take(user.id);
  await expect(authenticator.identify(token)).rejects.toMatchObject(BAD_TOKEN);
  await users.insert(user);
  expect(await authenticator.identify(token)).toMatchObject({ userId: user.id });
});

it('asks no host for callers without one', async () => {
  const { authenticator, issue } = await setUp();
  expect(authenticator).not.toHaveProperty('identifyHost');
  const { key } = await issue();
  expect(await authenticator.identify(key)).toMatchObject({ kind: 'key' });
  const request = {
    method: 'GET',
    path: '/',
    headers: {},
    remoteAddress: undefined,
    protocol: 'http',
  } as const;
  expect(() => authenticator.authenticate({}, 'token', request)).toThrow('Provide a valid access token');
});

it.each(['key', 'token'])('subscribes to revocations with the first %s, until it is closed', async (kind) => {
  const { services, issue, signFor } = await setUp();
  let [begun, ended] = [0, 0];
  const authenticator = createAuthenticator({
    ...services,
    publisher: {
      publish: async () => undefined,
      async subscribe() {
        begun += 1;
        return async () => {
          ended += 1;
        };
      },
    },
  });
  expect(begun).toBe(0);
  await authenticator.identify(kind === 'key' ? (await issue()).key : await signFor());
  expect([begun, ended]).toEqual([1, 0]);
  await authenticator.close();
  expect([begun, ended]).toEqual([1, 1]);
});
