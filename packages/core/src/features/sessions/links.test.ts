import { describe, expect, it } from 'vitest';
import { withLateWrites } from '../../../test/late-store.ts';
import type { LinkReader } from '../../access/links.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { Store } from '../../ports/store.ts';
import {
  addedBy,
  checkLinkChange,
  dropped,
  linkDeletion,
  unlink,
  withoutDeleted,
  withoutLinkedBy,
} from './links.ts';
import { SESSIONS, type SessionRecord } from './records.ts';

const toId = (number: number): string => number.toString(16).padStart(24, '0');
const [A, B, C, D] = [toId(10), toId(11), toId(12), toId(13)];
const SESSION: SessionRecord = { id: 's', ownerId: 'ada', name: 'n', firstCreated: 0, lastUpdated: 0 };

/** Resources that exist and can be read, except those that are gone. */
function createLinks(...gone: readonly string[]) {
  const asked: (readonly [string, readonly string[]])[] = [];
  const find = async (_kind: string, ids: readonly string[]) =>
    new Set(ids.filter((id) => !gone.includes(id)));
  const links: LinkReader = {
    findReadable: find,
    findExisting(kind, ids) {
      asked.push([kind, ids]);
      return find(kind, ids);
    },
  };
  return { links, asked };
}

describe('a session without the links to deleted records', () => {
  it.each(['knowledgeIds', 'artifactIds', 'agentIds'] as const)(
    'keeps the living ones of %s',
    async (field) => {
      const session = { ...SESSION, [field]: [A, 'no id', B, C] };
      expect(await withoutDeleted(createLinks(B).links, session)).toEqual({ ...session, [field]: [A, C] });
    },
  );

  it('has no data lake when that is gone', async () => {
    const session = { ...SESSION, dataLakeId: A, knowledgeIds: [B] };
    expect(await withoutDeleted(createLinks(A).links, session)).toEqual({
      ...session,
      dataLakeId: undefined,
    });
    expect(await withoutDeleted(createLinks(B).links, session)).toEqual({ ...session, knowledgeIds: [] });
    expect(await withoutDeleted(createLinks().links, session)).toBe(session);
  });

  it('needs no read for kinds without links, and asks for ids only, at most 1000 of a kind', async () => {
    const { links, asked } = createLinks();
    const many = Array.from({ length: 1001 }, (_, at) => toId(at));
    await withoutDeleted(links, { ...SESSION, knowledgeIds: ['no id', ...many] });
    expect(asked).toEqual([['file', many.slice(0, 999)]]);
  });
});

describe('a change of links', () => {
  const change = async (session: SessionRecord, userId: string, wanted: object, ...gone: string[]) =>
    (await checkLinkChange(createLinks(...gone).links, userId, session, wanted)).applyTo(session);

  it('removes deleted links that the user would not be allowed to remove', async () => {
    const session = { ...SESSION, knowledgeIds: [A, B] };
    expect(await change(session, 'grace', { knowledgeIds: [] }, A)).toEqual({ knowledgeIds: [B] });
  });

  it('fills a list up to its maximum', async () => {
    const full = Array.from({ length: 500 }, (_, at) => toId(at + 100));
    expect(await change(SESSION, 'ada', { knowledgeIds: full })).toEqual({ knowledgeIds: full });
    await expect(change({ ...SESSION, knowledgeIds: [A] }, 'grace', { knowledgeIds: full })).rejects.toThrow(
      /knowledgeIds: the session has the maximum of 500/,
    );
  });

  it('requires that the user can read a new data lake, and stores who chose it unless that is the owner', async () => {
    await expect(change(SESSION, 'ada', { dataLakeId: A }, A)).rejects.toThrow(/not found/);
    expect(await change(SESSION, 'ada', { dataLakeId: A })).toEqual({ dataLakeId: A });
    const byGrace = { dataLakeId: A, linkedBy: { [A]: 'grace' } };
    expect(await change(SESSION, 'grace', { dataLakeId: A })).toEqual(byGrace);
  });

  it('of the data lake is for the owner and the user who chose it, unless the lake is gone or stays', async () => {
    const session = { ...SESSION, dataLakeId: A };
    for (const wanted of [B, null]) {
      await expect(change(session, 'grace', { dataLakeId: wanted })).rejects.toThrow(
        /chosen by another user/,
      );
    }
    expect(await change(session, 'grace', { dataLakeId: A })).toEqual({});
    expect(await change(SESSION, 'grace', { dataLakeId: null })).toEqual({});
    expect(await change(session, 'ada', { dataLakeId: null })).toEqual({ dataLakeId: undefined });
    expect(await change(session, 'grace', { dataLakeId: null }, A)).toEqual({ dataLakeId: undefined });
    expect(await change(session, 'grace', { dataLakeId: B }, A)).toMatchObject({ dataLakeId: B });
  });
});

describe('who added a link', () => {
  it('is stored for others than the owner', () => {
    const session = { ...SESSION, linkedBy: { [A]: 'alan' } };
    expect(addedBy(session, 'ada', B)).toEqual({});
    expect(addedBy(session, 'grace', B)).toEqual({ linkedBy: { [A]: 'alan', [B]: 'grace' } });
  });

  it('is forgotten with the link', () => {
    const session = { ...SESSION, linkedBy: { [A]: 'alan', [B]: 'grace' } };
    expect(withoutLinkedBy(session, C)).toEqual({});
    expect(withoutLinkedBy(session, A)).toEqual({ linkedBy: { [B]: 'grace' } });
    expect(withoutLinkedBy({ ...SESSION, linkedBy: { [A]: 'alan' } }, A)).toEqual({ linkedBy: undefined });
  });
});

it('remembers the last 100 links that were dropped', () => {
  const ids = Array.from({ length: 100 }, (_, at) => toId(at));
  expect(dropped({ ...SESSION, droppedLinks: ids }, D).droppedLinks).toEqual([...ids.slice(1), D]);
});

describe('a deleted record', () => {
  async function fill(count: number, link: Partial<SessionRecord>, store: Store = createMemoryStore()) {
    const sessions = store.collection(SESSIONS);
    for (let at = 0; at < count; at += 1) await sessions.insert({ ...SESSION, id: toId(at), ...link });
    return { store, sessions };
  }

  it.each([0, 1, 199, 200, 201])('leaves %i sessions, and no others', async (count) => {
    const { store, sessions } = await fill(count, { knowledgeIds: [A, B], dataLakeId: C });
    const kept = { ...SESSION, knowledgeIds: [B], artifactIds: [A], dataLakeId: A };
    await sessions.insert({ ...kept, id: 'kept' });
    let searches = 0;
    const counting: Store = {
      ...store,
      collection(definition) {
        const collection = store.collection(definition);
        return { ...collection, find: (...given) => (searches++, collection.find(...given)) };
      },
    };
    await unlink(counting, 'knowledgeIds', A);
    expect(searches).toBe(count < 200 ? 1 : 2);
    await linkDeletion.dataLake?.({ store: counting } as never, C);
    expect(searches).toBe(count < 200 ? 2 : 4);
    expect(await sessions.count({ knowledgeIds: { has: A } })).toBe(0);
    expect(await sessions.count({ dataLakeId: C })).toBe(0);
    expect(await sessions.get('kept')).toEqual({ ...kept, id: 'kept' });
    for (const { id, knowledgeIds, droppedLinks } of await sessions.find({ knowledgeIds: { has: B } }))
      if (id !== 'kept') expect([knowledgeIds, droppedLinks]).toEqual([[B], [A, C]]);
  });

  it('has left the sessions when the clean-up ends', async () => {
    const { store, sessions } = await fill(1, { knowledgeIds: [A], dataLakeId: A });
    await unlink(withLateWrites(store), 'knowledgeIds', A);
    expect(await sessions.get(toId(0))).toMatchObject({ knowledgeIds: [], droppedLinks: [A] });
    await linkDeletion.dataLake?.({ store: withLateWrites(store) } as never, A);
    expect((await sessions.get(toId(0)))?.dataLakeId).toBeUndefined();
  });

  it('does not touch a session whose links changed meanwhile', async () => {
    const { store, sessions } = await fill(1, { knowledgeIds: [A], dataLakeId: A });
    const id = toId(0);
    const changing: Store = {
      ...store,
      collection(definition) {
        const collection = store.collection(definition);
        return {
          ...collection,
          async find(...given) {
            const found = await collection.find(...given);
            await sessions.update(id, { knowledgeIds: [B], dataLakeId: B });
            return found;
          },
        };
      },
    };
    await unlink(changing, 'knowledgeIds', A);
    const changed = { ...SESSION, id, knowledgeIds: [B], dataLakeId: B };
    expect(await sessions.get(id)).toEqual(changed);
    await sessions.update(id, { knowledgeIds: [A], dataLakeId: A });
    await linkDeletion.dataLake?.({ store: changing } as never, A);
    expect(await sessions.get(id)).toEqual(changed);
  });
});
