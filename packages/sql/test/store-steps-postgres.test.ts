import { defineCollection, type StoredRecord, type StoreWrite, writesTo } from '@questline/core/ports';
import { expect, it } from 'vitest';
import { createPostgresDatabase, createSqlStore } from '../src/index.ts';
import type { SqlStatement } from '../src/statement.ts';
import { defineConditional, type EngineWork, toEngineWrite } from '../src/store/engine-write.ts';

interface Letter extends StoredRecord {
  readonly ownerId: string;
  readonly name?: string;
}

const LETTERS = defineCollection<Letter>({
  name: 'letters',
  columns: { ownerId: 'text', name: 'text' },
  unique: [['ownerId', 'name']],
  indexes: [],
});
const to = writesTo(LETTERS);

/** A store whose statements are noted, and answered with these rows. */
function setUp(rows: readonly object[] = [{ done: 1 }]) {
  const statements: SqlStatement[] = [];
  const inner = createPostgresDatabase({ connection: { query: async () => ({ rows: [] }) } });
  const database: typeof inner = {
    ...inner,
    async run(statement) {
      statements.push(statement);
      return rows as never;
    },
  };
  const store = createSqlStore(database);
  const write = (...writes: readonly StoreWrite[]) => store.writeAll?.(writes);
  const work = (row?: string): EngineWork => ({
    toStatement: (condition) => ({ sql: `select 1 as done where ${condition}`, parameters: [] }),
    expected: { sql: '1 = 1', parameters: [] },
    ...(row !== undefined && { row }),
  });
  return { statements, write, toEngine: (row?: string) => toEngineWrite(database, work(row)) };
}

/** How often a text is in the statement. */
const count = (statement: SqlStatement | undefined, part: string) =>
  (statement?.sql.split(part).length ?? 1) - 1;

it('has an effect if the answer says so', async () => {
  const cases: readonly (readonly [readonly object[], boolean])[] = [
    [[{ done: 1 }], true],
    [[{ done: '1' }], true],
    [[{ done: 0 }], false],
    [[{ done: 2 }], false],
    [[], false],
  ];
  for (const [rows, isDone] of cases) {
    expect(await setUp(rows).write(to.remove('a'))).toBe(isDone);
  }
});

it('takes its turn at the first busy row of its writes', async () => {
  const rows = async (...names: readonly (string | undefined)[]) => {
    const { statements, write, toEngine } = setUp();
    await write(to.expect('a'), ...names.map(toEngine));
    return statements.map((statement) => ('row' in statement ? statement.row : 'none'));
  };
  expect(await rows()).toEqual(['none']);
  expect(await rows(undefined)).toEqual(['none']);
  expect(await rows('busy')).toEqual(['busy']);
  expect(await rows(undefined, 'first', 'second')).toEqual(['first']);
});

it('is one statement, whose first write looks at what the others expect', async () => {
  const { statements, write } = setUp();
  const insert = (id: string, name?: string) =>
    to.insert({ id, ownerId: 'o', ...(name !== undefined && { name }) });
  await write(insert('a', 'n'));
  await write(to.count('c', {}), insert('a', 'n'));
  await write(to.count('c', {}), insert('a'));
  await write(to.expect('a'), to.expect('b'), to.count('c', {}), insert('d', 'n'));
  await write(to.expect('a'), to.expect('b'));
  expect(statements).toHaveLength(5);
  const shapes = statements.map((one) => [
    count(one, 'checked as materialized'),
    count(one, 'not exists'),
    count(one, 'exists (select 1 from checked)'),
    count(one, 'exists (select 1 from step_0)'),
    count(one, 'exists (select 1 from step_2)'),
  ]);
  expect(shapes).toEqual([
    // The conflict itself decides.
    [0, 0, 0, 1, 0],
    [1, 2, 1, 2, 0],
    // An absent value equals nothing.
    [1, 1, 1, 2, 0],
    [1, 2, 1, 1, 2],
    [1, 0, 1, 2, 0],
  ]);
  expect(count(statements[3], '1 / (select count(*) from step_3)')).toBe(1);
  expect(count(statements[4], '1 / (select count(*) from step_1)')).toBe(1);
  expect(count(statements[3], 'for key share')).toBe(2);
});

it('sends only a look for reads', async () => {
  const { statements, write } = setUp([{ done: 1, read_0: '[{"id":"a"}]', read_1: null }]);
  const found: (readonly object[])[] = [];
  const read = to.read({}, 2, (records) => found.push(records));
  expect(await write(read, read)).toBe(true);
  expect(found).toEqual([[{ id: 'a' }], []]);
  expect(count(statements[0], 'step_0')).toBe(0);
});

it('compiles a condition once', () => {
  const asked: string[] = [];
  const define = defineConditional<'id'>('postgres', (condition) => {
    asked.push(condition);
    return `select @id where ${condition}`;
  });
  for (const id of ['a', 'b']) {
    expect(define({ id })('1 = 1')).toMatchObject({ sql: 'select $1 where 1 = 1', parameters: [id] });
  }
  expect(define({ id: 'c' })('2 = 2')).toMatchObject({ sql: 'select $1 where 2 = 2' });
  expect(asked).toEqual(['1 = 1', '2 = 2']);
});
