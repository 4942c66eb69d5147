import { createFakeClock, createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { USERS, type UserRecord } from '../../identity/records.ts';
import { createAccessTokens } from '../../identity/tokens.ts';
import { createUser } from '../../identity/users.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { Store } from '../../ports/store.ts';
import { writeAll } from '../../ports/write-all.ts';
import { hashSecret } from '../../shared/secrets.ts';
import { createTokenFamilies, TOKEN_FAMILIES, type Tokens } from './token-families.ts';

const LIFETIMES = { access: 600, refresh: 3600 };
const REFRESH_MS = 3_600_000;
const FAILURE = new Error('the store has failed');

async function setUp(change: (store: Store) => Store = (store) => store) {
  const clock = createFakeClock();
  const plain = createMemoryStore();
  const store = change(plain);
  const ids = createFakeIds();
  const tokens = createAccessTokens(new Uint8Array(32).fill(7), clock, LIFETIMES);
  const users = plain.collection(USERS);
  const records = plain.collection(TOKEN_FAMILIES);
  const forgotten: [userId: string, ended: number][] = [];
  const families = createTokenFamilies({
    ...{ store, clock, ids, tokens },
    async forgetUser(userId) {
      const user = await users.get(userId);
      forgotten.push([userId, user?.endedFamilies?.length ?? -1]);
    },
  });
  const addUser = async (email: string): Promise<UserRecord> => {
    const user = await createUser({ store: plain, clock, ids }, { email, username: 'x' });
    if (user === undefined) throw new Error('the address is taken');
    return user;
  };
  const read = async (token: string | undefined, type: 'access' | 'refresh' = 'refresh') => {
    const claims = await tokens.verify(token ?? '', type);
    if (claims === undefined) throw new Error('the token is invalid');
    return claims;
  };
  const user = await addUser('ada@example.com');
  /** Exchanges the refresh token, for the user as stored. */
  const rotate = async (given: Tokens | undefined, as = user): Promise<Tokens | undefined> => {
    const token = given?.refreshToken ?? '';
    return families.rotate((await users.get(as.id)) ?? as, await read(token), token);
  };
  const getUser = () => users.get(user.id);
  return {
    clock,
    store,
    ids,
    tokens,
    users,
    records,
    families,
    forgotten,
    addUser,
    read,
    user,
    rotate,
    getUser,
  };
}

const fail = () => Promise.reject(FAILURE);

/** Replaces methods of collections. */
const withMethods =
  (methods: object) =>
  (store: Store): Store => ({
    ...store,
    collection: (definition) => ({ ...store.collection(definition), ...methods }),
  });

/** Stores that fail to end a sign-in. */
const FAILING: readonly [name: string, change: (store: Store) => Store][] = [
  ['take', withMethods({ take: fail })],
  ['transaction', (store) => ({ ...store, transaction: fail })],
  [
    'update',
    (store) => ({
      ...store,
      transaction: (work) => store.transaction((inner) => work(withMethods({ update: fail })(inner))),
    }),
  ],
];

it('begins a sign-in with a record and two tokens of it', async () => {
  const { clock, families, records, read, user } = await setUp();
  const { accessToken, refreshToken } = await families.begin(user);
  const now = clock.now();
  const [record] = await records.find({});
  expect(record).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{24}$/),
    userId: user.id,
    sequence: 0,
    rotatedAt: now,
    expiresAt: now + REFRESH_MS,
  });
  const claims = { id: user.id, tokenVersion: 0, family: record?.id, renewableUntil: now + REFRESH_MS };
  expect(await read(accessToken, 'access')).toEqual({ ...claims, typ: 'access', expiresAt: now + 600_000 });
  expect(await read(refreshToken)).toEqual({
    ...{ ...claims, typ: 'refresh', sequence: 0, expiresAt: now + REFRESH_MS },
  });
});

it('rejects a sign-in whose id exists', async () => {
  const { families, ids, user } = await setUp();
  await families.begin(user);
  ids.next = () => '0'.repeat(24);
  await families.begin(user);
  await expect(families.begin(user)).rejects.toThrow('duplicate family id');
});

it('prepares a sign-in that begins with a write', async () => {
  const { store, families, records, read, user, rotate } = await setUp();
  const { write, sign } = families.prepare(user);
  expect(await records.count({})).toBe(0);
  expect(await writeAll(store, [write])).toBe(true);
  const [record] = await records.find({});
  const tokens = await sign();
  expect(await read(tokens.refreshToken)).toMatchObject({
    ...{ family: record?.id, sequence: 0, renewableUntil: record?.expiresAt },
  });
  expect(await rotate(tokens)).toBeDefined();
});

it('renews a sign-in with each exchange', async () => {
  const { clock, families, records, read, user, rotate } = await setUp();
  const first = await families.begin(user);
  await clock.advance(1000);
  const second = await rotate(first);
  const now = clock.now();
  expect(await read(second?.refreshToken)).toMatchObject({ sequence: 1, renewableUntil: now + REFRESH_MS });
  expect(await records.find({})).toMatchObject([
    { sequence: 1, rotatedAt: now, expiresAt: now + REFRESH_MS },
  ]);
  expect(await read((await rotate(second))?.refreshToken)).toMatchObject({ sequence: 2 });
});

it('treats a token without a sequence as the first one', async () => {
  const { families, tokens, read, user, rotate } = await setUp();
  const { family, renewableUntil } = await read((await families.begin(user)).refreshToken);
  const claims = { id: user.id, tokenVersion: 0, typ: 'refresh', family, renewableUntil } as const;
  const refreshToken = await tokens.sign(claims as Parameters<typeof tokens.sign>[0]);
  const next = await rotate({ accessToken: '', refreshToken });
  expect(await read(next?.refreshToken)).toMatchObject({ sequence: 1 });
});

it('returns the same successor again for 30 seconds', async () => {
  const { clock, families, read, user, rotate, forgotten } = await setUp();
  const first = await families.begin(user);
  const second = await read((await rotate(first))?.refreshToken);
  await clock.advance(30_000);
  const again = await read((await rotate(first))?.refreshToken);
  expect(again).toEqual(second);
  expect(forgotten).toEqual([]);
});

it('ends the sign-in of a token that is used again after 30 seconds', async () => {
  const { clock, families, records, read, user, rotate, forgotten, getUser } = await setUp();
  const first = await families.begin(user);
  const { family } = await read(first.refreshToken);
  const second = await rotate(first);
  await clock.advance(30_001);
  expect(await rotate(first)).toBeUndefined();
  expect(await records.count({})).toBe(0);
  expect(await getUser()).toMatchObject({
    tokenVersion: 0,
    endedFamilies: [{ id: family, until: clock.now() + 600_000 }],
  });
  expect(forgotten).toEqual([[user.id, 1]]);
  expect(await rotate(second)).toBeUndefined();
  expect(forgotten).toHaveLength(1);
});

it('ends the sign-in of a token whose successor was used, within 30 seconds too', async () => {
  const { families, records, user, rotate, forgotten } = await setUp();
  const first = await families.begin(user);
  await rotate(await rotate(first));
  expect(await rotate(first)).toBeUndefined();
  expect(await records.count({})).toBe(0);
  expect(forgotten).toHaveLength(1);
});

it('exchanges no token of a sign-in that was deleted', async () => {
  const { families, records, user, rotate, forgotten } = await setUp();
  const first = await families.begin(user);
  for (const { id } of await records.find({})) await records.take(id);
  expect(await rotate(first)).toBeUndefined();
  expect(forgotten).toEqual([]);
});

it('leaves the sign-in of another user alone', async () => {
  const { clock, families, records, addUser, user, rotate, forgotten } = await setUp();
  const eve = await addUser('eve@example.com');
  const first = await families.begin(user);
  expect(await rotate(first, eve)).toBeUndefined();
  const second = await rotate(first);
  expect(await rotate(first, eve)).toBeUndefined();
  await clock.advance(30_001);
  expect(await rotate(first, eve)).toBeUndefined();
  expect(await records.count({})).toBe(1);
  expect(forgotten).toEqual([]);
  expect(await rotate(second)).toBeDefined();
});

it('begins a sign-in with the first use of a token that has none', async () => {
  const { clock, records, tokens, read, user, rotate, getUser } = await setUp();
  const refreshToken = await tokens.sign({ id: user.id, tokenVersion: 0, typ: 'refresh' });
  const old = { accessToken: '', refreshToken };
  const family = hashSecret(refreshToken);
  const first = await read((await rotate(old))?.refreshToken);
  expect(first).toMatchObject({ family, sequence: 0, renewableUntil: clock.now() + REFRESH_MS });
  await clock.advance(30_000);
  expect(await read((await rotate(old))?.refreshToken)).toEqual(first);
  await clock.advance(1);
  expect(await rotate(old)).toBeUndefined();
  expect(await records.count({})).toBe(0);
  expect((await getUser())?.endedFamilies).toMatchObject([{ id: family }]);
});

it('begins no other sign-in with a token that has none, after it was used again', async () => {
  const { clock, records, tokens, user, rotate, getUser } = await setUp();
  const refreshToken = await tokens.sign({ id: user.id, tokenVersion: 0, typ: 'refresh' });
  const old = { accessToken: '', refreshToken };
  await rotate(old);
  await clock.advance(30_001);
  expect(await rotate(old)).toBeUndefined();
  const ended = (await getUser())?.endedFamilies;
  // Until the token itself expires.
  expect(ended).toMatchObject([{ until: clock.now() - 30_001 + REFRESH_MS }]);
  expect(await rotate(old)).toBeUndefined();
  expect(await records.count({})).toBe(0);
  expect((await getUser())?.endedFamilies).toEqual(ended);
});

it('lists ended sign-ins until their access tokens expire', async () => {
  const { clock, families, users, user, rotate, getUser } = await setUp();
  const first = await families.begin(user);
  await rotate(await rotate(first));
  const now = clock.now();
  const past = { id: 'past', until: now };
  const running = { id: 'running', until: now + 1 };
  await users.update(user.id, { endedFamilies: [past, running] });
  await rotate(first);
  expect((await getUser())?.endedFamilies).toMatchObject([running, { until: now + 600_000 }]);
});

it.each([
  [49, 50, 0],
  [50, 0, 1],
])('revokes all tokens of a user with more than 50 ended sign-ins: %i', async (before, after, version) => {
  const { clock, families, users, user, rotate, getUser, forgotten } = await setUp();
  const first = await families.begin(user);
  await rotate(await rotate(first));
  const until = clock.now() + 1;
  const endedFamilies = Array.from({ length: before }, (_, at) => ({ id: `f${at}`, until }));
  await users.update(user.id, { endedFamilies });
  await rotate(first);
  const changed = await getUser();
  expect(changed?.endedFamilies).toHaveLength(after);
  expect(changed?.tokenVersion).toBe(version);
  expect(forgotten).toEqual([[user.id, after]]);
});

it('ends the sign-in of a deleted user', async () => {
  const { families, users, records, user, rotate } = await setUp();
  const first = await families.begin(user);
  await rotate(await rotate(first));
  await users.take(user.id);
  expect(await rotate(first)).toBeUndefined();
  expect(await records.count({})).toBe(0);
  expect(await users.count({})).toBe(0);
});

it.each(FAILING)('fails when the end cannot be stored: %s', async (_, change) => {
  const { clock, families, users, user, rotate } = await setUp(change);
  const first = await families.begin(user);
  await rotate(await rotate(first));
  await expect(rotate(first)).rejects.toBe(FAILURE);
  const until = clock.now() + 1;
  const endedFamilies = Array.from({ length: 50 }, (_one, at) => ({ id: `f${at}`, until }));
  await users.update(user.id, { endedFamilies });
  const second = await families.begin(user);
  await rotate(await rotate(second));
  await expect(rotate(second)).rejects.toBe(FAILURE);
});

it('deletes expired sign-ins', async () => {
  const { clock, families, records, user } = await setUp();
  await families.begin(user);
  await clock.advance(1);
  await families.begin(user);
  await clock.advance(REFRESH_MS - 2);
  expect(await families.sweep()).toBe(0);
  await clock.advance(1);
  expect(await families.sweep()).toBe(1);
  expect(await records.count({})).toBe(1);
});
