import { createRandom } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { defineCollection, type Filter, type StoredRecord } from '../ports/store.ts';
import { type AnyFilter, type AnyRecord, matches, readFilter } from './filter.ts';
import { compareRecords, createTable, isAfter, type Order, type Query } from './table.ts';

interface Row extends StoredRecord {
  readonly owner: string;
  readonly at: number;
  readonly tags?: readonly string[];
  readonly code?: string | null;
}

const rows = defineCollection<Row>({
  name: 'rows',
  secretFields: { code: false },
  columns: { owner: 'text', at: 'integer', tags: 'list', code: 'text' },
  unique: [['code'], ['owner', 'at']],
  indexes: [['owner', 'at'], ['tags', 'at'], ['at']],
});
const loose = defineCollection<Row>({ ...rows, name: 'loose', secretFields: { code: false }, unique: [] });
const BY_ID: Order = { field: 'id', direction: 'asc' };

const toFilter = (filter: Filter<Row>): AnyFilter => readFilter(rows, filter);
const toQuery = (filter: Filter<Row>, more: Partial<Query> = {}): Query => ({
  ...{ filter: toFilter(filter), order: BY_ID, skip: 0, take: 1000 },
  ...more,
});
const toIds = (found: readonly AnyRecord[]): string => found.map(({ id }) => id).join('');

function fill(all: readonly Row[], definition = rows) {
  const table = createTable(definition);
  for (const row of all) table.write(row.id, row as unknown as AnyRecord);
  const select = (filter: Filter<Row>, more?: Partial<Query>, except?: ReadonlyMap<string, unknown>) =>
    toIds(table.select(toQuery(filter, more), except));
  return { table, select };
}

const A: Row = { id: 'a', owner: 'x', at: 1, code: 'one' };
const B: Row = { id: 'b', owner: 'x', at: 2 };
const C: Row = { id: 'c', owner: 'y', at: 1, code: null };
const asRecord = (row: Row) => row as unknown as AnyRecord;

describe('unique constraints of a table', () => {
  it('name the other record with the same values', () => {
    const { table } = fill([A, B, C]);
    expect(table.isConstrained).toBe(true);
    expect(table.conflicts(asRecord({ ...C, id: 'd', at: 5, code: 'one' }))).toEqual(['a']);
    expect(table.conflicts(asRecord({ id: 'd', owner: 'x', at: 2, code: 'one' }))).toEqual(['a', 'b']);
    expect(table.conflicts(asRecord(A))).toEqual([]);
    expect(table.conflicts(asRecord({ id: 'd', owner: 'z', at: 1, code: null }))).toEqual([]);
    expect(fill([A], loose).table.isConstrained).toBe(false);
    expect(fill([A], loose).table.conflicts(asRecord({ ...A, id: 'd' }))).toEqual([]);
  });

  it('follow changes and removals', () => {
    const { table, select } = fill([A, B]);
    table.write('a', asRecord({ ...A, code: 'two' }));
    expect(table.conflicts(asRecord({ ...C, code: 'one' }))).toEqual([]);
    expect(table.conflicts(asRecord({ ...C, code: 'two' }))).toEqual(['a']);
    expect([select({ code: 'one' }), select({ code: 'two' })]).toEqual(['', 'a']);
    table.write('a', undefined);
    expect(table.conflicts(asRecord({ ...C, code: 'two' }))).toEqual([]);
    expect([select({ code: 'two' }), table.get('a')]).toEqual(['', undefined]);
  });

  it('keep the new holder of a value when the old one is removed later', () => {
    const { table, select } = fill([A, B]);
    table.write('b', asRecord({ ...B, code: 'one' }));
    table.write('a', undefined);
    expect([select({ code: 'one' }), table.conflicts(asRecord({ ...C, code: 'one' }))]).toEqual(['b', ['b']]);
  });

  it('need a value of each of their fields', () => {
    const { table } = fill([B, C]);
    expect(table.conflicts(asRecord({ id: 'd', owner: 'z', at: 1 }))).toEqual([]);
    expect(table.agree(asRecord(B), asRecord({ id: 'd', owner: 'z', at: 1 }))).toBe(false);
  });

  it('hold when there is only one', () => {
    const { table } = fill([A], { ...loose, unique: [['code']] });
    expect(table.isConstrained).toBe(true);
    expect(table.conflicts(asRecord({ ...C, code: 'one' }))).toEqual(['a']);
  });

  it('compare two records', () => {
    const { table } = fill([]);
    expect(table.agree(asRecord(A), asRecord({ ...C, code: 'one' }))).toBe(true);
    expect(table.agree(asRecord(A), asRecord({ ...C, owner: 'x' }))).toBe(true);
    expect(table.agree(asRecord(A), asRecord(C))).toBe(false);
    expect(table.agree(asRecord(C), asRecord({ ...B, code: null }))).toBe(false);
  });
});

describe('reads of a table', () => {
  it('find a pinned record only if all of the filter matches', () => {
    const { table, select } = fill([A, B, C]);
    expect([select({ id: 'a' }), select({ id: 'a', owner: 'y' }), select({ id: 'd' })]).toEqual([
      'a',
      '',
      '',
    ]);
    expect([select({ code: 'one', at: 1 }), select({ code: 'one', at: 2 })]).toEqual(['a', '']);
    expect([select({ owner: 'x', at: 2 }), select({ owner: 'x', at: 3 })]).toEqual(['b', '']);
    expect(table.count(toFilter({ id: 'a', owner: 'y' }))).toBe(0);
    expect(table.count(toFilter({ code: 'one' }))).toBe(1);
  });

  it('leave out the given ids before they count the limit', () => {
    const { select } = fill([A, B, C], loose);
    const except = new Map([['b', undefined]]);
    expect(select({}, { take: 2 }, except)).toBe('ac');
    expect(select({ owner: 'x' }, {}, except)).toBe('a');
    expect(select({}, { skip: 1, take: 2 }, except)).toBe('c');
    expect(select({ id: 'b' }, {}, except)).toBe('');
  });

  it('see the writes after the first sorted one', () => {
    const { table, select } = fill([A, B], loose);
    const order: Order = { field: 'at', direction: 'asc' };
    expect(select({ owner: 'x' }, { order })).toBe('ab');
    table.write('a', asRecord({ ...A, at: 3 }));
    table.write('c', asRecord({ ...C, owner: 'x' }));
    expect(select({ owner: 'x' }, { order })).toBe('cba');
    table.write('b', undefined);
    expect([select({ owner: 'x' }, { order }), select({}, { order }), select({ at: { gt: 1 } })]).toEqual([
      'ca',
      'ca',
      'a',
    ]);
    table.write('c', asRecord({ ...C, owner: 'y' }));
    expect([select({ owner: 'x' }), select({ owner: 'y' }), table.count(toFilter({ owner: 'x' }))]).toEqual([
      ...['a', 'c', 1],
    ]);
  });

  it('find a record once, with any number of members in an indexed list', () => {
    const { table, select } = fill(
      [
        { ...A, tags: [] },
        { ...B, tags: ['p', 'q'] },
        { ...C, tags: [] },
      ],
      {
        ...loose,
        indexes: [['owner', 'tags']],
      },
    );
    expect([select({ owner: 'x' }), select({ owner: 'y' })]).toEqual(['ab', 'c']);
    expect(table.count(toFilter({ owner: 'y' }))).toBe(1);
    expect(select({ owner: 'x', tags: { has: 'q' } })).toBe('b');
  });

  it('sort an absent value like null, before all others', () => {
    const { select } = fill([A, C, B], { ...loose, indexes: [] });
    expect(select({}, { order: { field: 'code', direction: 'asc' } })).toBe('bca');
    expect(select({}, { order: { field: 'code', direction: 'desc' } })).toBe('acb');
  });

  it('give no record when fewer are left than are skipped', () => {
    const all = ['a', 'b', 'c', 'd', 'e', 'f'].map((id, at) => ({ id, owner: 'x', at }));
    const others = [...'wy'].flatMap((owner) =>
      all.map((row) => ({ ...row, id: `${owner}${row.id}`, owner })),
    );
    const { select } = fill([...all, ...others], loose);
    const read = (direction: Order['direction'], value: number, id: string, skip: number) =>
      select({ owner: 'x' }, { order: { field: 'at', direction }, after: { value, id }, skip, take: 1 });
    expect([read('asc', 3, 'd', 1), read('asc', 4, 'e', 1), read('asc', 4, 'e', 3)]).toEqual(['f', '', '']);
    expect([read('desc', 2, 'c', 1), read('desc', 1, 'b', 1), read('desc', 1, 'b', 3)]).toEqual([
      'a',
      '',
      '',
    ]);
  });

  it('give no record for a limit of none', () => {
    expect(fill([A, B, C], loose).select({}, { take: 0 })).toBe('');
  });
});

/** Looks at each record: the reference. */
function scan(all: readonly AnyRecord[], { filter, order, after, skip, take }: Query): string {
  const found = all.filter(
    (row) => matches(row, filter) && (after === undefined || isAfter(row, after, order)),
  );
  return toIds(found.sort((a, b) => compareRecords(a, b, order)).slice(skip, skip + take));
}

it.each([1, 2])('reads the same as a full scan, with alternatives and pages (%i)', (seed) => {
  const random = createRandom(seed);
  const { table } = fill([], loose);
  const all = new Map<string, AnyRecord>();
  const put = (number: number) => {
    const id = `${String(number).padStart(3, '0')} `;
    const tags = ['p', 'q', 'r'].filter(() => random.chance(0.4));
    const row = { id, owner: random.pick(['x', 'y', 'z']), at: random.below(40), tags, code: `c${number}` };
    const next = random.chance(0.1) ? undefined : asRecord(row);
    table.write(id, next);
    if (next === undefined) all.delete(id);
    else all.set(id, next);
  };
  for (let number = 0; number < 200; number += 1) put(number);
  const pick = (): Filter<Row> => ({
    ...(random.chance(0.4) && {
      owner: random.pick<NonNullable<Filter<Row>['owner']>>(['x', { in: ['x', 'z'] }]),
    }),
    ...(random.chance(0.4) && { at: random.pick([7, { gte: 10 }, { gt: 10, lt: 30 }, { in: [1, 2, 3] }]) }),
    ...(random.chance(0.2) && { tags: { has: random.pick(['p', 'q']) } }),
    ...(random.chance(0.1) && { code: `c${random.below(200)}` }),
  });
  for (let step = 0; step < 150; step += 1) {
    put(random.below(220));
    const filter = { ...pick(), ...(random.chance(0.4) && { anyOf: [pick(), pick()] }) };
    const order: Order = {
      ...{ field: random.pick(['id', 'at', 'owner']), direction: random.pick(['asc', 'desc']) },
    };
    const list = [...all.values()];
    const query = toQuery(filter, {
      order,
      skip: random.pick([0, 0, 3, 70]),
      take: random.pick([1, 5, 50, 1000]),
    });
    expect(toIds(table.select(query)), JSON.stringify({ asked: filter, ...query })).toBe(scan(list, query));
    const except = new Map(list.filter(() => random.chance(0.1)).map(({ id }) => [id, undefined]));
    expect(toIds(table.select(query, except))).toBe(
      scan(
        list.filter(({ id }) => !except.has(id)),
        query,
      ),
    );
    const from = random.pick(list);
    const after = { value: from[order.field] as string | number, id: from.id };
    const page = { ...query, skip: 0, after };
    expect(toIds(table.select(page)), JSON.stringify({ filter, after, order })).toBe(scan(list, page));
    expect(table.count(query.filter)).toBe(list.filter((row) => matches(row, query.filter)).length);
  }
});
