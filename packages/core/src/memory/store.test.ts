import { createRandom, type Random } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { defineCollection, type Filter, type FindOptions, type StoredRecord } from '../ports/store.ts';
import { createMemoryStore } from './store.ts';

interface Item extends StoredRecord {
  readonly owner: string;
  readonly state?: string | null;
  readonly at: number;
  readonly tags: readonly string[];
  readonly code: string;
}

const items = defineCollection<Item>({
  name: 'items',
  secretFields: { code: false },
  columns: { owner: 'text', state: 'text', at: 'integer', tags: 'list', code: 'text' },
  unique: [['code']],
  indexes: [['owner', 'at'], ['owner', 'state', 'at'], ['tags', 'at'], ['state']],
});

const OWNERS = ['a', 'b', 'c'];
const STATES = ['new', 'old', null, undefined];
const TAGS = ['x', 'y', 'z'];

function makeItem(random: Random, number: number): Item {
  const state = random.pick(STATES);
  return {
    id: number.toString(16).padStart(24, '0'),
    owner: random.pick(OWNERS),
    ...(state !== undefined && { state }),
    at: random.below(50),
    tags: TAGS.filter(() => random.chance(0.4)),
    code: `c${number}`,
  };
}

function makeFilter(random: Random, depth = 0): Filter<Item> {
  const from = random.below(50);
  return {
    ...(random.chance(0.5) && { owner: random.pick([...OWNERS, { in: ['a', 'c'] }, { not: 'b' }]) }),
    ...(random.chance(0.4) && { state: random.pick(['new', null, { not: 'new' }, { not: null }]) }),
    ...(random.chance(0.4) && {
      at: random.pick([
        from,
        { gte: from },
        { lt: from },
        { gt: from, lte: from + 20 },
        { in: [from, 3, 4] },
      ]),
    }),
    ...(random.chance(0.3) && { tags: { has: random.pick(TAGS) } }),
    ...(random.chance(0.1) && { code: `c${random.below(400)}` }),
    ...(depth === 0 &&
      random.chance(0.3) && { anyOf: [makeFilter(random, 1), makeFilter(random, 1)].slice(random.below(3)) }),
  };
}

function toOptions(random: Random): FindOptions<Item> {
  return {
    ...(random.chance(0.7) && {
      order: {
        field: random.pick(['at', 'id', 'owner'] as const),
        direction: random.pick(['asc', 'desc'] as const),
      },
    }),
    ...(random.chance(0.5) && { limit: 1 + random.below(30) }),
    ...(random.chance(0.4) && { offset: random.below(40) }),
  };
}

/** Scans every record: slow, but simple enough to be the reference. */
function scan(all: readonly Item[], filter: Filter<Item>, options: FindOptions<Item>): Item[] {
  const { order = { field: 'id', direction: 'asc' }, offset = 0, limit = 1000 } = options;
  const sign = order.direction === 'asc' ? 1 : -1;
  const compare = (a: Item, b: Item) => {
    const [left, right] = [a[order.field] as string | number, b[order.field] as string | number];
    if (left !== right) return left < right ? -sign : sign;
    return a.id < b.id ? -sign : sign;
  };
  return all
    .filter((item) => isMatch(item, filter))
    .sort(compare)
    .slice(offset, offset + limit);
}

function isMatch(item: Item, { anyOf, ...conditions }: Filter<Item>): boolean {
  for (const [field, wanted] of Object.entries(conditions)) {
    const value = (item as unknown as Record<string, unknown>)[field] ?? null;
    const condition = wanted as Record<string, unknown> | string | number | null;
    if (condition === null || typeof condition !== 'object') {
      if (value !== condition) return false;
    } else if ('in' in condition) {
      if (!(condition.in as unknown[]).includes(value)) return false;
    } else if ('not' in condition) {
      if (value === condition.not) return false;
    } else if ('has' in condition) {
      if (!(value as unknown[]).includes(condition.has)) return false;
    } else {
      const number = value as number;
      if (condition.lt !== undefined && !(number < Number(condition.lt))) return false;
      if (condition.lte !== undefined && !(number <= Number(condition.lte))) return false;
      if (condition.gt !== undefined && !(number > Number(condition.gt))) return false;
      if (condition.gte !== undefined && !(number >= Number(condition.gte))) return false;
    }
  }
  return anyOf === undefined || anyOf.some((alternative) => isMatch(item, alternative));
}

describe('memory store', () => {
  it('finds the same records by its indexes as by a full scan, also inside transactions', async () => {
    for (let seed = 1; seed <= 4; seed += 1) {
      const random = createRandom(seed);
      const store = createMemoryStore();
      const all = new Map<string, Item>();
      const put = async (collection: ReturnType<typeof store.collection<Item>>, item: Item) => {
        if (all.has(item.id)) await collection.take(item.id);
        all.set(item.id, item);
        expect(await collection.insert(item)).toBe(true);
      };
      for (let number = 0; number < 400; number += 1)
        await put(store.collection(items), makeItem(random, number));

      const look = async (collection: ReturnType<typeof store.collection<Item>>) => {
        const filter = makeFilter(random);
        const options = toOptions(random);
        const wanted = scan([...all.values()], filter, options);
        const found = await collection.find(filter, options);
        const asked = `seed ${seed}: ${JSON.stringify({ filter, options })}`;
        expect(found, asked).toEqual(wanted);
        expect(await collection.count(filter), asked).toBe(
          [...all.values()].filter((item) => isMatch(item, filter)).length,
        );
        const last = found.at(-1);
        if (last === undefined || options.offset !== undefined) return;
        const after = { value: last[options.order?.field ?? 'id'] as string | number, id: last.id };
        const rest = scan([...all.values()], filter, { ...options, limit: 1000 }).slice(found.length);
        expect(await collection.find(filter, { ...options, after }), asked).toEqual(
          rest.slice(0, options.limit ?? 1000),
        );
      };

      for (let step = 0; step < 300; step += 1) {
        await put(store.collection(items), makeItem(random, random.below(400)));
        await look(store.collection(items));
      }
      await store.transaction(async (inside) => {
        for (let step = 0; step < 100; step += 1) {
          if (random.chance(0.5)) await put(inside.collection(items), makeItem(random, random.below(420)));
          await look(inside.collection(items));
        }
      });
      for (let step = 0; step < 50; step += 1) await look(store.collection(items));
    }
  });

  it('keeps long lists in order while records are added and removed', async () => {
    const random = createRandom(3);
    const collection = createMemoryStore().collection(items);
    const kept = new Set<string>();
    for (let step = 0; step < 12_000; step += 1) {
      const item = makeItem(random, random.below(6000));
      if (random.chance(0.35)) {
        await collection.take(item.id);
        kept.delete(item.id);
      } else if (await collection.insert({ ...item, owner: 'a' })) kept.add(item.id);
    }
    const wanted = [...kept].sort();
    expect(await collection.count({ owner: 'a' })).toBe(wanted.length);
    const seen: string[] = [];
    for (let offset = 0; offset < wanted.length; offset += 700) {
      const page = await collection.find({}, { offset, limit: 700 });
      seen.push(...page.map(({ id }) => id));
    }
    expect(seen).toEqual(wanted);
    const last = await collection.find({}, { order: { field: 'id', direction: 'desc' }, limit: 5 });
    expect(last.map(({ id }) => id)).toEqual(wanted.slice(-5).reverse());
  });

  it('rejects values that do not fit a column', async () => {
    const store = createMemoryStore();
    const collection = store.collection(items);
    const item: Item = { id: 'a', owner: 'a', at: 1, tags: [], code: 'c' };
    await expect(collection.insert({ ...item, at: 1.5 })).rejects.toThrow(TypeError);
    await expect(collection.insert({ ...item, owner: 5 as unknown as string })).rejects.toThrow(TypeError);
    await expect(collection.insert({ ...item, tags: [1 as unknown as string] })).rejects.toThrow(TypeError);
    expect(await collection.count({})).toBe(0);
  });

  it.each([1, 8, 9, 30])('reads and commits %i records that one transaction changed', async (count) => {
    const store = createMemoryStore();
    const random = createRandom(count);
    const all = Array.from({ length: count }, (_, number) => makeItem(random, number));
    await store.transaction(async (inside) => {
      const collection = inside.collection(items);
      for (const item of all) expect(await collection.insert(item)).toBe(true);
      for (const item of all) expect(await collection.insert(item)).toBe(false);
      for (const { id } of all) await collection.add(id, { at: 1 });
      for (const { id, at } of all) expect(await collection.get(id)).toMatchObject({ at: at + 1 });
      await collection.take(all[0]?.id ?? '');
    });
    const kept = await store.collection(items).find({});
    expect(kept.map(({ id, at }) => [id, at])).toEqual(all.slice(1).map(({ id, at }) => [id, at + 1]));
  });

  it('rejects calls after the end of a transaction', async () => {
    const store = createMemoryStore();
    let kept = store;
    await store.transaction(async (inside) => {
      kept = inside;
      await expect(inside.transaction(async () => undefined)).rejects.toThrow('nest');
    });
    expect(() => kept.collection(items)).toThrow('over');
  });
});
