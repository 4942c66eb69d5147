import { TOOL_AUTHORIZATIONS, TOOL_CLIENTS, TOOL_CREDENTIALS } from '@questline/core/internal';
import type { Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { type Begun, type Credential, createVault, toPlace } from '../../src/oauth/vault.ts';
import { createFlow, ISSUER, NOW, SERVER } from './flow.ts';

const PLACE = toPlace(SERVER, 'ada');
const EVE = toPlace(SERVER, 'eve');
const CLIENT = { client_id: 'c', issuer: ISSUER };
const GRANT = { serverUrl: SERVER.url, authorizationServer: ISSUER, client: CLIENT, resource: undefined };
const credential = (token = 'secret-token'): Credential => ({
  ...GRANT,
  grant: 'g',
  tokens: { access_token: token, token_type: 'Bearer' },
});
const BEGUN = { ...GRANT, verifier: 'secret-verifier', scope: 'read' } as Begun;

function create() {
  const flow = createFlow();
  const { store } = flow;
  return {
    flow,
    vault: flow.parts.vault,
    credentials: () => store.collection(TOOL_CREDENTIALS).find({}),
    authorizations: () => store.collection(TOOL_AUTHORIZATIONS).find({}),
    clients: () => store.collection(TOOL_CLIENTS).find({}),
    /** The same records with another encryption key. */
    other: createVault(store, 'c'.repeat(64), () => flow.now),
  };
}

describe('the credential of a user', () => {
  it('is kept encrypted, and found by its user, server and address', async () => {
    const { vault, credentials, other } = create();
    await vault.save(PLACE, credential());
    expect((await vault.get(PLACE))?.value).toEqual(credential());
    const [record] = await credentials();
    expect(record).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{64}$/),
      userId: 'ada',
      serverId: 'diary',
      sealed: expect.not.stringContaining('secret'),
      renewingUntil: 0,
      version: expect.any(Number),
      createdAt: NOW,
    });
    for (const place of [EVE, { ...PLACE, serverId: 'other' }, { ...PLACE, serverUrl: 'https://x.test' }])
      expect(await vault.get(place)).toBeUndefined();
    expect(await other.get(PLACE)).toBeUndefined();
  });

  it('cannot be used in the record of another user', async () => {
    const { flow, vault } = create();
    await vault.save(PLACE, credential());
    await vault.save(EVE, credential('of eve'));
    const records = flow.store.collection(TOOL_CREDENTIALS);
    const [ada = expect.fail()] = await records.find({ userId: 'ada' });
    const [eve = expect.fail()] = await records.find({ userId: 'eve' });
    await records.update(eve.id, { sealed: ada.sealed });
    expect(await vault.get(EVE)).toBeUndefined();
  });

  it('is replaced by a new authorization, which an earlier renewal does not match', async () => {
    const { vault, credentials } = create();
    await vault.save(PLACE, credential('first'));
    const before = (await vault.get(PLACE)) ?? expect.fail();
    await vault.save(PLACE, credential('second'));
    expect(await credentials()).toHaveLength(1);
    expect(await vault.renew(PLACE, { ...before, value: credential('renewed') })).toBe(false);
    expect(await vault.reserve(before.record)).toBe(false);
    await vault.remove(PLACE, before.record.version);
    expect((await vault.get(PLACE))?.value.tokens.access_token).toBe('second');
  });

  it('is removed by its version, and withdrawn by its user', async () => {
    const { vault, credentials, other } = create();
    await vault.save(PLACE, credential());
    const { record } = (await vault.get(PLACE)) ?? expect.fail();
    await vault.remove(EVE, record.version);
    await vault.remove(PLACE, record.version + 1);
    expect(await credentials()).toHaveLength(1);
    await vault.remove(PLACE, record.version);
    expect(await credentials()).toEqual([]);
    expect(await vault.withdraw(PLACE)).toBeUndefined();
    await vault.save(PLACE, credential());
    expect(await vault.withdraw(EVE)).toBeUndefined();
    expect(await vault.withdraw({ userId: 'ada', serverId: 'diary' })).toEqual({ value: credential() });
    expect(await credentials()).toEqual([]);
    await vault.save(PLACE, credential());
    expect(await other.withdraw(PLACE)).toEqual({ value: undefined });
  });

  it('is renewed by one process, for 30 seconds', async () => {
    const { flow, vault } = create();
    await vault.save(PLACE, credential());
    const { record } = (await vault.get(PLACE)) ?? expect.fail();
    expect(await vault.reserve(record)).toBe(true);
    expect((await vault.get(PLACE))?.record.renewingUntil).toBe(NOW + 30_000);
    flow.now += 29_999;
    expect(await vault.reserve(record)).toBe(false);
    flow.now += 1;
    expect(await vault.reserve(record)).toBe(true);
    await vault.release({ ...record, version: record.version + 1 });
    expect(await vault.reserve(record)).toBe(false);
    await vault.release(record);
    expect(await vault.reserve(record)).toBe(true);
    expect(await vault.renew(PLACE, { record, value: credential('next') })).toBe(true);
    const after = (await vault.get(PLACE)) ?? expect.fail();
    expect(after.value.tokens.access_token).toBe('next');
    expect([after.record.renewingUntil, after.record.version]).toEqual([0, record.version + 1]);
    expect(await vault.renew(PLACE, { record, value: credential('late') })).toBe(false);
  });
});

describe('an authorization that a user has begun', () => {
  it('is taken once, by its user, with its state', async () => {
    const { vault, authorizations, other } = create();
    expect(await vault.begin('state', PLACE, BEGUN)).toBe(NOW + 600_000);
    const [record] = await authorizations();
    expect(record?.sealed).not.toContain('secret');
    expect(await vault.take('other', 'ada')).toBeUndefined();
    expect(await vault.take('state', 'eve')).toBeUndefined();
    expect(await vault.take('state', 'ada')).toEqual({ serverId: 'diary', value: BEGUN });
    expect(await vault.take('state', 'ada')).toBeUndefined();
    await vault.begin('state', PLACE, BEGUN);
    expect(await other.take('state', 'ada')).toBeUndefined();
  });

  it('ends after ten minutes', async () => {
    for (const [ms, isKept] of [
      [599_999, true],
      [600_000, false],
    ] as const) {
      const { flow, vault } = create();
      await vault.begin('state', PLACE, BEGUN);
      flow.now += ms;
      expect((await vault.take('state', 'ada')) !== undefined).toBe(isKept);
    }
  });

  it('is deleted after its end by the next one of any user', async () => {
    const { flow, vault, authorizations } = create();
    await vault.begin('first', PLACE, BEGUN);
    flow.now += 1;
    await vault.begin('second', PLACE, BEGUN);
    flow.now += 599_999;
    await vault.begin('third', EVE, BEGUN);
    expect((await authorizations()).map(({ userId }) => userId).sort()).toEqual(['ada', 'eve']);
    expect(await vault.take('second', 'ada')).toBeDefined();
  });

  it('ends when the user begins the tenth after it', async () => {
    const { flow, vault, authorizations } = create();
    await vault.begin('of eve', EVE, BEGUN);
    for (let count = 0; count < 11; count += 1) {
      flow.now += 1;
      await vault.begin(`state-${count}`, PLACE, BEGUN);
    }
    expect(await authorizations()).toHaveLength(11);
    expect(await vault.take('state-0', 'ada')).toBeUndefined();
    for (const [state, userId] of [
      ['of eve', 'eve'],
      ['state-1', 'ada'],
      ['state-10', 'ada'],
    ] as const)
      expect(await vault.take(state, userId)).toBeDefined();
  });
});

describe('the authorizations that have ended', () => {
  it.each([
    ['expired', 'eve', NOW, 5 + 1],
    ['surplus', 'ada', NOW + 1000, 105 - 100 + 1],
  ])('are deleted in batches of 100: %s', async (_, userId, expiresAt, left) => {
    const { flow, vault, authorizations } = create();
    const records = flow.store.collection(TOOL_AUTHORIZATIONS);
    const count = userId === 'ada' ? 105 + 9 : 105;
    for (let index = 0; index < count; index += 1) {
      await records.insert({ id: `id-${index}`, userId, serverId: 'diary', sealed: '', expiresAt });
    }
    await vault.begin('state', PLACE, BEGUN);
    expect(await authorizations()).toHaveLength(left + (userId === 'ada' ? 9 : 0));
  });
});

describe('a store that is away', () => {
  const failure = new Error('the store is away');

  /** A vault whose collection fails with a method. */
  function createFailing(name: string, method: string) {
    const { store } = createFlow();
    const wrap = (inner: Store): Store => ({
      ...inner,
      transaction: (work) => inner.transaction((one) => work(wrap(one))),
      collection(collection) {
        const made = inner.collection(collection);
        const isMeant = collection.name === name;
        return isMeant ? { ...made, [method]: () => Promise.reject(failure) } : made;
      },
    });
    return createVault(wrap(store), 'b'.repeat(64), () => NOW);
  }

  it.each([
    [TOOL_CREDENTIALS.name, 'take'],
    [TOOL_CREDENTIALS.name, 'insert'],
  ])('keeps no credential: %s %s', async (name, method) => {
    const vault = createFailing(name, method);
    await expect(vault.save(PLACE, credential())).rejects.toBe(failure);
    if (method === 'take') await expect(vault.remove(PLACE, 1)).rejects.toBe(failure);
  });

  it('begins no authorization, and keeps no client', async () => {
    await expect(createFailing(TOOL_AUTHORIZATIONS.name, 'insert').begin('state', PLACE, BEGUN)).rejects.toBe(
      failure,
    );
    for (const method of ['take', 'insert'])
      await expect(createFailing(TOOL_CLIENTS.name, method).saveClient(CLIENT, 'a')).rejects.toBe(failure);
    await expect(createFailing(TOOL_CLIENTS.name, 'take').removeClient('a')).rejects.toBe(failure);
  });

  it('deletes no earlier authorization before the next one', async () => {
    const { flow, vault } = create();
    await vault.begin('first', PLACE, BEGUN);
    const failing = createVault(
      {
        ...flow.store,
        collection(collection) {
          const made = flow.store.collection(collection);
          return { ...made, take: () => Promise.reject(failure) };
        },
      },
      'b'.repeat(64),
      () => NOW + 600_000,
    );
    await expect(failing.begin('second', PLACE, BEGUN)).rejects.toBe(failure);
  });
});

describe('the client of a deployment', () => {
  it('is kept encrypted by what it is for, and replaced', async () => {
    const { vault, clients, other } = create();
    expect(await vault.getClient('a', 'b')).toBeUndefined();
    await vault.saveClient({ client_id: 'secret-first' }, 'a', 'b');
    await vault.saveClient({ client_id: 'secret-second' }, 'a', 'b');
    await vault.saveClient({ client_id: 'third' }, 'ab');
    expect(await vault.getClient('a', 'b')).toEqual({ client_id: 'secret-second' });
    expect(await vault.getClient('ab')).toEqual({ client_id: 'third' });
    expect(await other.getClient('a', 'b')).toBeUndefined();
    const records = await clients();
    expect(records).toHaveLength(2);
    for (const { sealed } of records) expect(sealed).not.toContain('secret');
    await vault.removeClient('a', 'b');
    expect(await vault.getClient('a', 'b')).toBeUndefined();
    expect(await vault.getClient('ab')).toBeDefined();
  });
});
