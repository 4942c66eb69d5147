import { createMemoryStore } from '@questline/core/memory';
import { type CollectionDefinition, defineCollection, type StoredRecord } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import {
  deleteOwnedRecords,
  findOwnedRecords,
  insertMissing,
  type OwnedPage,
} from '../src/shards/owned-records.ts';
import type { Placement } from '../src/shards/placement.ts';

interface Novel extends StoredRecord {
  readonly ownerId?: string;
  readonly shelf?: string;
}
interface Page extends StoredRecord {
  readonly novelId?: string;
  readonly writerId?: string;
}

const NOVELS = defineCollection<Novel>({
  name: 'novels',
  columns: { ownerId: 'text', shelf: 'text' },
  unique: [['shelf']],
  indexes: [],
}) as unknown as CollectionDefinition<StoredRecord>;
const PAGES = defineCollection<Page>({
  name: 'pages',
  columns: { novelId: 'text', writerId: 'text' },
  unique: [],
  indexes: [],
}) as unknown as CollectionDefinition<StoredRecord>;
const PLACEMENTS: Readonly<Record<string, Placement>> = {
  pages: { by: 'parent', field: 'novelId', of: ['novels'], orOwner: 'writerId' },
};

async function setUp(novels: readonly Novel[], pages: readonly Page[] = []) {
  const store = createMemoryStore();
  for (const novel of novels) await store.collection(NOVELS).insert(novel);
  for (const page of pages) await store.collection(PAGES).insert(page);
  return store;
}

/** The ids that are found, in their order. */
async function find(
  store: ReturnType<typeof createMemoryStore>,
  placements: Readonly<Record<string, Placement>> = PLACEMENTS,
  collections = [PAGES, NOVELS],
) {
  const found: string[] = [];
  for await (const page of findOwnedRecords(store, 'ada', collections, placements)) {
    expect(page.records.length).toBeGreaterThan(0);
    found.push(...page.records.map(({ id }) => `${page.definition.name} ${id}`));
  }
  return found;
}

const list = <T>(count: number, make: (id: string) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(String(at).padStart(4, '0')));

describe('the records of an owner that moves', () => {
  it('are found page by page, parents before their parts, each once', async () => {
    const store = await setUp(
      [...list(501, (id) => ({ id, ownerId: 'ada' })), { id: 'x', ownerId: 'eve' }],
      [...list(501, (id) => ({ id, novelId: id, writerId: 'ada' })), { id: 'x', novelId: 'x' }],
    );
    expect(await find(store)).toEqual([
      ...list(501, (id) => `novels ${id}`),
      ...list(501, (id) => `pages ${id}`),
    ]);
  });

  it('are with their parents, or with their owner if they have none there', async () => {
    const pages = [
      { id: 'by eve', novelId: 'of ada', writerId: 'eve' },
      { id: 'of eve', novelId: 'of eve', writerId: 'ada' },
      { id: 'elsewhere', novelId: 'gone', writerId: 'ada' },
      { id: 'without', writerId: 'ada' },
      { id: 'not hers', novelId: 'gone', writerId: 'eve' },
    ];
    const novels = [
      { id: 'of ada', ownerId: 'ada' },
      { id: 'of eve', ownerId: 'eve' },
    ];
    const store = await setUp(novels, pages);
    expect(await find(store)).toEqual([
      ...['novels of ada', 'pages by eve', 'pages elsewhere', 'pages without'],
    ]);
    const byNovel: Placement = { by: 'parent', field: 'novelId', of: ['novels', 'others'] };
    expect(await find(store, { pages: byNovel })).toEqual(['novels of ada', 'pages by eve']);
    expect(await find(store, { pages: byNovel }, [PAGES])).toEqual([]);
    expect(await find(store, { pages: { by: 'home' }, novels: { by: 'step' } })).toEqual([]);
  });

  it('are found by ids that begin with that of the owner', async () => {
    const ids = ['ada', 'ada:1', 'ada:lakes', 'ada2', 'ada;', 'ad', 'eve:ada'];
    const store = await setUp(ids.map((id) => ({ id })));
    const novels: Placement = { by: 'id', atHome: ['lakes'] };
    expect(await find(store, { novels }, [NOVELS])).toEqual(['novels ada', 'novels ada:1']);
  });

  it('are not found if collections are their own parents', async () => {
    const novels: Placement = { by: 'parent', field: 'shelf', of: ['pages'] };
    const store = await setUp([]);
    await expect(find(store, { ...PLACEMENTS, novels })).rejects.toThrow('collections are their own parents');
  });

  it('are inserted where they are missing', async () => {
    const store = await setUp([{ id: '0060', shelf: 'there' }]);
    const records = list(120, (id) => ({ id, ownerId: 'ada' }));
    await insertMissing(store, { definition: NOVELS, records });
    expect(await store.collection(NOVELS).count({})).toBe(120);
    expect(await store.collection(NOVELS).get('0060')).toEqual({ id: '0060', shelf: 'there' });
  });

  it('are not inserted if another record has a unique value of one of them', async () => {
    const store = await setUp([{ id: 'other', shelf: 'one' }]);
    const inserted = insertMissing(store, {
      definition: NOVELS,
      records: [{ id: 'x', shelf: 'one' } as Novel],
    });
    await expect(inserted).rejects.toThrow('another record of novels in the target has a unique value of x');
  });

  it('are deleted after all were found, parts before their parents, if the move is still its own', async () => {
    const store = await setUp([{ id: 'novel' }, { id: 'kept' }], [{ id: 'page' }]);
    const steps: string[] = [];
    const pages = async function* (): AsyncGenerator<OwnedPage> {
      yield { definition: NOVELS, records: [{ id: 'novel' }] };
      yield { definition: PAGES, records: [{ id: 'page' }] };
      steps.push(`found ${await store.collection(PAGES).count({})}`);
    };
    await deleteOwnedRecords(store, pages(), async () => {
      steps.push(`${await store.collection(PAGES).count({})} ${await store.collection(NOVELS).count({})}`);
    });
    expect(steps).toEqual(['found 1', '1 2', '0 2']);
    expect(await store.collection(NOVELS).find({})).toEqual([{ id: 'kept' }]);
    const stop = new Error('taken over');
    await expect(deleteOwnedRecords(store, pages(), () => Promise.reject(stop))).rejects.toBe(stop);
  });
});
