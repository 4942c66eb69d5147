import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { USERS } from '../../identity/records.ts';
import { createMemoryLedger } from '../../memory/ledger.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { Store } from '../../ports/store.ts';
import { hashSecret } from '../../shared/secrets.ts';
import { EXTERNAL_IDS } from './external-ids.ts';
import { createHostAccounts } from './host-accounts.ts';

const ALICE = { externalId: 'host|alice', email: 'alice@example.com', name: 'Alice' };
const LINK = hashSecret(ALICE.externalId);

async function setUp(change: (store: Store) => Store = (store) => delayed(store)) {
  const clock = createFakeClock(1000);
  const store = createMemoryStore();
  const ledger = createMemoryLedger({ clock });
  const find = createHostAccounts({
    ...{ store: change(store), ledger: delayed(ledger, 5), clock, ids: createFakeIds() },
    adminSettings: { current: async () => ({ defaultFreeCredits: 2 }) } as never,
    isMember: async (_, organizationId) => organizationId === 'mine',
    modelLists: {
      ofUser: ({ tier }: { tier: string }) => [{ source: 'plan', models: [tier] }],
      ofOrganization: async (id: string) => [{ source: 'organization', models: [id] }],
    } as never,
  });
  return { clock, find, ledger, users: store.collection(USERS), links: store.collection(EXTERNAL_IDS) };
}

describe('account of a host user', () => {
  it('is created once, with its credits', async () => {
    const { find, users, links, ledger } = await setUp();
    const { userId, ...first } = await find(ALICE);
    expect((await links.get(LINK))?.isWelcomed).toBe(true);
    expect(await ledger.balance(`user:${userId}`)).toMatchObject({ available: 2_000_000 });
    expect(first).toEqual({ isDisabled: false, modelLists: [{ source: 'plan', models: ['free'] }] });
    expect(await find(ALICE)).toEqual({ userId, ...first });
    expect(await users.find({})).toMatchObject([
      { id: userId, email: ALICE.email, username: 'Alice', startingCredits: 2_000_000, createdAt: 1000 },
    ]);
    expect(await links.find({})).toEqual([
      { id: LINK, externalId: ALICE.externalId, userId, isWelcomed: true, createdAt: 1000 },
    ]);
  });

  it('gets the credits later if they were not granted', async () => {
    const { find, links, ledger } = await setUp();
    const { userId } = await find(ALICE);
    await links.update(LINK, { isWelcomed: false });
    await find(ALICE);
    expect((await links.get(LINK))?.isWelcomed).toBe(true);
    expect(await ledger.entries(`user:${userId}`, { limit: 9 })).toHaveLength(1);
  });

  it('is disabled like its record', async () => {
    const { find, users } = await setUp();
    const { userId } = await find(ALICE);
    await users.update(userId, { disabled: true });
    expect((await find(ALICE)).isDisabled).toBe(true);
  });

  it.each([
    [{ email: 'no address' }, 'no address', false],
    [{ email: 'carol@example.com' }, 'carol', true],
    [{ email: '@', name: '  ' }, 'User', false],
    [{}, 'User', false],
    [{ name: ` ${'n'.repeat(101)}` }, 'n'.repeat(100), false],
    [{ name: `${'😀'.repeat(101)}` }, '😀'.repeat(100), false],
    [{ name: 'a\u0007\ud800b' }, 'ab', false],
    [{ name: '\u0001', email: 'carol@example.com' }, 'User', true],
  ])('has a name for the profile %j', async (profile, username, hasAddress) => {
    const { find, users } = await setUp();
    const { userId } = await find({ externalId: 'x', ...profile });
    const user = await users.get(userId);
    expect(user?.username).toBe(username);
    expect(user?.email).toBe(hasAddress ? 'carol@example.com' : `${userId}@users.invalid`);
  });

  it('does not have the address of another account', async () => {
    const { find, users } = await setUp();
    const { userId } = await find(ALICE);
    const other = await find({ ...ALICE, externalId: 'host|other' });
    expect(other.userId).not.toBe(userId);
    expect((await users.get(other.userId))?.email).toBe(`${other.userId}@users.invalid`);
  });
});

describe('organization that the host names', () => {
  it('pays for a member, with its lists of models', async () => {
    const { find } = await setUp();
    const found = await find({ ...ALICE, organizationId: 'mine' });
    expect(found.modelLists).toEqual([{ source: 'organization', models: ['mine'] }]);
  });

  it('is refused with 403 for others', async () => {
    const { find } = await setUp();
    await expect(find({ ...ALICE, organizationId: 'other' })).rejects.toMatchObject({
      ...{ status: 403, message: 'You are not a member of the organization that pays for your calls' },
    });
  });
});

describe('account that another process changes at the same time', () => {
  /** A store whose users are gone as soon as they are created. @param times how often. */
  const losing = (times: number) => (store: Store) => {
    let left = times;
    const collection: Store['collection'] = (definition) => {
      const usual = store.collection(definition);
      if (definition.name !== USERS.name) return usual;
      return {
        ...usual,
        async get(...given) {
          const found = await usual.get(...given);
          if (left === 0) return found;
          left -= 1;
          await usual.take(given[0]);
          await store.collection(EXTERNAL_IDS).take(LINK);
          return undefined;
        },
      };
    };
    return { ...store, collection };
  };

  it('is created again, up to five times', async () => {
    const { find, users } = await setUp(losing(4));
    await find(ALICE);
    expect(await users.count({})).toBe(1);
    const lost = await setUp(losing(5));
    await expect(lost.find(ALICE)).rejects.toThrow('created and deleted at the same time');
  });

  it('is not linked if it cannot be inserted', async () => {
    const refusing = (store: Store): Store => ({
      ...store,
      transaction: (work, options) =>
        store.transaction((inner) => {
          const collection: Store['collection'] = (definition) => {
            const usual = inner.collection(definition);
            return definition.name === USERS.name ? { ...usual, insert: async () => false } : usual;
          };
          return work({ ...inner, collection });
        }, options),
    });
    const { find, links } = await setUp(refusing);
    await expect(find(ALICE)).rejects.toThrow('the account could not be inserted');
    expect(await links.count({})).toBe(0);
  });

  it('is that of the process that created it first', async () => {
    const { find, users, ledger } = await setUp();
    const found = await Promise.all([find(ALICE), find(ALICE), find(ALICE)]);
    expect(new Set(found.map(({ userId }) => userId)).size).toBe(1);
    expect(await users.count({})).toBe(1);
    expect(await ledger.entries(`user:${found[0]?.userId}`, { limit: 9 })).toHaveLength(1);
  });
});
