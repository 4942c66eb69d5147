import { createFakeClock, createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { USERS } from '../../identity/records.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { CreditLedger } from '../../ports/ledger.ts';
import type { Store } from '../../ports/store.ts';
import { REGISTRATION_INVITES } from './invite-records.ts';
import { issueRegistrationInvites } from './issue-invites.ts';
import { FIRST_ADMIN, grantStartingCredits, type RegistrationInput, register } from './registration.ts';

interface Options {
  readonly isOpen?: boolean;
  readonly setupCode?: string;
  /** Creates another account first. */
  readonly isEmpty?: boolean;
  readonly change?: (store: Store) => Store;
}

async function setUp({
  isOpen = false,
  setupCode,
  isEmpty = false,
  change = (store) => store,
}: Options = {}) {
  const clock = createFakeClock();
  const plain = createMemoryStore();
  const ids = createFakeIds();
  const current = async () => ({ allowOpenRegistration: isOpen, defaultFreeCredits: 2 });
  const adminSettings = { current } as unknown as AdminSettingsReader;
  const services = { store: plain, clock, ids, adminSettings, setupCode };
  const add = (input: Partial<RegistrationInput> = {}, from = services) =>
    register(from, { email: 'ada@example.com', username: 'Ada', ...input });
  if (!isEmpty) await add({ email: 'root@example.com', inviteCode: setupCode });
  const invite = async (unlimitedUse = false) => {
    const input = { count: 1, unlimitedUse, startingCredits: 3, createdBy: 'root' };
    const [one] = await issueRegistrationInvites(services, input);
    return one?.code ?? '';
  };
  const store = plain;
  const [users, invites, founders] = [
    store.collection(USERS),
    store.collection(REGISTRATION_INVITES),
    store.collection(FIRST_ADMIN),
  ];
  const addTo = (input: Partial<RegistrationInput> = {}) => add(input, { ...services, store: change(plain) });
  return { add: addTo, invite, users, invites, founders };
}

it('makes the first account an administrator, without an invite', async () => {
  const { add, invite, users, invites, founders } = await setUp({ isEmpty: true });
  const user = await add({ inviteCode: await invite() });
  expect(user).toMatchObject({
    ...{ email: 'ada@example.com', username: 'Ada', isAdmin: true, startingCredits: 2_000_000 },
  });
  expect(await users.find({})).toEqual([user]);
  expect(await founders.find({})).toEqual([{ id: 'first-account', userId: (await users.find({}))[0]?.id }]);
  expect(await invites.find({})).toMatchObject([{ usesLeft: 1 }]);
});

it.each([undefined, '', 'other'])('makes no first account with the setup code %o', async (inviteCode) => {
  const { add, users, founders } = await setUp({ isEmpty: true, isOpen: true, setupCode: 'AB-CD' });
  expect(await add({ inviteCode })).toBeUndefined();
  expect([await users.count({}), await founders.count({})]).toEqual([0, 0]);
});

it('makes the first account with the setup code in any spelling', async () => {
  const { add } = await setUp({ isEmpty: true, setupCode: 'AB-CD' });
  expect(await add({ inviteCode: 'a bc-d' })).toMatchObject({ isAdmin: true });
});

it('needs no setup code for the second account', async () => {
  const { add } = await setUp({ isOpen: true, setupCode: 'AB-CD' });
  expect(await add()).toMatchObject({ isAdmin: false, startingCredits: 2_000_000 });
});

it.each([true, false])('makes no second first administrator, open: %s', async (isOpen) => {
  const { add, users, founders } = await setUp({ isOpen });
  for (const { id } of await users.find({})) await users.take(id);
  const user = await add();
  if (isOpen) expect(user).toMatchObject({ isAdmin: false });
  else expect(user).toBeUndefined();
  expect(await founders.count({})).toBe(1);
});

it('makes no administrator where the host has created accounts', async () => {
  const { add, users, founders } = await setUp({ isOpen: true });
  const [{ id } = { id: '' }] = await founders.find({});
  await founders.take(id);
  expect(await users.count({})).toBe(1);
  expect(await add()).toMatchObject({ isAdmin: false });
  expect(await founders.count({})).toBe(0);
});

it('makes no account without an invite while registration is closed', async () => {
  const { add, users } = await setUp();
  expect(await add()).toBeUndefined();
  expect(await add({ inviteCode: 'unknown' })).toBeUndefined();
  expect(await users.count({})).toBe(1);
});

it('uses an invite once, and gives its credits', async () => {
  const { add, invite, invites } = await setUp();
  const inviteCode = await invite();
  expect(await add({ inviteCode })).toMatchObject({ isAdmin: false, startingCredits: 5_000_000 });
  expect(await invites.find({})).toMatchObject([{ usesLeft: 0 }]);
  expect(await add({ email: 'eve@example.com', inviteCode })).toBeUndefined();
  expect(await invites.find({})).toMatchObject([{ usesLeft: 0 }]);
});

it('uses an unlimited invite any number of times', async () => {
  const { add, invite, invites } = await setUp();
  const inviteCode = await invite(true);
  for (const email of ['a@example.com', 'b@example.com']) {
    expect(await add({ email, inviteCode })).toMatchObject({ startingCredits: 5_000_000 });
  }
  expect(await invites.find({})).toMatchObject([{ usesLeft: null }]);
});

it('gives no credits of a used invite while registration is open', async () => {
  const { add, invite } = await setUp({ isOpen: true });
  const inviteCode = await invite();
  expect(await add({ inviteCode })).toMatchObject({ startingCredits: 5_000_000 });
  expect(await add({ email: 'eve@example.com', inviteCode })).toMatchObject({ startingCredits: 2_000_000 });
});

it('uses no invite for an address that has an account', async () => {
  const { add, invite, invites, users } = await setUp();
  const inviteCode = await invite();
  expect(await add({ email: 'root@example.com', inviteCode })).toBe('taken');
  expect(await add({ email: 'root@example.com' })).toBe('taken');
  expect(await invites.find({})).toMatchObject([{ usesLeft: 1 }]);
  expect(await users.count({})).toBe(1);
});

it('uses no invite when the account cannot be stored', async () => {
  const withoutUsers = (store: Store): Store => ({
    ...store,
    transaction: (work) => store.transaction((inner) => work(withoutUsers(inner))),
    collection: (definition) => ({
      ...store.collection(definition),
      ...(definition.name === 'users' && { insert: async () => false }),
    }),
  });
  const { add, invite, invites } = await setUp({ change: withoutUsers });
  const inviteCode = await invite();
  await expect(add({ inviteCode })).rejects.toThrow('the account could not be inserted');
  expect(await invites.find({})).toMatchObject([{ usesLeft: 1 }]);
});

it('grants the initial credits under one key, and nothing without credits', async () => {
  const grants: unknown[] = [];
  const ledger = { grant: async (grant: unknown) => grants.push(grant) } as unknown as CreditLedger;
  await grantStartingCredits(ledger, { id: 'u' });
  await grantStartingCredits(ledger, { id: 'u', startingCredits: 0 });
  expect(grants).toEqual([]);
  await grantStartingCredits(ledger, { id: 'u', startingCredits: 1 });
  expect(grants).toEqual([{ account: 'user:u', amount: 1, key: 'registration', reason: 'registration' }]);
});

it('fails when the initial credits cannot be granted', async () => {
  const failure = new Error('the ledger has failed');
  const ledger = { grant: () => Promise.reject(failure) } as unknown as CreditLedger;
  await expect(grantStartingCredits(ledger, { id: 'u', startingCredits: 1 })).rejects.toBe(failure);
});
