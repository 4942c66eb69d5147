import { createFakeClock } from '@questline/testing';
import { expect, it } from 'vitest';
import { createMemoryStore } from '../../memory/store.ts';
import type { Store } from '../../ports/store.ts';
import { writeAll } from '../../ports/write-all.ts';
import { createSignInGuards, SIGN_IN_GUARDS, type SignInGuardRecord } from './guards.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const KNOWN_MS = 90 * DAY_MS;
const MAX_WRONG = 3;
const ADA = 'ada@example.com';
const EVE = 'eve@example.com';
const HOME = '192.0.2.1';

function setUp(change: (store: Store) => Store = (store) => store) {
  const clock = createFakeClock();
  const plain = createMemoryStore();
  const store = change(plain);
  const guards = createSignInGuards({ store, clock }, new Uint8Array(32).fill(7), MAX_WRONG);
  const records = plain.collection(SIGN_IN_GUARDS);
  const failCodes = async (times: number, email = ADA): Promise<void> => {
    for (let time = 0; time < times; time += 1) await guards.failed(email);
  };
  const getRecord = async (): Promise<SignInGuardRecord | undefined> => (await records.find({}))[0];
  return { clock, store, guards, records, fail: failCodes, getRecord };
}

/** Replaces methods of the collection. */
const withMethods =
  (methods: object) =>
  (store: Store): Store => ({
    ...store,
    collection: (definition) => ({ ...store.collection(definition), ...methods }),
  });

const FAILURE = new Error('the store has failed');
const fail = () => Promise.reject(FAILURE);

it('knows the clients of an account for 90 days after a sign-in', async () => {
  const { clock, guards } = setUp();
  expect(await guards.isKnown(ADA, HOME)).toBe(false);
  await guards.succeeded(ADA, HOME);
  expect(await guards.isKnown(ADA, HOME)).toBe(true);
  expect(await guards.isKnown(ADA, '192.0.2.2')).toBe(false);
  expect(await guards.isKnown(ADA, undefined)).toBe(false);
  expect(await guards.isKnown(EVE, HOME)).toBe(false);
  await clock.advance(KNOWN_MS - 1);
  expect(await guards.isKnown(ADA, HOME)).toBe(true);
  await clock.advance(1);
  expect(await guards.isKnown(ADA, HOME)).toBe(false);
});

it('does not read for a request without a client', async () => {
  const { guards } = setUp(withMethods({ get: fail }));
  expect(await guards.isKnown(ADA, undefined)).toBe(false);
  await expect(guards.isKnown(ADA, HOME)).rejects.toBe(FAILURE);
});

it('stores a new guard for a sign-in', async () => {
  const { clock, guards, getRecord } = setUp();
  await guards.succeeded(ADA, HOME);
  const now = clock.now();
  expect(await getRecord()).toEqual({
    ...{ id: expect.any(String), wrong: 0, countedFrom: now, restUntil: 0 },
    clients: [{ hash: expect.any(String), at: now }],
    expiresAt: expect.any(Number),
  });
});

it('fails when the store does', async () => {
  for (const method of ['insert', 'update', 'add']) {
    const { guards } = setUp(withMethods({ [method]: fail }));
    await expect(guards.failed(ADA)).rejects.toBe(FAILURE);
  }
  const { guards } = setUp(withMethods({ insert: fail }));
  await expect(guards.succeeded(ADA, HOME)).rejects.toBe(FAILURE);
});

it('fails when the lock of an account cannot be stored', async () => {
  let updates = 0;
  const { guards } = setUp(
    withMethods({
      async update() {
        updates += 1;
        if (updates === MAX_WRONG + 1) throw FAILURE;
      },
    }),
  );
  for (let time = 1; time < MAX_WRONG; time += 1) await guards.failed(ADA);
  await expect(guards.failed(ADA)).rejects.toBe(FAILURE);
});

it('locks no account whose guard is deleted at the same time', async () => {
  const { guards, getRecord } = setUp(withMethods({ add: async () => undefined }));
  await guards.failed(ADA);
  expect(await getRecord()).toMatchObject({ restUntil: 0 });
});

it('remembers nothing without a client', async () => {
  const { guards, records } = setUp();
  await guards.succeeded(ADA, undefined);
  expect(await records.count({})).toBe(0);
});

it('remembers the ten clients of the latest sign-ins, each once, newest first', async () => {
  const { clock, guards, getRecord } = setUp();
  const begun = clock.now();
  for (let at = 0; at < 11; at += 1) {
    await guards.succeeded(ADA, `192.0.2.${at}`);
    await clock.advance(1000);
  }
  await guards.succeeded(ADA, '192.0.2.5');
  const record = await getRecord();
  const times = record?.clients.map(({ at }) => (at - begun) / 1000);
  expect(times).toEqual([11, 10, 9, 8, 7, 6, 4, 3, 2, 1]);
  expect(new Set(record?.clients.map(({ hash }) => hash)).size).toBe(10);
  expect(record?.expiresAt).toBe(clock.now() + KNOWN_MS);
  expect(await guards.isKnown(ADA, '192.0.2.0')).toBe(false);
  expect(await guards.isKnown(ADA, '192.0.2.1')).toBe(true);
});

it('stores a new guard for a wrong code, and neither address nor network', async () => {
  const { clock, guards, fail, records } = setUp();
  await fail(1);
  const now = clock.now();
  const [record] = await records.find({});
  const id = expect.stringMatching(/^[\w-]{43}$/);
  expect(record).toEqual({
    ...{ id, wrong: 1, countedFrom: now, restUntil: 0, clients: [], expiresAt: now + KNOWN_MS },
  });
  // The same text as an address and as a network has two hashes.
  await guards.succeeded(ADA, ADA);
  const [after] = await records.find({});
  expect(after?.clients).toEqual([{ hash: id, at: now }]);
  expect(after?.clients[0]?.hash).not.toBe(after?.id);
  expect(JSON.stringify(after)).not.toContain(ADA);
});

it('locks an account for an hour with the last wrong code of a day', async () => {
  const { clock, guards, fail } = setUp();
  await guards.admit(ADA, HOME);
  await fail(MAX_WRONG - 1);
  await guards.admit(ADA, HOME);
  await fail(1);
  const refusal = { status: 429, message: 'Too many wrong codes for this account. Try again later.' };
  await expect(guards.admit(ADA, HOME)).rejects.toMatchObject({
    ...{ ...refusal, headers: { 'Retry-After': '3600' } },
  });
  await expect(guards.admit(ADA, undefined)).rejects.toMatchObject(refusal);
  await guards.admit(EVE, HOME);
  await clock.advance(HOUR_MS - 1500);
  await expect(guards.admit(ADA, HOME)).rejects.toMatchObject({ headers: { 'Retry-After': '2' } });
  await clock.advance(1499);
  await expect(guards.admit(ADA, HOME)).rejects.toMatchObject({ headers: { 'Retry-After': '1' } });
  await clock.advance(1);
  await guards.admit(ADA, HOME);
});

it('locks the account again with each further wrong code of the day', async () => {
  const { clock, guards, fail } = setUp();
  await fail(MAX_WRONG);
  await clock.advance(HOUR_MS);
  await fail(1);
  await expect(guards.admit(ADA, HOME)).rejects.toMatchObject({ headers: { 'Retry-After': '3600' } });
});

it.each([
  [DAY_MS - 1, MAX_WRONG, true],
  [DAY_MS, 1, false],
])('counts anew a day after the first wrong code: %i', async (ms, wrong, isLocked) => {
  const { clock, guards, fail, getRecord } = setUp();
  const begun = clock.now();
  await fail(MAX_WRONG - 1);
  await clock.advance(ms);
  await fail(1);
  const countedFrom = isLocked ? begun : clock.now();
  expect(await getRecord()).toMatchObject({ wrong, countedFrom });
  const admitted = guards.admit(ADA, undefined).then(() => 'admitted');
  expect(await admitted.catch(() => 'locked')).toBe(isLocked ? 'locked' : 'admitted');
});

it('admits known clients of a locked account', async () => {
  const { guards, fail } = setUp();
  await guards.succeeded(ADA, HOME);
  await fail(MAX_WRONG);
  await guards.admit(ADA, HOME);
  await expect(guards.admit(ADA, '192.0.2.2')).rejects.toMatchObject({ status: 429 });
});

it('tries five times to remember a client while others sign in', async () => {
  let updates = 0;
  const { guards } = setUp(
    withMethods({
      async update() {
        updates += 1;
      },
    }),
  );
  await guards.succeeded(ADA, HOME);
  expect(updates).toBe(5);
});

it('does not remember a client in a guard that was deleted', async () => {
  let updates = 0;
  let reads = 0;
  const get = async (): Promise<undefined> => {
    reads += 1;
  };
  const { guards } = setUp(
    withMethods({
      get,
      async update() {
        updates += 1;
      },
    }),
  );
  await guards.succeeded(ADA, HOME);
  expect([reads, updates]).toEqual([5, 0]);
});

it('remembers both clients of two sign-ins at the same time', async () => {
  const { guards } = setUp();
  await Promise.all([guards.succeeded(ADA, HOME), guards.succeeded(ADA, '192.0.2.2')]);
  expect(await guards.isKnown(ADA, HOME)).toBe(true);
  expect(await guards.isKnown(ADA, '192.0.2.2')).toBe(true);
});

it('rejects the step of a locked account until its lock ends', async () => {
  const { clock, store, guards, fail } = setUp();
  const admit = () => writeAll(store, guards.toSteps(ADA, HOME).admit);
  expect(await admit()).toBe(true);
  await fail(MAX_WRONG);
  expect(await admit()).toBe(false);
  expect(await writeAll(store, guards.toSteps(EVE, HOME).admit)).toBe(true);
  await clock.advance(HOUR_MS - 1);
  expect(await admit()).toBe(false);
  await clock.advance(1);
  expect(await admit()).toBe(true);
});

it('remembers a client in a step, with and without a guard', async () => {
  const { clock, store, guards, getRecord } = setUp();
  const now = clock.now();
  // A guard that comes first in the store.
  for (const email of [EVE, 'bob@example.com', 'cid@example.com']) await guards.succeeded(email, '192.0.2.9');
  const sign = async (client: string): Promise<boolean> => {
    const { admit, remember } = guards.toSteps(ADA, client);
    await writeAll(store, admit);
    const write = remember();
    return write !== undefined && writeAll(store, [write]);
  };
  expect(await sign(HOME)).toBe(true);
  expect(await sign('192.0.2.2')).toBe(true);
  expect(await guards.isKnown(ADA, HOME)).toBe(true);
  expect(await guards.isKnown(ADA, '192.0.2.2')).toBe(true);
  expect(await guards.isKnown(ADA, '192.0.2.9')).toBe(false);
  expect((await getRecord())?.countedFrom).toBe(now);
});

it('does not remember a client in a step after another sign-in', async () => {
  const { store, guards } = setUp();
  await guards.succeeded(ADA, HOME);
  const { admit, remember } = guards.toSteps(ADA, '192.0.2.2');
  await writeAll(store, admit);
  // At the same time: an update is seen all the same.
  await guards.succeeded(ADA, '192.0.2.3');
  const write = remember();
  expect(write && (await writeAll(store, [write]))).toBe(false);
});

it('neither reads nor remembers in a step without a client', async () => {
  const { guards } = setUp();
  const { admit, remember } = guards.toSteps(ADA, undefined);
  expect(admit).toHaveLength(1);
  expect(remember()).toBeUndefined();
});

it('deletes guards that are over', async () => {
  const { clock, guards, fail, records } = setUp();
  await fail(1);
  await clock.advance(1);
  await fail(1, EVE);
  await clock.advance(KNOWN_MS - 2);
  expect(await guards.sweep()).toBe(0);
  await clock.advance(1);
  expect(await guards.sweep()).toBe(1);
  expect(await records.count({})).toBe(1);
});
