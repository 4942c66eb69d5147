import { describe, expect, it } from 'vitest';
import { withLateWrites } from '../../../test/late-store.ts';
import type { LinkReader } from '../../access/links.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { Store } from '../../ports/store.ts';
import { SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { MAX_MEMBERS } from './contract.ts';
import {
  addFiles,
  checkMembers,
  findReadable,
  hasRoom,
  hideInSessions,
  mergeMembers,
  removeFromProjects,
  showInSessions,
  updateMembers,
} from './members.ts';
import { PROJECTS, type ProjectRecord } from './records.ts';

const toId = (number: number): string => number.toString(16).padStart(24, '0');
const [A, B, C, D] = [toId(10), toId(11), toId(12), toId(13)] as const;
const P = toId(1);
const PROJECT = { id: P, ownerId: 'ada', name: 'n', sessionIds: [], fileIds: [] } as unknown as ProjectRecord;

/** Files that exist are readable. */
function createLinks(...files: readonly string[]) {
  const asked: (readonly string[])[] = [];
  const links: LinkReader = {
    async findReadable(kind, ids) {
      asked.push([kind, ...ids]);
      return new Set(ids.filter((id) => files.includes(id)));
    },
    findExisting: async () => new Set(),
  };
  return { links, asked };
}

async function setUp(sessions: readonly Partial<SessionRecord>[] = [], project: Partial<ProjectRecord> = {}) {
  const store = createMemoryStore();
  const common = { ownerId: 'ada', name: 'n', firstCreated: 0, lastUpdated: 0 };
  for (const session of sessions)
    await store.collection(SESSIONS).insert({ ...common, ...session } as SessionRecord);
  await store.collection(PROJECTS).insert({ ...PROJECT, ...project });
  const read = async () => {
    const found = await store.collection(SESSIONS).find({});
    return Object.fromEntries(found.map(({ id, projectId }) => [id, projectId]));
  };
  const getProject = async (id: string = P) => (await store.collection(PROJECTS).get(id)) as ProjectRecord;
  return { store: withLateWrites(store), read, getProject };
}

describe('checkMembers', () => {
  const ALL = [{ id: A }, { id: B, ownerId: 'grace' }, { id: C, ownerId: 'grace', readerIds: ['ada'] }];
  const check = async (
    sessionIds: readonly string[],
    fileIds: readonly string[],
    known: readonly string[] = [],
  ) => {
    const { store } = await setUp(ALL);
    const { links, asked } = createLinks(A);
    await checkMembers({ store, links }, 'ada', sessionIds, fileIds, new Set(known));
    return asked;
  };

  it.each([
    ['session_ids.1: session not found', [A, B], []],
    ['session_ids.0: session not found', [D], []],
    ['session_ids.2: session not found', [A, C, 'no id'], []],
    ['file_ids.0: file not found', [], [B]],
    ['file_ids.1: file not found', [A], [A, 'no id']],
  ])('answers %s', async (message, sessionIds, fileIds) => {
    await expect(check(sessionIds, fileIds)).rejects.toMatchObject({ status: 400, message });
  });

  it('accepts own and shared sessions, readable files, and what the project has already', async () => {
    expect(await check([A, C], [A])).toEqual([['file', A]]);
    expect(await check([B, 'no id', A], [B, 'no id', A], [B, 'no id'])).toEqual([['file', A]]);
    expect(await check([B], [B], [B])).toEqual([]);
    expect(await check([], [])).toEqual([]);
  });

  it('looks up nothing that the project has, and no id of another form', async () => {
    const failing = { collection: () => expect.unreachable() } as unknown as Store;
    const { links, asked } = createLinks();
    await checkMembers({ store: failing, links }, 'ada', [A, 'no id'], [], new Set([A, 'no id']));
    const { store } = await setUp(ALL);
    await expect(checkMembers({ store, links }, 'ada', [], [A, 'no id'])).rejects.toThrow('file_ids.0');
    expect(asked).toEqual([['file', A]]);
    const no = { ownerId: 'ada', projectId: 'no id' };
    expect(await hasRoom(failing, no, 1)).toBe(false);
  });

  it('finds the readable sessions among the given ones', async () => {
    const { store } = await setUp(ALL);
    const { links } = createLinks();
    expect(await findReadable({ store, links }, 'ada', 'sessionIds', [B, C])).toEqual(new Set([C]));
  });
});

describe('mergeMembers', () => {
  const merge = (
    project: Partial<ProjectRecord>,
    input: object,
    checked: readonly string[],
    userId = 'grace',
  ) => mergeMembers({ ...PROJECT, ...project }, input, checked, userId);

  it('lets the owner remove everything, and others what they have added', () => {
    const project = { sessionIds: [A, B], fileIds: [C], linkedBy: { [B]: 'grace', [C]: 'alan' } };
    const empty = { sessionIds: [], fileIds: [] };
    expect(merge(project, empty, [], 'ada')).toEqual({ ...empty, linkedBy: undefined });
    expect(merge(project, empty, [])).toEqual({
      sessionIds: [A],
      fileIds: [C],
      linkedBy: { [C]: 'alan' },
    });
  });

  it('stores who added a member, unless that is the owner', () => {
    const input = { sessionIds: [A, B] };
    expect(merge({ sessionIds: [A] }, input, [B], 'ada')).toEqual({ ...input, linkedBy: undefined });
    expect(merge({ sessionIds: [A] }, input, [B])).toEqual({ ...input, linkedBy: { [B]: 'grace' } });
    expect(merge({}, { fileIds: [A, B] }, [A])).toEqual({ fileIds: [A], linkedBy: { [A]: 'grace' } });
  });

  it('keeps the lists that are not named, and who added their members', () => {
    const linkedBy = { [A]: 'alan', [B]: 'alan', [D]: 'alan' };
    const project = { sessionIds: [A], fileIds: [B], linkedBy };
    const kept = { [A]: 'alan', [B]: 'alan' };
    expect(merge(project, {}, [])).toEqual({ linkedBy: kept });
    expect(merge(project, { sessionIds: [A] }, [])).toEqual({ sessionIds: [A], linkedBy: kept });
    expect(merge(project, { fileIds: [] }, [], 'ada')).toEqual({ fileIds: [], linkedBy: { [A]: 'alan' } });
  });

  it.each([
    ['session_ids', 'sessionIds'],
    ['file_ids', 'fileIds'],
  ])('refuses more than the maximum of %s', (name, field) => {
    const most = Array.from({ length: MAX_MEMBERS }, (_, at) => toId(at + 100));
    expect(merge({}, { [field]: most }, most, 'ada')).toMatchObject({ [field]: most });
    const wanted = [A, ...most];
    expect(() => merge({}, { [field]: wanted }, wanted, 'ada')).toThrow(
      `${name}: the project has the maximum`,
    );
  });
});

describe('the project of a session', () => {
  it('follows the list of the project, on the sessions of its owner only', async () => {
    const { store, read, getProject } = await setUp(
      [{ id: A }, { id: B, projectId: P }, { id: C, projectId: 'another' }, { id: D, ownerId: 'grace' }],
      { sessionIds: [B, C] },
    );
    const after = await updateMembers(store, await getProject(), { sessionIds: [A, D] }, { ownerId: 'ada' });
    expect(after).toEqual(await getProject());
    expect(await read()).toEqual({ [A]: P, [B]: undefined, [C]: 'another', [D]: undefined });
    expect(
      await updateMembers(store, await getProject(), { sessionIds: [] }, { ownerId: 'x' }),
    ).toBeUndefined();
    expect((await getProject()).sessionIds).toEqual([A, D]);
    expect((await read())[A]).toBe(P);
  });

  it('is not written again on sessions that stay', async () => {
    const { store, read, getProject } = await setUp([{ id: A }, { id: B }], { sessionIds: [A] });
    await updateMembers(store, await getProject(), { sessionIds: [A, B] }, {});
    expect(await read()).toEqual({ [A]: undefined, [B]: P });
    await showInSessions(store, await getProject());
    expect(await read()).toEqual({ [A]: P, [B]: P });
  });

  it('stays on sessions that stay, and on removed ones of other users', async () => {
    const { store, read, getProject } = await setUp(
      [
        { id: A, projectId: P },
        { id: B, projectId: P, ownerId: 'grace' },
      ],
      { sessionIds: [A, B] },
    );
    await updateMembers(store, await getProject(), { sessionIds: [A] }, {});
    expect(await read()).toEqual({ [A]: P, [B]: P });
  });

  it('ends with the project', async () => {
    const { store, read, getProject } = await setUp([
      { id: A, projectId: P },
      { id: B, projectId: 'another' },
      { id: C, projectId: P, ownerId: 'grace' },
    ]);
    await hideInSessions(store, await getProject());
    expect(await read()).toEqual({ [A]: undefined, [B]: 'another', [C]: P });
  });

  it('stays when another project got the session meanwhile', async () => {
    const { store, read, getProject } = await setUp([{ id: A, projectId: P }]);
    const moving: Store = {
      ...store,
      collection(definition) {
        const collection = store.collection(definition);
        return {
          ...collection,
          async find(...given) {
            const found = await collection.find(...given);
            await store.collection(SESSIONS).update(A, { projectId: 'another' });
            return found;
          },
        };
      },
    };
    await hideInSessions(moving, await getProject());
    expect(await read()).toEqual({ [A]: 'another' });
  });
});

describe('files of a project', () => {
  const full = Array.from({ length: MAX_MEMBERS }, (_, at) => toId(at + 100));

  it('fit in up to the maximum', async () => {
    const { store } = await setUp([], { fileIds: full.slice(2) });
    const fits = (files: number, projectId = P, ownerId = 'ada') =>
      hasRoom(store, { ownerId, projectId }, files);
    expect([await fits(2), await fits(3)]).toEqual([true, false]);
    for (const refused of [fits(0, toId(2)), fits(0, 'no id'), fits(0, P, 'grace')])
      expect(await refused).toBe(false);
  });

  it('are added once, while there is room and the project exists', async () => {
    const { store, getProject } = await setUp([], { fileIds: [A] });
    const add = (fileIds: readonly string[], projectId = P, ownerId = 'ada') =>
      addFiles(store, { ownerId, projectId }, fileIds);
    await add([B, A, B]);
    expect((await getProject()).fileIds).toEqual([A, B]);
    await add([C], P, 'grace');
    await add([C], toId(2));
    expect((await getProject()).fileIds).toEqual([A, B]);
    await add(full);
    expect((await getProject()).fileIds).toEqual([A, B, ...full.slice(0, MAX_MEMBERS - 2)]);
  });

  it.each(['sessionIds', 'fileIds'] as const)(
    'and sessions leave the %s of all projects when they are deleted',
    async (field) => {
      const { store, getProject } = await setUp([], { sessionIds: [A, B], fileIds: [A, B] });
      await store.collection(PROJECTS).insert({ ...PROJECT, id: toId(2), [field]: [A] });
      await removeFromProjects(store, field, A);
      expect(await getProject()).toMatchObject({ sessionIds: [A, B], fileIds: [A, B], [field]: [B] });
      expect((await getProject(toId(2)))[field]).toEqual([]);
    },
  );
});
