import { defineCollection } from '@questline/core/ports';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSqlStore, migrate } from '../src/index.ts';
import { ENGINES, type OpenEngine } from './engines.ts';

interface Thing {
  readonly id: string;
  readonly tags?: readonly string[];
}

const THINGS = defineCollection<Thing>({
  name: 'things',
  columns: { tags: 'list' },
  unique: [],
  indexes: [['tags']],
});

const POSTGRES_ENGINES = ENGINES.filter(({ name }) => !name.startsWith('SQLite'));

describe.each(POSTGRES_ENGINES)('the index of a list on $name', (engine) => {
  let open: OpenEngine;
  beforeEach(async () => {
    open = await engine.open();
    // PGlite starts slowly on a busy machine.
  }, 180_000);
  afterEach(() => open.close());

  const run = (sql: string) => open.database.run({ sql, parameters: [] });
  const listIndexes = async (): Promise<readonly string[]> => {
    const { names } = open.database;
    const rows = await run(
      `select indexdef from pg_indexes where tablename = '${names.plain('things')}' and indexdef like '%gin%'`,
    );
    return rows.map(({ indexdef }) => String(indexdef));
  };

  it('has no entry for a record without the list', async () => {
    await migrate(open.database, { collections: [THINGS] });
    expect(await listIndexes()).toEqual([expect.stringMatching(/WHERE \(tags IS NOT NULL\)$/)]);
  });

  it('replaces the one of an older version', async () => {
    const { names } = open.database;
    const [table, steps] = [names.table('things'), names.table('migrations')];
    await migrate(open.database, { collections: [THINGS] });
    const things = createSqlStore(open.database).collection(THINGS);
    await things.insert({ id: 'a', tags: ['red'] });
    await things.insert({ id: 'b' });
    const schema = names.schema === undefined ? '' : `"${names.schema}".`;
    await run(`drop index ${schema}"${names.index('things', ['tags'], 'list')}"`);
    await run(
      `create index "${names.index('things', ['tags'], 'idx')}" on ${table} using gin (tags jsonb_path_ops)`,
    );
    await run(`delete from ${steps} where name like 'collection things %'`);

    await migrate(open.database, { collections: [THINGS] });

    expect(await listIndexes()).toEqual([expect.stringMatching(/WHERE \(tags IS NOT NULL\)$/)]);
    expect(await things.find({ tags: { has: 'red' } })).toMatchObject([{ id: 'a' }]);
    expect(await migrate(open.database, { collections: [THINGS] })).toEqual([]);
  });
});
