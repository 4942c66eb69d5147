import { describe, expect, it } from 'vitest';
import { compile, createToFragment, sql } from '../src/store/fragments.ts';

describe('fragments of SQL', () => {
  it('bind every value that is no fragment', () => {
    const filter = sql`owner = ${'o; drop table t'} and tags = any(${['a', 'b']})`;
    const query = sql`select ${sql.raw('count(*)')} from t where ${filter} and size > ${5} and gone is not ${null}`;
    const parameters = ['o; drop table t', ['a', 'b'], 5, null];
    expect(compile(query, 'postgres')).toEqual({
      sql: 'select count(*) from t where owner = $1 and tags = any($2) and size > $3 and gone is not $4',
      parameters,
    });
    expect(compile(query, 'sqlite')).toEqual({
      sql: 'select count(*) from t where owner = ? and tags = any(?) and size > ? and gone is not ?',
      parameters,
    });
  });

  it('bind undefined, which the caller must not pass, as a parameter and not as text', () => {
    expect(compile(sql`a = ${undefined}`, 'postgres')).toEqual({ sql: 'a = $1', parameters: [undefined] });
  });

  it('bind a value that only looks like a fragment', () => {
    const forged: unknown = JSON.parse('{"texts":["1; drop table t"],"values":[]}');
    expect(compile(sql`a = ${forged}`, 'postgres')).toEqual({ sql: 'a = $1', parameters: [forged] });
  });

  it('join lists of values and fragments', () => {
    const compiled = compile(
      sql`(${sql.join([1, sql`now(${2})`, 3])}) ${sql.join([sql`x`, sql`y`], sql` or `)}`,
      'postgres',
    );
    expect(compiled).toEqual({ sql: '($1, now($2), $3) x or y', parameters: [1, 2, 3] });
    expect(compile(sql.join(['only']), 'postgres')).toEqual({ sql: '$1', parameters: ['only'] });
  });

  it('number the parameters of a compiled statement after those before it, each once on PostgreSQL', () => {
    const toFragment = createToFragment();
    const toQuery = (first: string) => {
      const statement = { sql: 'f($2, $1, $2)', parameters: [first, 'second'] };
      return sql`select ${'before'}, ${toFragment(statement)}, ${'after'}`;
    };
    for (const first of ['first', 'another']) {
      expect(compile(toQuery(first), 'postgres')).toEqual({
        sql: 'select $1, f($2, $3, $2), $4',
        parameters: ['before', 'second', first, 'after'],
      });
    }
  });

  it('bind the parameters of a compiled statement in its order on SQLite', () => {
    const statement = { sql: 'f(?, ?)', parameters: ['one', 'two'] };
    expect(compile(sql`select ${'before'}, ${createToFragment()(statement)}`, 'sqlite')).toEqual({
      sql: 'select ?, f(?, ?)',
      parameters: ['before', 'one', 'two'],
    });
  });

  it('add nothing to the text for a statement without parameters', () => {
    expect(compile(sql`(${createToFragment()({ sql: 'select 1', parameters: [] })})`, 'postgres').sql).toBe(
      '(select 1)',
    );
  });
});
