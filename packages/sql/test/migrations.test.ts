import { type CollectionDefinition, defineCollection } from '@questline/core/ports';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSqlStore, migrate } from '../src/index.ts';
import { ENGINES, type OpenEngine } from './engines.ts';

interface Thing {
  readonly id: string;
  readonly ownerId: string;
  readonly title?: string;
  readonly size?: number;
  readonly tags?: readonly string[];
}

const FIRST: CollectionDefinition<Thing> = defineCollection<Thing>({
  name: 'things',
  columns: { ownerId: 'text' },
  unique: [],
  indexes: [['ownerId']],
});

const SECOND: CollectionDefinition<Thing> = defineCollection<Thing>({
  name: 'things',
  columns: { ownerId: 'text', title: 'text', size: 'integer', tags: 'list' },
  unique: [['ownerId', 'title']],
  indexes: [['ownerId'], ['ownerId', 'size']],
});

describe.each(ENGINES)('migrations on $name', (engine) => {
  let open: OpenEngine;
  beforeEach(async () => {
    open = await engine.open();
    // PGlite starts slowly on a busy machine.
  }, 180_000);
  afterEach(() => open.close());

  const run = (sql: string) => open.database.run({ sql, parameters: [] });

  it('runs each step once', async () => {
    const first = await migrate(open.database, { collections: [FIRST] });
    const second = await migrate(open.database, { collections: [FIRST] });

    expect(first.map(({ name }) => name.split(' ')[1])).toContain('things');
    expect(second).toEqual([]);
  });

  it('prints the pending steps and runs nothing', async () => {
    const planned = await migrate(open.database, { collections: [FIRST], dryRun: true });
    const plannedAgain = await migrate(open.database, { collections: [FIRST], dryRun: true });
    const done = await migrate(open.database, { collections: [FIRST] });

    expect(planned).toEqual(plannedAgain);
    expect(done).toEqual(planned);
    expect(planned.flatMap(({ statements }) => statements).join()).toContain('create table');
  });

  it('adds the columns of an extended definition and fills them from stored records', async () => {
    await migrate(open.database, { collections: [FIRST] });
    const store = createSqlStore(open.database);
    const old = store.collection(FIRST);
    await old.insert({ id: 'a', ownerId: 'u', title: 'One', size: 3, tags: ['red'] });
    await old.insert({ id: 'b', ownerId: 'u' });

    const reports = await migrate(open.database, { collections: [SECOND] });
    const things = store.collection(SECOND);

    expect(reports).toHaveLength(1);
    // Triggers contain such words.
    for (const statement of reports.flatMap(({ statements }) => statements)) {
      expect(statement).not.toMatch(/^(?:drop|delete|update)/i);
    }
    expect(await things.find({ size: { gt: 2 } })).toMatchObject([{ id: 'a' }]);
    expect(await things.find({ tags: { has: 'red' } })).toMatchObject([{ id: 'a' }]);
    expect(await things.insert({ id: 'c', ownerId: 'u', title: 'One' })).toBe(false);
  });

  it('lets a process of the older version write beside the newer one', async () => {
    await migrate(open.database, { collections: [FIRST] });
    const old = createSqlStore(open.database).collection(FIRST);
    await migrate(open.database, { collections: [SECOND] });
    const things = createSqlStore(open.database).collection(SECOND);

    await old.insert({ id: 'a', ownerId: 'u', title: 'One', size: 3 });
    await old.update('a', { size: 9 });

    expect(await migrate(open.database, { collections: [FIRST] })).toEqual([]);
    expect(await things.find({ size: 9, title: 'One' })).toMatchObject([{ id: 'a' }]);
  });

  it('rejects a changed column type and changes nothing', async () => {
    await migrate(open.database, { collections: [SECOND] });
    const other = { ...SECOND, columns: { ...SECOND.columns, size: 'text' } } as const;

    await expect(migrate(open.database, { collections: [other] })).rejects.toThrow(
      /things\.size is (bigint|integer) in the database and text in the definition/,
    );

    expect(await migrate(open.database, { collections: [SECOND] })).toEqual([]);
  });

  it('rejects two collections on one table', async () => {
    const collections = [FIRST, { ...SECOND, name: 'Things' }];
    await expect(migrate(open.database, { collections })).rejects.toThrow(
      /things of the collection Things is taken/,
    );
    const own = { ...FIRST, name: 'ledger_entries' };
    await expect(migrate(open.database, { collections: [own] })).rejects.toThrow(/is taken/);
  });

  it('rolls back a failed step and continues after the cause is removed', async () => {
    await migrate(open.database, { collections: [FIRST] });
    const store = createSqlStore(open.database);
    const old = store.collection(FIRST);
    await old.insert({ id: 'a', ownerId: 'u', title: 'Same', size: 1 });
    await old.insert({ id: 'b', ownerId: 'u', title: 'Same', size: 2 });

    await expect(migrate(open.database, { collections: [SECOND] })).rejects.toThrow();
    await old.update('b', { title: 'Other' });

    expect(await migrate(open.database, { collections: [SECOND] })).toHaveLength(1);
    expect(await store.collection(SECOND).find({ size: 2 })).toMatchObject([{ title: 'Other' }]);
  });

  it('runs beside tables of other applications', async () => {
    const theirs = open.database.names.table('hostUsers');
    await run(`create table ${theirs} (name text)`);
    await run(`insert into ${theirs} values ('theirs')`);

    await migrate(open.database, { collections: [FIRST] });

    expect(await run(`select name from ${theirs}`)).toEqual(
      [{ name: 'theirs' }].map((row) => expect.objectContaining(row)),
    );
    await run(`drop table ${theirs}`);
  });
});
