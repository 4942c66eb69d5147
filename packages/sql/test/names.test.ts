import { describe, expect, it } from 'vitest';
import { getRead } from '../src/database.ts';
import { createPostgresDatabase } from '../src/index.ts';
import { createNames } from '../src/names.ts';
import { createNaming, defineStatement, toNumber } from '../src/statement.ts';
import { isDivisionByZero } from '../src/violations.ts';

describe('the names of tables', () => {
  it.each(['', '1a', 'A', 'a-b', 'a"', 'a'.repeat(31)])('refuse the prefix %j', (prefix) => {
    expect(() => createNames({ prefix })).toThrow('prefix: 1 to 30');
  });

  it.each(['', 'a\0'])('refuse the schema %j', (schema) => {
    expect(() => createNames({ schema })).toThrow('schema: a name');
  });

  it.each(['', '1a', 'a b', 'a"b'])('refuse the table %j', (table) => {
    expect(() => createNames({}).table(table)).toThrow('cannot name a table or a column');
  });

  it('are quoted, with the schema', () => {
    const { table, index } = createNames({ prefix: 'p_', schema: 'my "own"' });
    expect(table('fooBar-baz')).toBe('"my ""own"""."p_foo_bar_baz"');
    expect(index('fooBar', ['ownerId', 'b'], 'key')).toBe('p_foo_bar_owner_id_b_key');
  });

  it('have 63 characters at most, and differ', () => {
    const { plain } = createNames({ prefix: 'p_' });
    const longest = 'a'.repeat(61);
    expect(plain(longest)).toBe(`p_${longest}`);
    const [one, other] = [plain(`${longest}b`), plain(`${longest}c`)];
    expect(one).toMatch(/^p_a{44}_[0-9a-f]{16}$/);
    expect(one).not.toBe(other);
  });
});

describe('a statement', () => {
  const text = 'select @a, @b, @a';

  it('binds a name once on PostgreSQL, and at each place on SQLite', () => {
    const values = { a: 1 };
    expect(defineStatement<'a' | 'b'>('postgres', text)(values)).toEqual({
      sql: 'select $1, $2, $1',
      name: expect.stringMatching(/^questline_[0-9a-f]{16}$/),
      parameters: [1, null],
    });
    const { sql, parameters } = defineStatement<'a' | 'b'>('sqlite', text)(values);
    expect([sql, parameters]).toEqual(['select ?, ?, ?', [1, null, 1]]);
  });

  it('has a name by its text, for 500 texts', () => {
    const toNamed = createNaming();
    const name = (at: number) => toNamed({ sql: `select ${at}`, parameters: [at] });
    const [first] = Array.from({ length: 500 }, (_, at) => name(at));
    expect(first).toEqual({
      sql: 'select 0',
      parameters: [0],
      name: expect.stringMatching(/^questline_[0-9a-f]{16}$/),
    });
    expect(name(499).name).toBeDefined();
    expect(name(500)).toStrictEqual({ sql: 'select 500', parameters: [500] });
    expect(name(0)).toEqual(first);
  });

  it('counts only what is exact', () => {
    expect(['5', 5n, 5].map(toNumber)).toEqual([5, 5, 5]);
    for (const value of ['9007199254740993', 1.5, 'x', undefined]) {
      expect(() => toNumber(value)).toThrow(RangeError);
    }
  });
});

it('knows a division by zero by its code', () => {
  const withCode = (code: string) => Object.assign(new Error('failed'), { code });
  expect(['22012', '22003'].map((code) => isDivisionByZero(withCode(code)))).toEqual([true, false]);
});

it('reads on the replicas, if there are any', () => {
  const database = createPostgresDatabase({ connection: { query: async () => ({ rows: [] }) } });
  const read = async () => [];
  expect(getRead(database)).toBe(database.run);
  expect(getRead({ ...database, read })).toBe(read);
});
