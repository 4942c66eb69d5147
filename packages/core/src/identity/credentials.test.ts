import { expect, it } from 'vitest';
import { BAD_KEY, BAD_TOKEN, FAILURE, openAuthenticator, TTL_MS } from '../../test/credentials.ts';
import type { KeyCaller } from '../contract/call.ts';
import type { Store } from '../ports/store.ts';
import { createAuthenticator } from './credentials.ts';

it('finds a key or token in either header', async () => {
  const { issue, signFor, ask } = await openAuthenticator();
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
  const { issue, signFor, ask } = await openAuthenticator();
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
  const { reads, signFor, ask } = await openAuthenticator();
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
  const { users, user, issue, tryKey } = await openAuthenticator();
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
  const { users, user, issue, tryKey } = await openAuthenticator();
  await users.update(user.id, { tier: 'pro' });
  expect(await tryKey((await issue()).key)).toMatchObject({
    modelLists: [{ source: 'plan', models: ['p'] }],
  });
});

it('rejects keys that are unknown or revoked, and those of deleted and banned users', async () => {
  const { users, keys, addUser, issue, tryKey } = await openAuthenticator();
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
  const { clock, issue, tryKey } = await openAuthenticator();
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
  const { clock, reads, keys, issue, tryKey } = await openAuthenticator();
  const { key, record } = await issue();
  const caller = await tryKey(key);
  reads.counts.reads = 0;
  await keys.update(record.id, { status: 'disabled' });
  await clock.advance(TTL_MS - 1);
  expect(tryKey(key)).toEqual(caller);
  expect(reads.counts.reads).toBe(0);
  await clock.advance(1);
  await expect(tryKey(key)).rejects.toMatchObject(BAD_KEY);
  await expect(tryKey(key)).rejects.toMatchObject(BAD_KEY);
});

it('believes a key no longer than its owner, and the owner for 1.5 seconds', async () => {
  const { clock, users, user, issue, signFor, ask, tryKey } = await openAuthenticator();
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
  const { clock, reads, issue, tryKey } = await openAuthenticator();
  const { key } = await issue();
  reads.hold();
  const first = tryKey(key);
  await clock.advance(TTL_MS);
  reads.release();
  await first;
  expect(tryKey(key)).toBeInstanceOf(Promise);
});

it('notes the use of a key once a minute', async () => {
  const { clock, keys, issue, tryKey } = await openAuthenticator();
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
  const { clock, keys, issue, tryKey } = await openAuthenticator(60_000);
  const { key, record } = await issue();
  await keys.update(record.id, { lastUsedAt: clock.now() });
  await clock.advance(59_999);
  await tryKey(key);
  expect((await keys.get(record.id))?.lastUsedAt).toBe(60_000);
});

it('notes the first use of a key that was never used', async () => {
  const { keys, issue, tryKey } = await openAuthenticator(60_000);
  const { key, record } = await issue();
  await tryKey(key);
  expect((await keys.get(record.id))?.lastUsedAt).toBe(60_000);
});

it('reports a use that could not be noted, and accepts the key', async () => {
  const { clock, services, issue, errors } = await openAuthenticator();
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
