import { defineCollection, type StoredRecord, type StoreWrite, writesTo } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createSqlStore, type SqlDatabase } from '../src/index.ts';
import { toEngineWrite } from '../src/store/engine-write.ts';
import { POSTGRES, POSTGRES_URL, SQLITE_MEMORY } from './engines.ts';
import { sqliteError } from './scripted-sqlite.ts';
import { shareDatabase } from './shared.ts';

interface Letter extends StoredRecord {
  readonly ownerId: string;
  readonly name?: string;
  readonly size?: number;
  readonly tags?: readonly string[];
  readonly text?: string;
}

const LETTERS = defineCollection<Letter>({
  name: 'letters',
  columns: { ownerId: 'text', name: 'text', size: 'integer', tags: 'list' },
  unique: [['ownerId', 'name']],
  indexes: [],
});
const to = writesTo(LETTERS);
const A: Letter = { id: 'a', ownerId: 'o', name: 'one', size: 1, tags: ['red'], text: 't' };
const B: Letter = { id: 'b', ownerId: 'o', name: 'two' };
const NONE: StoreWrite = to.expect('none');

/** A write of the engine that inserts a letter. */
function insertByEngine(database: SqlDatabase, applied: () => void, expected = '1 = 1') {
  const record = JSON.stringify({ id: 'e', ownerId: 'engine' });
  const value = database.dialect === 'sqlite' ? `'${record}'` : `cast('${record}' as jsonb)`;
  const insert = `insert into ${database.names.table('letters')} (id, record) select 'e', ${value}`;
  return toEngineWrite(
    database,
    {
      toStatement: (condition) => ({
        sql: `${insert} where ${condition} returning 1 as done`,
        parameters: [],
      }),
      expected: { sql: expected, parameters: [] },
    },
    applied,
  );
}

describe.each([SQLITE_MEMORY, ...(POSTGRES_URL === undefined ? [] : [POSTGRES])])(
  'a step of a store on $name',
  (engine) => {
    const shared = shareDatabase(engine, [LETTERS]);

    const setUp = async (...records: readonly Letter[]) => {
      const database = await shared.fresh();
      const store = createSqlStore(database);
      const letters = store.collection(LETTERS);
      for (const record of records.length === 0 ? [A, B] : records) await letters.insert(record);
      const write = (...writes: readonly StoreWrite[]) => store.writeAll?.(writes);
      return { database, store, letters, write, all: () => letters.find({}) };
    };

    it('has an effect with writes of its engine, or none at all', async () => {
      const { database, write, all } = await setUp();
      let applied = 0;
      const count = () => {
        applied += 1;
      };
      const insert = insertByEngine(database, count);
      expect(await write(insert, NONE)).toBe(false);
      expect(await write(NONE, insert)).toBe(false);
      expect(await write(to.count('b', { size: 1 }), insertByEngine(database, count, '1 = 2'), NONE)).toBe(
        false,
      );
      expect(await write({ ...insert, engine: {} })).toBe(false);
      expect([await all(), applied]).toEqual([[A, B], 0]);
      expect(await write(to.expect('a'), insert, to.count('b', { size: 3 }))).toBe(true);
      expect([await all(), applied]).toEqual([[A, { ...B, size: 3 }, { id: 'e', ownerId: 'engine' }], 1]);
    });

    it('is not made for a caller that has left', async () => {
      const { store, all } = await setUp();
      const options = { signal: AbortSignal.abort('left') };
      const foreign: StoreWrite = { do: 'engine', engine: {}, work: undefined, applied: () => undefined };
      for (const writes of [[], [foreign], [to.remove('a')]]) {
        await expect(store.writeAll?.(writes, options)).rejects.toBe('left');
      }
      expect(await all()).toEqual([A, B]);
    });

    it.each<[string, readonly StoreWrite[]]>([
      ['a record that is not there', [NONE]],
      ['one of two records', [NONE, to.expect('a')]],
      ['the other of two records', [to.expect('a'), NONE]],
      ['no record where there is one', [to.expect('a'), to.expectNone('b', {})]],
      ['no record where there is one first', [to.expectNone('b', {}), to.expect('a')]],
      ['another member of a list', [to.expect('a', { tags: { has: 'blue' } })]],
      ['a record without a list', [to.expect('b', { tags: { has: 'red' } })]],
    ])('has no effect when it expects %s', async (_, expectations) => {
      const { write, all } = await setUp();
      const change = to.count('c', { size: 1 });
      expect(await write(...expectations, change)).toBe(false);
      expect(await write(change, ...expectations)).toBe(false);
      expect(await all()).toEqual([A, B]);
    });

    it('has only expectations', async () => {
      const { write } = await setUp();
      expect(await write(to.expect('a', { tags: { has: 'red' } }), to.expectNone('none', {}))).toBe(true);
      expect(await write(to.expectNone('none', {}))).toBe(true);
      expect(await write(to.expect('a'), to.expect('b', { ownerId: 'p' }))).toBe(false);
      expect(await write(to.expectNone('none', {}), NONE)).toBe(false);
    });

    it.each<[string, StoreWrite, boolean]>([
      ['with an id that is there', to.insert({ ...A, name: 'other' }), false],
      ['with unique values that are there', to.insert({ ...A, id: 'c' }), false],
      ['with unique values of another owner', to.insert({ ...A, id: 'c', ownerId: 'p' }), true],
      ['without one of its unique values', to.insert({ id: 'c', ownerId: 'n' }), true],
    ])('inserts a record %s: %#', async (_, insert, isDone) => {
      const { write, all } = await setUp(A, B, { id: 'n', ownerId: 'n' });
      const before = await all();
      expect(await write(to.count('b', { size: 1 }), insert)).toBe(isDone);
      expect(await write(insert, to.count('b', { size: 1 }))).toBe(false);
      if (!isDone) expect(await all()).toEqual(before);
    });

    it.each<[string, Partial<Letter>, Letter]>([
      ['sets', { size: 5, text: 'u' }, { ...A, size: 5, text: 'u' }],
      [
        'removes',
        { size: undefined, text: undefined } as never,
        { id: 'a', ownerId: 'o', name: 'one', tags: ['red'] },
      ],
      [
        'sets and removes',
        { size: 5, tags: undefined } as never,
        { id: 'a', ownerId: 'o', name: 'one', size: 5, text: 't' },
      ],
      ['keeps', {}, A],
      ['keeps the id of', { id: 'other', size: 2 } as never, { ...A, size: 2 }],
    ])('%s fields of a record, as an update does', async (_, patch, expected) => {
      const { write, letters } = await setUp();
      expect(await write(to.update('a', patch), to.expect('b'))).toBe(true);
      expect(await letters.get('a')).toEqual(expected);
      const again = await setUp();
      expect(await again.letters.update('a', patch)).toEqual(expected);
      expect(await again.letters.get('a')).toEqual(expected);
    });

    it('sets and removes any number of fields, one update after another', async () => {
      const { letters } = await setUp();
      const fields = ['size', 'text', 'name', 'tags'] as const;
      for (const removed of [0, 1, 2]) {
        for (const set of [0, 1, 2]) {
          const patch = Object.fromEntries([
            ...fields.slice(0, removed).map((field) => [field, undefined] as const),
            ...fields.slice(removed, removed + set).map((field) => [field, A[field]] as const),
          ]);
          const [before, expected] = [await letters.update('a', { ...A }), { ...A, ...patch }];
          expect(before).toEqual(A);
          expect(await letters.update('a', patch)).toEqual(JSON.parse(JSON.stringify(expected)));
        }
      }
    });

    it('does not change a record to unique values of another', async () => {
      const { write, all } = await setUp();
      expect(await write(to.count('a', { size: 1 }), to.update('b', { name: 'one' }))).toBe(false);
      expect(await all()).toEqual([A, B]);
    });

    it('counts in fields, also in those that are absent, and in none', async () => {
      const { write, letters } = await setUp();
      expect(await write(to.add('a', { size: 2 }), to.add('b', { size: -2 }))).toBe(true);
      expect([await letters.get('a'), await letters.get('b')]).toEqual([
        { ...A, size: 3 },
        { ...B, size: -2 },
      ]);
      expect(await write(to.add('a', {}), to.expect('b'))).toBe(true);
      expect(await letters.add('a', {})).toEqual({ ...A, size: 3 });
      expect(await write(to.add('a', { size: 1 }, { size: 9 }))).toBe(false);
      for (const deltas of [{ size: 0.5 }, { size: Number.NaN }, { name: 1 }]) {
        const [field] = Object.keys(deltas);
        for (const one of [to.add('a', deltas as never), to.count('a', deltas as never)]) {
          await expect(write(one)).rejects.toThrow(`letters.${field} counts whole numbers`);
        }
      }
      expect(await letters.get('a')).toEqual({ ...A, size: 3 });
    });

    it('deletes up to as many records as it may', async () => {
      const three = ['a', 'b', 'c'].map((id): Letter => ({ id, ownerId: id === 'c' ? 'p' : 'o' }));
      const { write, all } = await setUp(...three);
      const count = to.count('n', { size: 1 });
      const ofOwner = { ownerId: 'o' };
      for (const max of [0, 1]) {
        expect(await write(to.removeWhere(ofOwner, max), count)).toBe(false);
        expect(await write(count, to.removeWhere(ofOwner, max))).toBe(false);
        expect(await write(to.expect('c'), to.removeWhere(ofOwner, max))).toBe(false);
      }
      expect(await all()).toEqual(three);
      expect(await write(count, to.removeWhere({ ownerId: 'q' }, 0), to.removeWhere(ofOwner, 2))).toBe(true);
      expect((await all()).map(({ id }) => id)).toEqual(['c', 'n']);
      expect(await write(to.removeWhere({ ownerId: 'p' }, 1), to.removeWhere({ id: 'n' }, 999))).toBe(true);
      expect(await all()).toEqual([]);
    });

    it('reads records in an order, those without a value first', async () => {
      const { write } = await setUp({ ...A, size: 2 }, B, { id: 'c', ownerId: 'p', size: 1 });
      const read = async (direction: 'asc' | 'desc', max: number) => {
        const found: string[] = [];
        const order = { field: 'size', direction, max } as const;
        const asked = to.readOrdered({}, order, (records) => found.push(...records.map(({ id }) => id)));
        expect(await write(asked, to.expect('a'))).toBe(true);
        return found;
      };
      expect(await read('asc', 5)).toEqual(['b', 'c', 'a']);
      expect(await read('desc', 5)).toEqual(['a', 'c', 'b']);
      expect([await read('asc', 1), await read('desc', 2)]).toEqual([['b'], ['a', 'c']]);
    });

    it('gives what it has read only if it has an effect, also nothing', async () => {
      const { write } = await setUp();
      const found: (readonly object[])[] = [];
      const read = (filter: object) => to.read(filter, 5, (records) => found.push(records));
      expect(await write(read({ id: 'a' }), NONE)).toBe(false);
      expect(found).toEqual([]);
      expect(await write(read({ id: 'a' }), read({ id: 'none' }))).toBe(true);
      expect(found).toEqual([[A], []]);
      expect(await write(read({ id: 'none' }), to.remove('a'), read({ id: 'a' }))).toBe(true);
      expect(found.slice(2)).toEqual([[], [A]]);
    });
  },
);

describe('an error of a step', () => {
  const setUp = async (error: Error) => {
    const { database, close } = await SQLITE_MEMORY.open();
    const failing = { ...database, immediate: () => Promise.reject(error) } as SqlDatabase;
    const done = createSqlStore(failing).writeAll?.([to.remove('a')]);
    return { done, close };
  };

  it.each([2067, 1555, 275])('is no effect when it breaks a rule: %s', async (code) => {
    const { done, close } = await setUp(sqliteError(code));
    expect(await done).toBe(false);
    await close();
  });

  it.each(['23505', '23514', '22012'])(
    'is no effect when it breaks a rule of PostgreSQL: %s',
    async (code) => {
      const { done, close } = await setUp(Object.assign(new Error('a rule'), { code }));
      expect(await done).toBe(false);
      await close();
    },
  );

  it('is passed on otherwise', async () => {
    const error = sqliteError(1);
    const { done, close } = await setUp(error);
    await expect(done).rejects.toBe(error);
    await close();
  });

  it.each(['a"b', 'a\\b'])('says that SQLite has no field with the name %s', async (field) => {
    const { database, close } = await SQLITE_MEMORY.open();
    const store = createSqlStore(database);
    const patch = { [field]: 1 } as Partial<Letter>;
    const message = `'${field}' cannot name a field`;
    await expect(store.writeAll?.([to.update('a', patch)])).rejects.toThrow(message);
    await expect(store.collection(LETTERS).update('a', patch)).rejects.toThrow(message);
    await close();
  });
});
