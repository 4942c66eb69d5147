import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import { defineCollection, type StoredRecord } from '../ports/store.ts';
import { ADMIN_SETTINGS, createAdminSettingsReader, DEFAULT_ADMIN_SETTINGS } from './admin-settings.ts';
import { createDeletionCleanup, type DeletionHooks } from './deletion.ts';
import { findNumberedPage, findPage } from './find-page.ts';
import { findAll, findAny } from './personal-data.ts';

interface Thing extends StoredRecord {
  readonly size: number;
}

const THINGS = defineCollection<Thing>({
  name: 'things',
  columns: { size: 'integer' },
  unique: [],
  indexes: [['size']],
});

/** Things of the sizes 0 to `count - 1`. */
async function setUp(count: number) {
  const store = createMemoryStore();
  const things = store.collection(THINGS);
  for (let size = 0; size < count; size += 1) await things.insert({ id: `${1000 + size}`, size });
  return { store, things };
}

describe('a cursor list', () => {
  const order = { field: 'size', direction: 'desc' } as const;

  it('has a next page while there are more records', async () => {
    const { things } = await setUp(5);
    const limits: unknown[] = [];
    const watched: typeof things = {
      ...things,
      find(filter, options) {
        limits.push(options?.limit);
        return things.find(filter, options);
      },
    };
    const read = (cursor: string | null | undefined, owner = 'ada', list = 'things') =>
      findPage(
        watched,
        { size: { gt: 0 } },
        { list, owner, order, query: { limit: 2, ...(cursor && { cursor }) } },
        ({ size }) => size,
      );
    const first = await read(undefined);
    expect(first.data).toEqual([4, 3]);
    expect(await read(first.next_cursor)).toEqual({ data: [2, 1], next_cursor: null });
    expect(limits).toEqual([3, 3]);
    await expect(read(first.next_cursor, 'bob')).rejects.toMatchObject({ status: 422 });
    await expect(read(first.next_cursor, 'ada', 'others')).rejects.toMatchObject({ status: 422 });
  });

  it('with numbers has the total of all records', async () => {
    const { things } = await setUp(5);
    const page = { page: 2, limit: 2 };
    const { rows, pagination } = await findNumberedPage(things, { size: { gt: 0 } }, page, order);
    expect(rows.map(({ size }) => size)).toEqual([2, 1]);
    expect(pagination).toMatchObject({ page: 2, limit: 2, total: 4, hasNext: false, hasPrev: true });
    const counted = await findNumberedPage(things, {}, { ...page, page: 1 }, order, async () => 100);
    expect(counted.pagination).toMatchObject({ total: 100, pages: 50 });
    expect(counted.rows.map(({ size }) => size)).toEqual([4, 3]);
  });
});

it.each([0, 1, 199, 200, 201, 400])(
  'reads %i records page by page, while they are deleted',
  async (count) => {
    const { store, things } = await setUp(count + 1);
    const limits: unknown[] = [];
    const watched = {
      ...store,
      collection: () => ({
        ...things,
        find: (...given: Parameters<typeof things.find>) => {
          limits.push(given[1]?.limit);
          return things.find(...given);
        },
      }),
    };
    const all: number[] = [];
    for await (const { size } of findAll<Thing>(store, THINGS, { size: { lt: count } })) {
      if (all.push(size) > count) break;
    }
    expect(all).toEqual(Array.from({ length: count }, (_, at) => at));
    const sizes: number[] = [];
    for await (const { id, size } of findAll<Thing>(watched as never, THINGS, { size: { lt: count } })) {
      sizes.push(size);
      await things.take(id);
    }
    expect(sizes).toEqual(Array.from({ length: count }, (_, at) => at));
    expect(limits).toEqual(Array(Math.floor(count / 200) + 1).fill(200));
    const left: unknown[] = [];
    for await (const record of findAny(store, THINGS, {})) left.push(record);
    expect(left).toEqual([{ id: `${1000 + count}`, size: count }]);
  },
);

describe('admin settings', () => {
  it('are the defaults of the service and of the host, and what was changed', async () => {
    const store = createMemoryStore();
    const clock = createFakeClock();
    const reader = createAdminSettingsReader({ store, clock, defaults: { MaxAgentsPerUser: 7 } });
    await store.collection(ADMIN_SETTINGS).insert({ id: 'removed', value: 1 });
    expect(await reader.current()).toEqual({ ...DEFAULT_ADMIN_SETTINGS, MaxAgentsPerUser: 7 });
    await reader.set('MaxAgentsPerUser', 8);
    expect(await reader.current()).toMatchObject({ MaxAgentsPerUser: 8 });
    await reader.set('MaxAgentsPerUser', 9);
    expect(await reader.current()).toEqual({ ...DEFAULT_ADMIN_SETTINGS, MaxAgentsPerUser: 9 });
  });

  it('are read once in two seconds', async () => {
    const store = createMemoryStore();
    const clock = createFakeClock();
    const records = store.collection(ADMIN_SETTINGS);
    let reads = 0;
    const watched = {
      ...records,
      find() {
        reads += 1;
        return records.find({});
      },
    };
    const counting = { ...store, collection: () => watched as never };
    const reader = createAdminSettingsReader({ store: counting, clock, defaults: {} });
    await Promise.all([reader.current(), reader.current()]);
    expect([reads, reader.current() instanceof Promise]).toEqual([1, false]);
    await records.insert({ id: 'MaxAgentsPerUser', value: 1 });
    await clock.advance(1999);
    expect(reader.current()).toMatchObject({ MaxAgentsPerUser: 100 });
    await clock.advance(1);
    expect(reader.current()).toBeInstanceOf(Promise);
    expect([await reader.current(), reads]).toMatchObject([{ MaxAgentsPerUser: 1 }, 2]);
  });

  it('are read again after a failure, and written through the store of the acting user', async () => {
    const store = createMemoryStore();
    const records = { ...store.collection(ADMIN_SETTINGS), find: () => Promise.reject(new Error('away')) };
    const clock = createFakeClock();
    const away = createAdminSettingsReader({
      ...{ clock, defaults: {} },
      store: { ...store, collection: () => records as never },
    });
    await expect(away.current()).rejects.toThrow('away');
    records.find = (async () => []) as never;
    expect(await away.current()).toEqual(DEFAULT_ADMIN_SETTINGS);
    const acting = createMemoryStore();
    await away.set('EnableAgents', false, acting);
    expect(await acting.collection(ADMIN_SETTINGS).find({})).toEqual([{ id: 'EnableAgents', value: false }]);
    expect(await store.collection(ADMIN_SETTINGS).count({})).toBe(0);
  });

  it('report a store that does not write', async () => {
    const store = createMemoryStore();
    const refuse = () => Promise.reject(new Error('away'));
    const records = { ...store.collection(ADMIN_SETTINGS), insert: async () => false, update: refuse };
    const reader = createAdminSettingsReader({
      ...{ clock: createFakeClock(), defaults: {} },
      store: { ...store, collection: () => records as never },
    });
    await expect(reader.set('EnableAgents', false)).rejects.toThrow('away');
  });
});

describe('the clean-up after a deletion', () => {
  const services = {} as never;
  const kinds = [
    'artifact',
    'conversation',
    'dataLake',
    'file',
    'organization',
    'project',
    'session',
  ] as const;

  it.each(kinds)('of a %s runs the hooks of all features in sequence', async (kind) => {
    const calls: unknown[] = [];
    const toHook = (name: string) => async (given: unknown, id: string) => {
      calls.push(`begin ${name}`);
      await Promise.resolve();
      calls.push([name, given === services, id]);
    };
    const cleanup = createDeletionCleanup(services, [{ [kind]: toHook('a') }, {}, { [kind]: toHook('b') }]);
    await cleanup[kind]('id');
    expect(calls).toEqual(['begin a', ['a', true, 'id'], 'begin b', ['b', true, 'id']]);
    calls.length = 0;
    for (const other of kinds) if (other !== kind) await cleanup[other]('id');
    await cleanup.quests(['id']);
    expect(calls).toEqual([]);
  });

  it('of quests passes all ids', async () => {
    const calls: unknown[] = [];
    const quests = async (_services: unknown, ids: readonly string[]) => void calls.push(ids);
    const failing = () => Promise.reject(new Error('away'));
    await createDeletionCleanup(services, [{}, { quests }, { quests }]).quests(['a', 'b']);
    expect(calls).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    await expect(createDeletionCleanup(services, [{ quests: failing }]).quests([])).rejects.toThrow('away');
  });

  it('of a session has writes if each feature that cleans up has them', () => {
    const session = async (): Promise<void> => undefined;
    const toHooks = (name: string): DeletionHooks => ({
      session,
      toSessionWrites: (id) => [`${name} ${id}`] as never,
    });
    const list = (...hooks: DeletionHooks[]) => createDeletionCleanup(services, hooks).toSessionWrites('s');
    expect(list(toHooks('a'), {}, toHooks('b'))).toEqual(['a s', 'b s']);
    expect(list({})).toEqual([]);
    expect(list({ session })).toBeUndefined();
    expect(list(toHooks('a'), { session })).toBeUndefined();
  });
});
