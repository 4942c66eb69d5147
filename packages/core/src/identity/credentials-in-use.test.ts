import { expect, it } from 'vitest';
import { BAD_KEY, BAD_TOKEN, FAILURE, openAuthenticator, TTL_MS } from '../../test/credentials.ts';
import type { KeyCaller } from '../contract/call.ts';
import { createAuthenticator } from './credentials.ts';

/** The least number of records in use that are read again together. */
const MANY = 8;

/** An authenticator with keys of one user each. */
async function openCallers(count: number) {
  const opened = await openAuthenticator();
  const indexes = Array.from({ length: count }, (_, index) => index);
  const callers = await Promise.all(
    indexes.map(async (index) => {
      const user = await opened.addUser(`${index}@example.com`);
      return { user, ...(await opened.issue({ userId: user.id })) };
    }),
  );
  const askAll = async () => Promise.all(callers.map(({ key }) => opened.tryKey(key)));
  /** Every caller asks every two seconds. */
  const poll = async (times: number) => {
    for (let time = 0; time < times; time += 1) {
      await opened.clock.advance(2000);
      await askAll();
    }
  };
  const [first] = callers;
  if (first === undefined) throw new Error('at least one caller');
  return { ...opened, callers, first, askAll, poll };
}

it('reads the credentials of many callers together, while they come again', async () => {
  const { reads, clock, askAll, poll } = await openCallers(100);
  await askAll();
  await poll(1);
  reads.counts.reads = 0;
  await poll(10);
  // One read of keys and one of users a second. Each caller for itself: 2000.
  expect(reads.counts.reads).toBe(40);
  reads.counts.reads = 0;
  await clock.advance(4000);
  expect(reads.counts.reads).toBe(8);
  await clock.advance(60_000);
  expect(reads.counts.reads).toBe(8);
  expect(clock.pending).toBe(0);
});

it.each([
  [MANY, 2],
  [MANY - 1, 0],
])('reads the credentials of %i callers with %i reads a second', async (count, expected) => {
  const { reads, clock, askAll, poll } = await openCallers(count);
  await askAll();
  await poll(1);
  reads.counts.reads = 0;
  expect(clock.pending).toBe(expected);
  await clock.advance(1000);
  expect(reads.counts.reads).toBe(expected);
});

it('reads nothing again for callers of one request', async () => {
  const { reads, clock, askAll } = await openCallers(100);
  await askAll();
  reads.counts.reads = 0;
  await clock.advance(10_000);
  expect(reads.counts.reads).toBe(0);
});

it.each([
  [1000, 4],
  [1001, 6],
])('reads the credentials of %i callers with %i reads, of at most 500 each', async (count, expected) => {
  const { reads, clock, askAll, poll } = await openCallers(count);
  await askAll();
  await poll(1);
  reads.counts.reads = 0;
  await clock.advance(1000);
  // Others have their turn between two reads.
  expect(reads.counts.reads).toBe(2);
  await clock.advance(10);
  expect(reads.counts.reads).toBe(expected);
  await askAll();
  expect(reads.counts.reads).toBe(expected);
});

it('reads no further records when it is closed', async () => {
  const { reads, clock, authenticator, askAll, poll } = await openCallers(1001);
  await askAll();
  await poll(1);
  await clock.advance(1000);
  await authenticator.close();
  reads.counts.reads = 0;
  await clock.advance(10_000);
  expect(reads.counts.reads).toBe(0);
});

// A revocation by another process whose message is lost, at each tenth of the time between two reads.
it.each(Array.from({ length: 20 }, (_, index) => index * 100))(
  'rejects a key and a token that were revoked %i ms after a request, within 1.5 seconds',
  async (delay) => {
    const { clock, keys, users, first, callers, signFor, ask, tryKey, askAll, poll } = await openCallers(20);
    const banned = callers[1];
    const headers = { authorization: `Bearer ${await signFor({ id: banned?.user.id })}` };
    await askAll();
    await ask(headers);
    await poll(3);
    await clock.advance(delay);
    await keys.update(first.record.id, { status: 'disabled' });
    await users.update(banned?.user.id ?? '', { disabled: true });
    await clock.advance(TTL_MS);
    await expect(async () => tryKey(first.key)).rejects.toMatchObject(BAD_KEY);
    await expect(async () => tryKey(banned?.key ?? '')).rejects.toMatchObject(BAD_KEY);
    await expect(ask(headers)).rejects.toMatchObject(BAD_TOKEN);
  },
);

it('rejects a revoked key from the next read of many on', async () => {
  const { clock, keys, first, tryKey, askAll, poll } = await openCallers(20);
  await askAll();
  await poll(2);
  await keys.update(first.record.id, { status: 'disabled' });
  await clock.advance(999);
  expect(tryKey(first.key)).toMatchObject({ kind: 'key' });
  await clock.advance(1);
  await expect(async () => tryKey(first.key)).rejects.toMatchObject(BAD_KEY);
});

it('believes a slow read no longer than 1.5 seconds from its beginning', async () => {
  const { clock, reads, keys, first, tryKey, askAll, poll } = await openCallers(20);
  await askAll();
  await poll(2);
  reads.hold();
  // The reads together begin here.
  await clock.advance(1000);
  await keys.update(first.record.id, { status: 'disabled' });
  await clock.advance(TTL_MS - 1);
  reads.release();
  await clock.advance(0);
  expect(await tryKey(first.key)).toMatchObject({ kind: 'key' });
  await clock.advance(1);
  await expect(async () => tryKey(first.key)).rejects.toMatchObject(BAD_KEY);
});

it('does not believe what a read of many returns after a key or a user is forgotten', async () => {
  const { clock, reads, authenticator, keys, users, callers, tryKey, askAll, poll } = await openCallers(20);
  await askAll();
  await poll(2);
  reads.hold();
  await clock.advance(1000);
  const [one, other] = callers;
  await keys.update(one?.record.id ?? '', { status: 'disabled' });
  authenticator.forgetKey(one?.record.id ?? '');
  await users.update(other?.user.id ?? '', { disabled: true });
  authenticator.forgetUser(other?.user.id ?? '');
  reads.release();
  await clock.advance(0);
  for (const gone of [one, other]) {
    await expect(async () => tryKey(gone?.key ?? '')).rejects.toMatchObject(BAD_KEY);
  }
});

it('keeps what a request has read while a read of many is under way', async () => {
  const { clock, reads, keys, first, tryKey, askAll, poll } = await openCallers(20);
  await askAll();
  await poll(2);
  reads.hold();
  await clock.advance(1000);
  await clock.advance(TTL_MS);
  await keys.update(first.record.id, { requestsPerMinute: 7 });
  const asked = tryKey(first.key);
  reads.release();
  expect(await asked).toMatchObject({ requestsPerMinute: 7 });
  await clock.advance(0);
  expect(await tryKey(first.key)).toMatchObject({ requestsPerMinute: 7 });
});

it('knows changes of keys, owners and the organizations that pay', async () => {
  const opened = await openCallers(20);
  const { clock, services, callers, users, keys, first, askAll, poll } = opened;
  await Promise.all(
    callers.map(({ record }, index) => keys.update(record.id, { organizationId: `${index % 10}` })),
  );
  const lists = new Map<string, string>();
  const ofOrganizations = async (ids: readonly string[]) =>
    new Map(ids.map((id) => [id, [{ source: 'organization', models: [lists.get(id) ?? 'any'] } as const]]));
  Object.assign(services.modelLists, { ofOrganizations });
  await askAll();
  await poll(2);
  await keys.update(first.record.id, { requestsPerMinute: 7 });
  await users.update(first.user.id, { tier: 'pro' });
  lists.set('0', 'small');
  await clock.advance(1000);
  const caller = opened.tryKey(first.key) as KeyCaller;
  expect(caller).toMatchObject({
    requestsPerMinute: 7,
    modelLists: [{ source: 'organization', models: ['small'] }],
  });
});

it('reports a read of many that fails, and reads for each request then', async () => {
  const { clock, services, callers } = await openCallers(20);
  let isBroken = false;
  const { store } = services;
  const failing: typeof store = {
    ...store,
    collection(definition) {
      const collection = store.collection(definition);
      return {
        ...collection,
        find: async (filter, options) => {
          if (isBroken && options === undefined) throw FAILURE;
          return collection.find(filter, options);
        },
      };
    },
  };
  const errors: unknown[] = [];
  const authenticator = createAuthenticator({
    ...services,
    store: failing,
    onError: (error) => errors.push(error),
  });
  const askAll = async () => {
    for (const { key } of callers) expect(await authenticator.identify(key)).toMatchObject({ kind: 'key' });
  };
  await askAll();
  await clock.advance(1000);
  await askAll();
  isBroken = true;
  await clock.advance(1000);
  expect(errors).toEqual([FAILURE, FAILURE]);
  await clock.advance(TTL_MS);
  await askAll();
});

it('reads nothing for later callers after it is closed', async () => {
  const { clock, reads, authenticator, askAll, poll } = await openCallers(20);
  await askAll();
  await poll(1);
  await authenticator.close();
  expect(clock.pending).toBe(0);
  reads.counts.reads = 0;
  await clock.advance(10_000);
  expect(reads.counts.reads).toBe(0);
});

it.each(['before the first read of many', 'during a read of many'])(
  'does not begin again when closed %s',
  async (when) => {
    const { clock, reads, authenticator, askAll, poll } = await openCallers(20);
    await askAll();
    if (when.startsWith('during')) {
      await poll(1);
      reads.hold();
      await clock.advance(1000);
    }
    await authenticator.close();
    reads.release();
    await clock.advance(0);
    for (let time = 0; time < 3; time += 1) await askAll();
    reads.counts.reads = 0;
    await clock.advance(10_000);
    expect(reads.counts.reads).toBe(0);
  },
);
