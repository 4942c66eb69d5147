import {
  type CollectionDefinition,
  defineCollection,
  type StoredRecord,
  UniqueViolation,
} from '@questline/core/ports';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSqliteDatabase, createSqlStore, migrate } from '../src/index.ts';

interface Letter extends StoredRecord {
  readonly ownerId: string;
  readonly name: string;
  readonly size: number;
  readonly isSent: boolean;
  readonly tags: readonly string[];
}

const DEFINITION: CollectionDefinition<Letter> = {
  name: 'letters',
  columns: { ownerId: 'text', name: 'text', size: 'integer', isSent: 'boolean', tags: 'list' },
  unique: [['ownerId', 'name']],
  indexes: [],
};
const letters = defineCollection<Letter>(DEFINITION);
const LETTER: Letter = { id: 'a', ownerId: 'o', name: 'n', size: 1, isSent: false, tags: [] };

async function setUp() {
  const database = createSqliteDatabase({ path: ':memory:' });
  onTestFinished(() => database.close());
  await migrate(database, { collections: [letters] });
  const store = createSqlStore(database);
  await store.collection(letters).insert(LETTER);
  return { database, store, letters: store.collection(letters) };
}

describe('a record', () => {
  it.each([
    ['ownerId', 5],
    ['size', 1.5],
    ['size', '1'],
    ['isSent', 1],
    ['tags', 'one'],
    ['tags', [1]],
  ])('with another type in %s is refused: %j', async (field, value) => {
    const { letters } = await setUp();
    const wrong = { [field]: value } as Partial<Letter>;
    await expect(letters.insert({ ...LETTER, id: 'b', name: 'other', ...wrong })).rejects.toThrow(
      new RegExp(`^letters.${field} is of type`),
    );
    await expect(letters.update('a', wrong)).rejects.toThrow(TypeError);
    expect(await letters.find({})).toEqual([LETTER]);
  });

  it('keeps each character of its texts on SQLite', async () => {
    const { letters } = await setUp();
    const text = 'a\0\ud800b';
    expect(await letters.update('a', { tags: [text] })).toEqual({ ...LETTER, tags: [text] });
  });

  it('does not count in a field without an amount', async () => {
    const { letters } = await setUp();
    expect(await letters.add('a', { size: undefined } as never)).toEqual(LETTER);
  });

  it('keeps its id in an update', async () => {
    const { letters } = await setUp();
    const patch = { id: 'b', size: 2 } as Partial<Letter>;
    expect(await letters.update('a', patch)).toEqual({ ...LETTER, size: 2 });
  });

  it.each([
    ['name', 1],
    ['isSent', 1],
    ['size', 0.5],
    ['size', Number.NaN],
  ])('does not count in %s by %s', async (field, delta) => {
    const { letters } = await setUp();
    const added = letters.add('a', { [field]: delta } as never);
    await expect(added).rejects.toThrow(`letters.${field} counts whole numbers`);
    expect(await letters.get('a')).toEqual(LETTER);
  });

  it('that breaks a unique rule is refused with the cause, and other errors are passed on', async () => {
    const { database, letters: stored } = await setUp();
    await stored.insert({ ...LETTER, id: 'b', name: 'other' });
    const broken = stored.update('b', { name: 'n' });
    await expect(broken).rejects.toBeInstanceOf(UniqueViolation);
    await expect(broken).rejects.toMatchObject({ cause: { errcode: 2067 } });

    const failure = new Error('the disk is broken');
    const failing = createSqlStore({ ...database, run: async () => Promise.reject(failure) });
    await expect(failing.collection(letters).update('b', { size: 2 })).rejects.toBe(failure);
  });
});

describe('a query', () => {
  it.each([0, -1, 1.5, 1001, Number.NaN])('with the limit %s is refused', async (limit) => {
    const { letters } = await setUp();
    await expect(letters.find({}, { limit })).rejects.toThrow(RangeError);
    await expect(letters.removeWhere?.({}, { limit })).rejects.toThrow(RangeError);
    expect(await letters.count({})).toBe(1);
  });

  it.each([
    [{ name: { contains: 5 } }, "name: 'contains' wants text"],
    [{ tags: { has: 5 } }, "tags: 'has' wants text"],
    [{ name: { like: 'x' } }, "name: there is no condition 'like'"],
    [{ name: {} }, 'invalid condition on name'],
  ])('with the condition %j is refused', async (filter, message) => {
    const { letters } = await setUp();
    await expect(letters.find(filter as never)).rejects.toThrow(new TypeError(message));
  });

  it('in a transaction is not sent for a caller that has left', async () => {
    const { store, letters: outside } = await setUp();
    const signal = AbortSignal.abort('left');
    await store.transaction(async (inside) => {
      const removed = inside.collection(letters).take('a', {}, { signal });
      await expect(removed).rejects.toBe('left');
    });
    expect(await outside.get('a')).toEqual(LETTER);
  });
});

describe('a definition', () => {
  it.each([
    ['two fields with one column', { columns: { ownerId: 'text', owner_id: 'text' } }, 'owner_id is taken'],
    ['a field with a column of the table', { columns: { record: 'text' } }, 'record is taken'],
    ['an empty unique rule', { unique: [[]] }, 'a unique rule names fields'],
    ['a list in a unique rule', { unique: [['ownerId', 'tags']] }, 'a unique rule names fields'],
    ['a rule on a field without a column', { indexes: [['text']] }, 'text is not a column'],
  ])('is refused with %s', async (_name, change, message) => {
    const { store } = await setUp();
    const base = { ...DEFINITION, unique: [], name: 'other' };
    const definition = { ...base, ...change } as unknown as CollectionDefinition<Letter>;
    expect(() => store.collection(definition)).toThrow(message);
  });
});
