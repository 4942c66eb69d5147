import { createMemoryPorts } from '@questline/core/memory';
import type { CollectionDefinition, ColumnType, StoredRecord } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createCache, createShardDirectory } from '../src/shards/directory.ts';
import { createShardNodes, type ShardNode } from '../src/shards/nodes.ts';
import { findRecordOwner } from '../src/shards/ownership.ts';
import { createSeenOver, createShardRouter, LIKELY, type Places, toSeenKey } from '../src/shards/router.ts';

type Definition = CollectionDefinition<StoredRecord>;

const define = (name: string, columns: Readonly<Record<string, ColumnType>> = {}) =>
  ({ name, columns, unique: [], indexes: [] }) as unknown as Definition;

const SESSIONS = define('sessions', { ownerId: 'text', userId: 'text' });
const QUESTS = define('quests', { sessionId: 'text', ownerId: 'text' });
const TEXTS = define('quest_texts', { questId: 'text' });
const PLACES = define('enrichment_places');
const USAGE = define('storage_usage');
const USERS = define('users', { ownerId: 'text' });
const BY_USER = define('host_notes', { userId: 'text', ownerId: 'integer' });
const PLAIN = define('host_plain', { title: 'text' });
const CUSTOM = define('host_custom', { holder: 'text' });
const PLACEMENTS = { host_custom: { by: 'owner', field: 'holder' } } as const;

/** Owners `oa` and `ob` on the shards `a` and `b`, with the home database besides. */
async function setUp() {
  const open = () => createMemoryPorts();
  const home = open();
  const nodes = createShardNodes(home, { a: open(), b: open() });
  const directory = createShardDirectory({
    store: home.store,
    shards: ['a', 'b'],
    choose: (owner) => owner.slice(1, 2),
  });
  for (const owner of ['oa', 'ob']) await directory.place(owner);
  const reads: string[] = [];
  const read = (node: ShardNode, definition: Definition) => {
    reads.push(`${node.name} ${definition.name}`);
    return node.store.collection(definition);
  };
  const router = createShardRouter(nodes, { directory, read }, PLACEMENTS);
  for (const one of [SESSIONS, QUESTS]) router.know(one);
  const insert = (node: string, definition: Definition, record: StoredRecord & Record<string, unknown>) =>
    nodes.get(node).store.collection(definition).insert(record);
  return { nodes, router, seen: createCache<string>(100), insert, reads };
}

const toNames = ({ first, others }: Places) => [first?.name, others.map(({ name }) => name)];
const record = (fields: object) => ({ id: 'x', ...fields }) as StoredRecord;

describe('the databases where a record can be', () => {
  it.each<[string, Definition, string, object | undefined, unknown]>([
    ['at home', USERS, 'x', { ownerId: 'oa' }, ['home', []]],
    ['by its id', USAGE, 'oa:files', undefined, ['a', []]],
    ['by its id, alone', USAGE, 'ob', undefined, ['b', []]],
    ['by its id, at home', USAGE, 'oa:lakes', undefined, ['home', []]],
    ['by the id of an unknown owner', USAGE, 'oc:files', undefined, ['home', []]],
    ['by its owner', SESSIONS, 'x', { ownerId: 'oa' }, ['a', []]],
    ['by an unknown owner', SESSIONS, 'x', { ownerId: 'oc' }, ['home', []]],
    ['by the field of the host', CUSTOM, 'x', { holder: 'ob' }, ['b', []]],
    ['by the user', BY_USER, 'x', { userId: 'ob' }, ['b', []]],
    ['of no owner', SESSIONS, 'x', { ownerId: { in: ['oa'] } }, [undefined, ['a', 'b', 'home']]],
    ['without a guard', SESSIONS, 'x', undefined, [undefined, ['a', 'b', 'home']]],
    ['of one of two', SESSIONS, 'x', { anyOf: [{ userId: 'oa' }, { ownerId: 'ob' }] }, ['b', ['a', 'home']]],
    ['of neither', SESSIONS, 'x', { anyOf: [{ userId: 'oa' }] }, [undefined, ['a', 'b', 'home']]],
    ['of a parent or an owner', QUESTS, 'x', { ownerId: 'ob' }, ['b', ['a', 'home']]],
    ['of a parent', TEXTS, 'x', { questId: 'q' }, [undefined, ['a', 'b', 'home']]],
    ['of a step', PLAIN, 'x', { title: 'oa' }, [undefined, ['a', 'b', 'home']]],
  ])('%s', async (_, definition, id, guard, expected) => {
    const { router, seen } = await setUp();
    expect(toNames(await router.forId(definition, id, guard as never, seen))).toEqual(expected);
  });

  it('begin with the one where it was seen, then its parent, then a guess', async () => {
    const { router, seen } = await setUp();
    const places = async (definition: Definition, id: string, guard?: object) =>
      toNames(await router.forId(definition, id, guard as never, seen));
    seen.set(toSeenKey(`${LIKELY}quests`, 'q'), 'home');
    expect(await places(QUESTS, 'q', { sessionId: 's' })).toEqual(['home', ['a', 'b']]);
    seen.set(toSeenKey('sessions', 's'), 'b');
    expect(await places(QUESTS, 'q', { sessionId: 's' })).toEqual(['b', ['a', 'home']]);
    expect(await places(QUESTS, 'q', { sessionId: 'other' })).toEqual(['home', ['a', 'b']]);
    expect(await places(QUESTS, 'q')).toEqual(['home', ['a', 'b']]);
    expect(await places(PLACES, 's')).toEqual(['b', ['a', 'home']]);
    seen.set(toSeenKey('quests', 'q'), 'a');
    expect(await places(QUESTS, 'q', { sessionId: 's' })).toEqual(['a', ['b', 'home']]);
    expect(await places(SESSIONS, 's', { ownerId: 'oa' })).toEqual(['a', []]);
    expect(await places(SESSIONS, 's')).toEqual(['b', ['a', 'home']]);
  });
});

describe('the databases where matching records can be', () => {
  const ALL = ['a', 'b', 'home'];
  it.each<[string, Definition, object, readonly string[]]>([
    ['at home', USERS, { ownerId: 'oa' }, ['home']],
    ['of an owner', SESSIONS, { ownerId: 'ob' }, ['b']],
    ['of an unknown owner', SESSIONS, { ownerId: 'oc' }, ['home']],
    ['of several owners', SESSIONS, { ownerId: { in: ['oa'] } }, ALL],
    ['of a parent', QUESTS, { sessionId: 's' }, ['b']],
    ['of an unknown parent', QUESTS, { sessionId: 'no' }, ALL],
    ['of any parent', QUESTS, {}, ALL],
    ['with a known id', TEXTS, { id: 't' }, ['a']],
    ['with an unknown id', TEXTS, { id: 'no' }, ALL],
    ['of a step', PLAIN, { title: 'oa' }, ALL],
    ['by their ids', USAGE, { id: 'oa' }, ALL],
  ])('%s', async (_, definition, filter, expected) => {
    const { router, seen, insert } = await setUp();
    await insert('b', SESSIONS, { id: 's', ownerId: 'ob' });
    seen.set(toSeenKey('quest_texts', 't'), 'a');
    const nodes = await router.forFilter(definition, filter as never, seen);
    expect(nodes.map(({ name }) => name)).toEqual(expected);
  });
});

describe('the database of a new record', () => {
  it.each<[string, Definition, object, string | undefined]>([
    ['at home', USERS, { ownerId: 'oa' }, 'home'],
    ['by its id', USAGE, { id: 'ob:files' }, 'b'],
    ['by its id, at home', USAGE, { id: 'ob:lakes' }, 'home'],
    ['by the id of a new owner', USAGE, { id: 'oa2:files' }, 'a'],
    ['of an owner', SESSIONS, { ownerId: 'ob', userId: 'oa' }, 'b'],
    ['of a new owner', SESSIONS, { ownerId: 'ob2' }, 'b'],
    ['of no owner', SESSIONS, { ownerId: 5 }, undefined],
    ['of a parent', QUESTS, { sessionId: 's', ownerId: 'oa' }, 'b'],
    ['of an unknown parent', QUESTS, { sessionId: 'no', ownerId: 'oa' }, 'a'],
    ['of no parent', QUESTS, { ownerId: 'oa' }, 'a'],
    ['of no parent and no owner', QUESTS, {}, undefined],
    ['of an unknown parent without an owner', TEXTS, { questId: 'no', ownerId: 'oa' }, undefined],
    ['of a step', PLAIN, { ownerId: 'oa' }, undefined],
  ])('%s', async (_, definition, fields, expected) => {
    const { router, seen, insert } = await setUp();
    await insert('b', SESSIONS, { id: 's', ownerId: 'ob' });
    expect((await router.forInsert(definition, record(fields), seen))?.name).toBe(expected);
  });
});

describe('the database of a parent', () => {
  it('is that where it was seen, or found by its known collections, once', async () => {
    const { router, seen, insert, reads } = await setUp();
    await insert('b', QUESTS, { id: 'q' });
    const find = async (of: readonly string[], id = 'q') => (await router.findParent(of, id, seen))?.name;
    expect(await find(['unknown'])).toBeUndefined();
    expect(reads).toEqual([]);
    expect(await find(['unknown', 'sessions', 'quests'])).toBe('b');
    expect(reads).toEqual(
      [SESSIONS, QUESTS].flatMap(({ name }) => ['a', 'b', 'home'].map((at) => `${at} ${name}`)),
    );
    reads.splice(0);
    expect(await find(['sessions', 'quests'])).toBe('b');
    expect(reads).toEqual([]);
    seen.set(toSeenKey('sessions', 'q'), 'a');
    expect(await find(['quests', 'sessions'])).toBe('b');
    expect(await find(['sessions', 'quests'])).toBe('a');
    expect(await find(['sessions', 'quests'], 'other')).toBeUndefined();
  });
});

it('has a field of the owner only for what is placed by it', async () => {
  const { router } = await setUp();
  const fields = [SESSIONS, BY_USER, CUSTOM, QUESTS, USAGE, USERS, PLAIN].map(router.getOwnerField);
  expect(fields).toEqual(['ownerId', 'userId', 'holder', undefined, undefined, undefined, undefined]);
});

it('reads within a transaction by its access, with the same definitions and places', async () => {
  const { router, nodes, seen, insert, reads } = await setUp();
  await insert('b', QUESTS, { id: 'q' });
  const within = router.within({
    directory: { find: async () => 'b', place: async () => 'b' },
    read: (node, definition) => node.store.collection(definition),
  });
  expect(await within.forOwner('oa')).toBe(nodes.get('b'));
  expect((await within.findParent(['quests'], 'q', seen))?.name).toBe('b');
  expect(within.getOwnerField(CUSTOM)).toBe('holder');
  expect(reads).toEqual([]);
});

it('keeps places of a step only when it is committed', () => {
  const below = createCache<string>(10);
  below.set('known', 'a');
  const { seen, keep } = createSeenOver(below);
  seen.set('known', 'b');
  seen.set('new', 'b');
  expect(['known', 'new', 'other'].map((key) => seen.get(key))).toEqual(['b', 'b', undefined]);
  expect(['known', 'new'].map((key) => below.get(key))).toEqual(['a', undefined]);
  expect(createSeenOver(below).seen.get('known')).toBe('a');
  keep();
  expect(['known', 'new'].map((key) => below.get(key))).toEqual(['b', 'b']);
});

describe('the owner of a record', () => {
  it.each<[string, Definition, object, string | undefined]>([
    ['of the home database', USERS, { ownerId: 'oa' }, undefined],
    ['of a step', PLAIN, { ownerId: 'oa' }, undefined],
    ['with an owner', SESSIONS, { ownerId: 'oa' }, 'oa'],
    ['with no text as its owner', SESSIONS, { ownerId: 5 }, undefined],
    ['by its id', USAGE, { id: 'oa:files:more' }, 'oa'],
    ['by its id, at home', USAGE, { id: 'oa:lakes' }, undefined],
    ['by its id with more than that of one at home', USAGE, { id: 'oa:lakes:more' }, 'oa'],
    ['of a parent', QUESTS, { sessionId: 's', ownerId: 'oa' }, 'ob'],
    ['of a parent of a parent', TEXTS, { questId: 'q' }, 'ob'],
    ['of an unknown parent', QUESTS, { sessionId: 'no', ownerId: 'oa' }, 'oa'],
    ['of an unknown parent without an owner', TEXTS, { questId: 'no', ownerId: 'oa' }, undefined],
    ['of no parent', TEXTS, {}, undefined],
    ['of an unknown collection', define('sharing_invites'), { resourceId: 's' }, 'ob'],
    ['by the field of the host', CUSTOM, { holder: 'oa' }, 'oa'],
  ])('%s', async (_, definition, fields, expected) => {
    const { nodes, insert } = await setUp();
    await insert('b', SESSIONS, { id: 's', ownerId: 'ob' });
    await insert('b', QUESTS, { id: 'q', sessionId: 's', ownerId: 'oa' });
    const definitions = new Map([SESSIONS, QUESTS].map((one) => [one.name, one]));
    const reads = {
      getDefinition: (name: string) => definitions.get(name),
      read: (one: Definition) => nodes.get('b').store.collection(one),
      placements: PLACEMENTS,
    };
    expect(await findRecordOwner(definition, record(fields), reads)).toBe(expected);
  });
});
