import { describe, expect, it } from 'vitest';
import { LAKE, makeLake, toId } from '../../../test/lakes.ts';
import type { LinkReader } from '../../access/links.ts';
import { createMemoryStore } from '../../memory/store.ts';
import { createAdministrationCheck, createMembershipCheck } from '../organizations/membership.ts';
import { ORGANIZATIONS, type OrganizationRecord } from '../organizations/records.ts';
import {
  readableLake,
  readableLakes,
  requireDataLakes,
  requireSharing,
  withLakeLinks,
  writableLake,
} from './access.ts';
import { LAKES, type LakeRecord } from './records.ts';

const ORGANIZATION = toId(50);

/** A lake, and an organization with a reader and a writer. */
async function setUp(more: Partial<LakeRecord> = {}) {
  const store = createMemoryStore();
  const lakes = store.collection(LAKES);
  await lakes.insert(makeLake(more));
  const about = { name: 'O', slug: 'o', description: null, createdAt: 0 };
  const tier = { subscriptionTier: 'free', subscriptionStatus: 'active' } as const;
  const organization: OrganizationRecord = {
    ...{ id: ORGANIZATION, ownerId: 'root', readerIds: ['reader'], writerIds: ['writer'], ...about, ...tier },
  };
  await store.collection(ORGANIZATIONS).insert(organization);
  const services = {
    store,
    isMember: createMembershipCheck(store),
    administers: createAdministrationCheck(store),
  };
  const reads = async (userId: string, id = LAKE) => {
    const isRead = (await readableLake(services, userId, id)) !== undefined;
    const listed = await lakes.find(await readableLakes(store, userId));
    // Lists contain the lakes that can be read, and no others.
    if (id === LAKE) expect(listed.some((lake) => lake.id === id)).toBe(isRead);
    return isRead;
  };
  const writes = (userId: string, id = LAKE) =>
    writableLake(services, userId, id).then(
      () => true,
      (error: unknown) => {
        expect(error).toMatchObject({ status: 404, message: 'Data lake not found' });
        return false;
      },
    );
  return { services, lakes, reads, writes };
}

describe('a lake', () => {
  it('is read and changed by its owner, by its id or its slug', async () => {
    const { reads, writes } = await setUp();
    for (const id of [LAKE, 'papers'])
      expect([await reads('ada', id), await writes('ada', id)]).toEqual([true, true]);
    for (const id of [toId(9), 'paper'])
      expect([await reads('ada', id), await writes('ada', id)]).toEqual([false, false]);
    expect([await reads('bob'), await writes('bob')]).toEqual([false, false]);
  });

  it('is read by those it is shared with', async () => {
    const { reads, writes } = await setUp({ readerIds: ['bob'], writerIds: ['cy'] });
    expect([await reads('bob'), await reads('cy'), await reads('dan')]).toEqual([true, true, false]);
    expect([await writes('bob'), await writes('cy')]).toEqual([false, false]);
  });

  it('is read by all if it is public', async () => {
    const { reads, writes } = await setUp({ isPublic: true });
    expect([await reads('bob'), await writes('bob')]).toEqual([true, false]);
  });

  it('of an organization is read by its members, and changed by its administrators', async () => {
    const { reads, writes } = await setUp({ organizationId: ORGANIZATION });
    expect([await reads('reader'), await reads('writer'), await reads('root'), await reads('bob')]).toEqual([
      ...[true, true, true, false],
    ]);
    expect([await writes('reader'), await writes('writer'), await writes('root')]).toEqual([
      false,
      true,
      true,
    ]);
    const other = await setUp({ organizationId: toId(51) });
    expect([await other.reads('reader'), await other.writes('writer')]).toEqual([false, false]);
  });

  it('that is being deleted is read, and no longer changed', async () => {
    const { reads, writes } = await setUp({ status: 'deleting' });
    expect([await reads('ada'), await writes('ada')]).toEqual([true, false]);
  });

  it('whose slug is like an id is found by it', async () => {
    const { lakes, reads } = await setUp();
    await lakes.insert(makeLake({ id: toId(2), slug: toId(3), ownerId: 'bob' }));
    expect(await reads('bob', toId(3))).toBe(true);
  });
});

describe('a reference to a lake', () => {
  const others: LinkReader = {
    findReadable: async (kind) => new Set([kind]),
    findExisting: async (kind) => new Set([kind]),
  };

  it('leads to a lake that a user may read', async () => {
    const { services, lakes } = await setUp();
    await lakes.insert(makeLake({ id: toId(2), slug: 'b', status: 'deleting' }));
    const links = withLakeLinks(services, others);
    const find = async (ids: readonly string[], userId = 'ada') => [
      ...(await links.findReadable('data lake', ids, userId)),
    ];
    expect(await find([LAKE])).toEqual([LAKE]);
    await services.store.collection(LAKES).insert(makeLake({ id: toId(4), slug: 'more' }));
    // A session has one lake.
    expect(await find([LAKE, toId(4)])).toEqual([LAKE]);
    expect([await find([LAKE], 'bob'), await find([toId(2)]), await find([toId(9)])]).toEqual([[], [], []]);
    expect([...(await links.findExisting('data lake', [LAKE, toId(2), toId(9)]))]).toEqual([LAKE]);
    expect([...(await links.findExisting('data lake', [toId(9)]))]).toEqual([]);
    expect([...(await links.findReadable('file', [LAKE], 'ada'))]).toEqual(['file']);
    expect([...(await links.findExisting('file', [LAKE]))]).toEqual(['file']);
  });
});

it('refuses all lakes while they are switched off', async () => {
  const current = (EnableDataLakes: boolean) => ({ current: async () => ({ EnableDataLakes }) }) as never;
  await expect(requireDataLakes(current(true))).resolves.toBeUndefined();
  await expect(requireDataLakes(current(false))).rejects.toMatchObject({ status: 403 });
});

it('lets a key publish only with its scope', () => {
  const ask = (scopes: readonly string[] | undefined) => () => requireSharing({ scopes } as never);
  expect(ask(undefined)).not.toThrow();
  expect(ask(['datalake:share'])).not.toThrow();
  expect(ask(['datalake:write'])).toThrow(expect.objectContaining({ status: 403 }));
});
