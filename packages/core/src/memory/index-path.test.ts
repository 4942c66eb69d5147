import { describe, expect, it } from 'vitest';
import { defineCollection, type Filter, type StoredRecord } from '../ports/store.ts';
import { type AnyRecord, readFilter } from './filter.ts';
import { createIndex, getKeys, getPath } from './index-path.ts';

interface Row extends StoredRecord {
  readonly owner?: string;
  readonly at?: number;
  readonly kind?: string;
  readonly tags?: readonly string[];
}

const rows = defineCollection<Row>({
  name: 'rows',
  columns: { owner: 'text', at: 'integer', kind: 'text', tags: 'list' },
  unique: [],
  indexes: [],
});

const ROWS: readonly Row[] = [
  { id: 'a', owner: 'x', at: 1, kind: 'k', tags: ['s', 't', 's'] },
  { id: 'b', owner: 'x', at: 2, tags: [] },
  { id: 'c', owner: 'x', at: 3, tags: ['t'] },
  { id: 'd', owner: 'x' },
  { id: 'e', owner: 'y', at: 2 },
];

/** An index of the rows. `look` has the ids in the range of a filter, and what the range is. */
function open(...fields: readonly string[]) {
  const index = createIndex(fields, (field) => field === 'tags');
  for (const row of ROWS) for (const key of getKeys(index, row as AnyRecord)) index.keys.insert(key);
  return (filter: Filter<Row>, order = 'id') => {
    const path = getPath(index, readFilter(rows, filter), order);
    if (path === undefined) return undefined;
    const ids = [...index.keys.walk(path.low, path.high)].map((key) => String(key.at(-1))).join('');
    return [ids, ...(path.isExact ? ['exact'] : []), ...(path.isOrdered ? ['ordered'] : [])].join(' ');
  };
}

describe('keys of a record', () => {
  const keysOf = (fields: readonly string[], record: Row) =>
    getKeys(
      createIndex(fields, (field) => field === 'tags'),
      record as AnyRecord,
    );

  it('are its values and its id, with null for an absent field', () => {
    expect(keysOf([], { id: 'a' })).toEqual([['a']]);
    expect(keysOf(['owner', 'at'], { id: 'a', owner: 'x' })).toEqual([['x', null, 'a']]);
  });

  it('are one for each different member of a list', () => {
    expect(keysOf(['at', 'tags'], { id: 'a', tags: ['s', 't', 's'] })).toEqual([
      [null, 's', 'a'],
      [null, 't', 'a'],
    ]);
    expect(keysOf(['tags', 'at'], { id: 'a', tags: [], at: 1 })).toEqual([]);
    expect(keysOf(['tags', 'at'], { id: 'a', at: 1 })).toEqual([[null, 1, 'a']]);
  });
});

describe('range of an index', () => {
  const look = open('owner', 'at');

  it('has the records with the fixed values', () => {
    expect(look({})).toBe('dabce exact');
    expect(look({ owner: 'x' })).toBe('dabc exact');
    expect(look({ owner: 'x', at: 2 })).toBe('b exact ordered');
    expect(look({ owner: 'z' })).toBe(' exact');
    expect(look({ at: 2 })).toBe('dabce');
    expect(look({ owner: 'x', kind: 'k' })).toBe('dabc');
    expect(look({ owner: 'x', anyOf: [{ at: 1 }] })).toBe('dabc');
    expect(open()({ owner: 'x' })).toBe('abcde ordered');
  });

  it('has the records between bounds, without absent fields', () => {
    expect(look({ owner: 'x', at: { gt: 1 } })).toBe('bc exact');
    expect(look({ owner: 'x', at: { gte: 2 } })).toBe('bc exact');
    expect(look({ owner: 'x', at: { lt: 3 } })).toBe('ab exact');
    expect(look({ owner: 'x', at: { lte: 2 } })).toBe('ab exact');
    expect(look({ owner: 'x', at: { gt: 1, lte: 2 } })).toBe('b exact');
    expect(look({ owner: 'x', at: { gte: 1, lt: 2 } })).toBe('a exact');
    expect(look({ owner: 'x', at: { gt: 3, lt: 1 } })).toBe(' exact');
    expect(look({ owner: 'x', at: { in: [1, 2] } })).toBe('dabc');
    expect(open('at')({ at: { gt: 1 }, owner: 'x' })).toBe('bec');
  });

  it('is not exact with two bounds of one side', () => {
    expect(look({ owner: 'x', at: { gt: 1, gte: 1 } })).toBe('bc');
    expect(look({ owner: 'x', at: { lt: 3, lte: 3 } })).toBe('ab');
    expect(look({ owner: 'x', at: { gt: 1, gte: 1, lt: 3 } })).toBe('b');
    expect(look({ owner: 'x', at: { gt: 0, lt: 3, lte: 3 } })).toBe('ab');
  });

  it('is ordered by the field behind the fixed ones, if that is the last, or by id behind all', () => {
    expect(look({ owner: 'x' }, 'at')).toBe('dabc exact ordered');
    expect(look({}, 'owner')).toBe('dabce exact');
    expect(look({}, 'at')).toBe('dabce exact');
    expect(look({ owner: 'x', at: 2 }, 'at')).toBe('b exact ordered');
    expect(look({ owner: 'x', at: 2 }, 'owner')).toBe('b exact ordered');
    expect(look({ owner: 'x', at: 2 }, 'kind')).toBe('b exact');
    expect(look({ owner: 'x' }, 'owner')).toBe('dabc exact');
    expect(open('at')({}, 'at')).toBe('dabec exact ordered');
  });

  it('has each record once: the member of a list is fixed', () => {
    const tagged = open('owner', 'tags');
    expect(tagged({ owner: 'x' })).toBeUndefined();
    expect(tagged({ owner: 'x', tags: { has: 't' } })).toBe('ac exact ordered');
    expect(open('tags', 'at')({ tags: { has: 't' } }, 'at')).toBe('ac exact ordered');
    expect(open('tags', 'at')({ at: 1 })).toBeUndefined();
  });
});
