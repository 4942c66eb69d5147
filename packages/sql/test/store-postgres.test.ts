import { defineCollection, type StoredRecord } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createPostgresDatabase, createSqlStore, type PostgresDatabase } from '../src/index.ts';
import { sql } from '../src/store/fragments.ts';
import { createKeptStatements } from '../src/store/kept-statements.ts';

interface Letter extends StoredRecord {
  readonly name: string;
  readonly text: string;
}

const letters = defineCollection<Letter>({
  name: 'letters',
  columns: { name: 'text' },
  unique: [],
  indexes: [],
});

/** A store whose statements go to lists: those that only read, and the others. */
function setUp() {
  const written: (readonly unknown[])[] = [];
  const read: (readonly unknown[])[] = [];
  const database: PostgresDatabase = {
    ...createPostgresDatabase({ connection: { query: async () => ({ rows: [] }) } }),
    async run({ parameters }) {
      written.push(parameters);
      return [];
    },
    async read({ parameters }) {
      read.push(parameters);
      return [{ count: 0 }];
    },
  };
  return { written, read, letters: createSqlStore(database).collection(letters) };
}

describe('a store on PostgreSQL', () => {
  it.each([
    ['a\0b', 'a\uFFFDb'],
    ['a\ud800b', 'a\uFFFDb'],
    ['a\udfffb', 'a\uFFFDb'],
    ['a\ud83d\ude00\u0001b', 'a\ud83d\ude00\u0001b'],
  ])('replaces only what it cannot store: %j', async (text, stored) => {
    const { written, letters } = setUp();
    await letters.insert({ id: text, name: text, text });
    const [[id, record] = []] = written;
    expect(id).toBe(stored);
    expect(JSON.parse(String(record))).toEqual({ id: stored, name: stored, text: stored });
  });

  it('asks the primary for one record, and replicas for lists and counts', async () => {
    const { written, read, letters } = setUp();
    await letters.get('a');
    await letters.find({ name: 'n' }, { limit: 1 });
    expect([written.length, read.length]).toEqual([2, 0]);
    await letters.find({ name: 'n' }, { limit: 2 }).catch(() => undefined);
    await letters.count({});
    expect([written.length, read.length]).toEqual([2, 2]);
  });
});

describe('the texts of statements', () => {
  it('are compiled once per shape, for 200 shapes', () => {
    const asked: string[] = [];
    const kept = createKeptStatements('postgres', (statement) => ({ ...statement, name: 'n' }));
    const get = (shape: string, value: number) =>
      kept.get(shape, [value], () => {
        asked.push(shape);
        return sql`select ${value}`;
      });
    for (let at = 0; at < 201; at += 1) get(`shape ${at}`, 1);
    expect(asked).toHaveLength(201);
    expect(get('shape 199', 2)).toEqual({ sql: 'select $1', name: 'n', parameters: [2] });
    expect(asked).toHaveLength(201);
    expect(get('shape 200', 2)).toEqual({ sql: 'select $1', name: 'n', parameters: [2] });
    expect(asked).toHaveLength(202);
  });

  it('are refused with parameters in another order', () => {
    const kept = createKeptStatements('postgres');
    expect(() => kept.get('two', [2, 1], () => sql`${1}, ${2}`)).toThrow(
      "the parameters of 'two' are not in the order of its text",
    );
  });
});
