import { createFakeClock, createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import type { Store } from '../ports/store.ts';
import { hashSecret } from '../shared/secrets.ts';
import { issueApiKey, type NewApiKey, revokeApiKey, rotateApiKey } from './api-keys.ts';
import type { Authenticator } from './credentials.ts';
import { API_KEYS } from './records.ts';
import { createUser } from './users.ts';

const EVE = 'e'.repeat(24);
const FAILURE = new Error('the store has failed');

async function setUp(change: (store: Store) => Store = (store) => store) {
  const clock = createFakeClock();
  const plain = createMemoryStore();
  const store = change(plain);
  const ids = createFakeIds();
  const forgotten: string[] = [];
  const authenticator = { forgetKey: (keyId: string) => forgotten.push(keyId) } as Partial<Authenticator>;
  const services = { store, clock, ids, authenticator: authenticator as Authenticator };
  const user = await createUser({ store: plain, clock, ids }, { email: 'ada@example.com', username: 'x' });
  const userId = user?.id ?? '';
  const issue = (input: Partial<NewApiKey> = {}) =>
    issueApiKey(services, { userId, name: 'CI', scopes: ['me:read'], ...input });
  const keys = plain.collection(API_KEYS);
  return { clock, services, forgotten, userId, issue, keys };
}

const failing =
  (method: 'insert' | 'update') =>
  (store: Store): Store => ({
    ...store,
    collection: (definition) => ({
      ...store.collection(definition),
      [method]: () => Promise.reject(FAILURE),
    }),
  });

it('creates a key with defaults, and stores its hash only', async () => {
  const { clock, userId, issue, keys } = await setUp();
  const { record, key } = await issue();
  expect(key).toMatch(/^svc_live_[0-9A-Za-z]{43}$/);
  expect(record).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    ...{ userId, name: 'CI', scopes: ['me:read'], mode: 'live', status: 'active' },
    hash: hashSecret(key),
    keyPrefix: key.slice(0, 16),
    ...{ expiresAt: null, requestsPerMinute: 60, requestsPerDay: 1000, spendCap: null },
    ...{ models: null, organizationId: null, lastUsedAt: null, createdAt: clock.now() },
  });
  expect(await keys.find({})).toEqual([record]);
});

it('creates a key as asked for', async () => {
  const { clock, issue } = await setUp();
  const input: Partial<NewApiKey> = {
    ...{ name: 'own', scopes: ['ai:chat', 'me:read'], mode: 'test', expiresAt: clock.now() + 1 },
    ...{ requestsPerMinute: 1, requestsPerDay: 2, spendCap: { amount: 3, period: 'day' } },
    ...{ models: ['m'], organizationId: 'o' },
  };
  const { record, key } = await issue(input);
  expect(record).toMatchObject(input);
  expect(key).toMatch(/^svc_test_/);
});

it('rejects unknown users and lists of scopes that no key may have', async () => {
  const { issue, keys } = await setUp();
  await expect(issue({ userId: EVE })).rejects.toThrow(
    new RangeError(`userId: there is no user ${JSON.stringify(EVE)}`),
  );
  await expect(issue({ scopes: [] })).rejects.toThrow(new RangeError('scopes: expected at least one'));
  await expect(issue({ scopes: ['embed:chat', 'me:read'] })).rejects.toThrow(RangeError);
  expect(await keys.count({})).toBe(0);
});

it('fails when a key cannot be stored', async () => {
  const { issue } = await setUp(failing('insert'));
  await expect(issue()).rejects.toBe(FAILURE);
});

it('replaces the secret of a key, and nothing else', async () => {
  const { services, forgotten, userId, issue, keys } = await setUp();
  const { record, key } = await issue({ mode: 'test', requestsPerDay: 7 });
  const rotated = await rotateApiKey(services, userId, record.id);
  expect(rotated?.key).toMatch(/^svc_test_[0-9A-Za-z]{43}$/);
  expect(rotated?.key).not.toBe(key);
  const secret = { hash: hashSecret(rotated?.key ?? ''), keyPrefix: rotated?.key.slice(0, 16) };
  expect(rotated?.record).toEqual({ ...record, ...secret });
  expect(await keys.get(record.id)).toEqual(rotated?.record);
  expect(forgotten).toEqual([record.id]);
});

it('replaces the secret of a key before its expiry only', async () => {
  const { clock, services, userId, issue, keys } = await setUp();
  const { record } = await issue({ expiresAt: clock.now() + 1000 });
  await clock.advance(999);
  expect(await rotateApiKey(services, userId, record.id)).toBeDefined();
  const { hash } = (await keys.get(record.id)) ?? {};
  await clock.advance(1);
  expect(await rotateApiKey(services, userId, record.id)).toBeUndefined();
  expect((await keys.get(record.id))?.hash).toBe(hash);
});

it('replaces no secret of another user, nor of a revoked key', async () => {
  const { services, userId, issue, keys } = await setUp();
  const { record } = await issue();
  expect(await rotateApiKey(services, EVE, record.id)).toBeUndefined();
  expect(await keys.get(record.id)).toEqual(record);
  await revokeApiKey(services, userId, record.id);
  expect(await rotateApiKey(services, userId, record.id)).toBeUndefined();
  expect((await keys.get(record.id))?.hash).toBe(record.hash);
  expect(await rotateApiKey(services, userId, EVE)).toBeUndefined();
});

it('replaces no secret of a key that is revoked at the same time', async () => {
  const { clock, services, forgotten, userId, issue, keys } = await setUp((store) => ({
    ...store,
    collection: (definition) => {
      const collection = store.collection(definition);
      return {
        ...collection,
        async get(id, guard) {
          const found = await collection.get(id, guard);
          await keysOf(store).update(id, { status: 'disabled' });
          return found;
        },
      };
    },
  }));
  const keysOf = (store: Store) => store.collection(API_KEYS);
  const { record } = await issue({ expiresAt: clock.now() + 1000 });
  expect(await rotateApiKey(services, userId, record.id)).toBeUndefined();
  expect(await keys.get(record.id)).toEqual({ ...record, status: 'disabled' });
  expect(forgotten).toEqual([record.id]);
});

it('revokes a key, with a reason or without', async () => {
  const { services, forgotten, userId, issue, keys } = await setUp();
  const [one, other] = [await issue(), await issue()];
  expect(await revokeApiKey(services, userId, one.record.id)).toBe(true);
  expect(await keys.get(one.record.id)).toEqual({ ...one.record, status: 'disabled' });
  expect(await revokeApiKey(services, userId, other.record.id, 'lost')).toBe(true);
  expect(await keys.get(other.record.id)).toMatchObject({ status: 'disabled', revokedFor: 'lost' });
  expect(forgotten).toEqual([one.record.id, other.record.id]);
});

it('revokes no key of another user', async () => {
  const { services, userId, issue, keys } = await setUp();
  const { record } = await issue();
  expect(await revokeApiKey(services, EVE, record.id)).toBe(false);
  expect(await keys.get(record.id)).toEqual(record);
  expect(await revokeApiKey(services, userId, EVE)).toBe(false);
});

it('forgets a key after the store has changed it', async () => {
  const { services, forgotten, userId } = await setUp(failing('update'));
  await expect(revokeApiKey(services, userId, EVE)).rejects.toBe(FAILURE);
  expect(forgotten).toEqual([]);
});
