import { type CollectionShape, defineCollection } from '@questline/core/ports';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TransactionOptions } from '../src/database.ts';
import { createPostgresDatabase, createSqliteDatabase, migrate, type SqlDatabase } from '../src/index.ts';
import { collectionStep } from '../src/migrations/collections.ts';
import { searchSteps } from '../src/migrations/search.ts';

interface Thing {
  readonly id: string;
  readonly ownerId: string;
  readonly title?: string;
  readonly size?: number;
  readonly isSent?: boolean;
  readonly tags?: readonly string[];
}

const THINGS = defineCollection<Thing>({
  name: 'things',
  columns: { ownerId: 'text', title: 'text', size: 'integer', isSent: 'boolean', tags: 'list' },
  unique: [['ownerId', 'title']],
  indexes: [['ownerId', 'size'], ['tags'], ['ownerId', 'tags'], ['size', 'id']],
});
const PLAIN = defineCollection<Pick<Thing, 'id' | 'ownerId'>>({
  name: 'plain',
  columns: { ownerId: 'text' },
  unique: [],
  indexes: [],
});

function openSqlite(): SqlDatabase {
  const database = createSqliteDatabase({ path: ':memory:' });
  onTestFinished(() => database.close());
  return database;
}

interface Server {
  readonly columns?: Readonly<Record<string, string>>;
  readonly indexes?: readonly string[];
  /** The schema of an extension that is there. */
  readonly extension?: string;
  readonly mayCome?: boolean;
}

/** A server with one table at most, which notes what it is asked. */
function openPostgres(server: Server = {}, schema?: string) {
  const asked: (readonly [string, readonly unknown[] | undefined])[] = [];
  const { columns = {}, indexes = [], extension, mayCome } = server;
  const connection = {
    async query(text: string, values?: unknown[]) {
      asked.push([text, values]);
      if (text.includes('pg_attribute')) {
        const ofTable = values?.includes('questline_migrations') === true ? {} : columns;
        return { rows: Object.entries(ofTable).map(([name, type]) => ({ name, type })) };
      }
      if (text.includes('pg_indexes')) return { rows: indexes.map((name) => ({ name })) };
      if (text.includes('is_there')) {
        return { rows: [{ is_there: extension !== undefined, may_come: mayCome === true }] };
      }
      if (text.includes('pg_extension')) {
        return { rows: extension === undefined ? [] : [{ schema: extension }] };
      }
      return { rows: [] };
    },
  };
  const options = schema === undefined ? {} : { schema };
  return { asked, database: createPostgresDatabase({ connection, ...options }) };
}

const plan = (database: SqlDatabase, definition: CollectionShape) =>
  collectionStep(database, definition).plan(database);

describe('the step of a collection', () => {
  it('keeps the name under which databases have recorded it', () => {
    const names = [openSqlite(), openPostgres().database].flatMap((database) =>
      [THINGS, PLAIN].map((definition) => collectionStep(database, definition).name),
    );
    expect(names).toEqual([
      'collection things 624bdfad8c247692',
      'collection plain 5db40636a1d944d8',
      'collection things f337b9934f063c00',
      'collection plain 5db40636a1d944d8',
    ]);
    const { ownerId, ...columns } = THINGS.columns;
    const reordered = { ...THINGS, columns: { ...columns, ownerId } };
    expect(collectionStep(openPostgres().database, reordered).name).toBe(names[2]);
  });

  it('creates a table with its columns and indexes on PostgreSQL', async () => {
    const { database } = openPostgres();
    expect(await plan(database, THINGS)).toEqual([
      `create table "questline_things" (id text collate "C" not null primary key, record jsonb not null, "owner_id" text collate "C" generated always as (record ->> 'ownerId') stored, "title" text collate "C" generated always as (record ->> 'title') stored, "size" bigint generated always as ((record ->> 'size')::bigint) stored, "is_sent" boolean generated always as ((record ->> 'isSent')::boolean) stored, "tags" jsonb generated always as (record -> 'tags') stored)`,
      'create unique index "questline_things_owner_id_title_key" on "questline_things" ("owner_id", "title")',
      'create index "questline_things_owner_id_size_idx" on "questline_things" ("owner_id" nulls first, "size" nulls first, id)',
      'create index "questline_things_owner_id_idx" on "questline_things" ("owner_id" nulls first, id)',
      'create index "questline_things_size_id_idx" on "questline_things" ("size" nulls first, id)',
      'create index "questline_things_tags_list" on "questline_things" using gin ("tags" jsonb_path_ops) where "tags" is not null',
    ]);
  });

  it('creates a table with its columns, indexes and lists on SQLite', async () => {
    const statements = await plan(openSqlite(), THINGS);
    expect(statements.map((one) => one.replace(/\s+(?:when|begin|select) .*$/s, ' …'))).toEqual([
      `create table "questline_things" (id text not null primary key, record text not null, "owner_id" text generated always as (json_extract(record, '$."ownerId"')) stored, "title" text generated always as (json_extract(record, '$."title"')) stored, "size" integer generated always as (json_extract(record, '$."size"')) stored, "is_sent" integer generated always as (json_extract(record, '$."isSent"')) stored, "tags" text generated always as (json_extract(record, '$."tags"')) stored)`,
      'create unique index "questline_things_owner_id_title_key" on "questline_things" ("owner_id", "title")',
      'create index "questline_things_owner_id_size_idx" on "questline_things" ("owner_id", "size", id)',
      'create index "questline_things_owner_id_idx" on "questline_things" ("owner_id", id)',
      'create index "questline_things_size_id_idx" on "questline_things" ("size", id)',
      'create table if not exists "questline_things_tags_members" (value text not null, id text not null, primary key (value, id)) without rowid',
      'create trigger if not exists "questline_things_tags_members_insert" after insert on "questline_things" …',
      'create trigger if not exists "questline_things_tags_members_update" after update of record on "questline_things" …',
      'create trigger if not exists "questline_things_tags_members_delete" after delete on "questline_things" …',
      'insert or ignore into "questline_things_tags_members" (value, id) …',
    ]);
    expect((await plan(openSqlite(), PLAIN)).length).toBe(1);
  });

  it('adds columns to a table on SQLite that are computed when they are read', async () => {
    const database = openSqlite();
    await migrate(database, { collections: [PLAIN] });
    const columns = { ownerId: 'text', size: 'integer' } as const;
    const wider = { ...PLAIN, columns, unique: [], indexes: [['size']] };
    expect(await plan(database, wider)).toEqual([
      `alter table "questline_plain" add column "size" integer generated always as (json_extract(record, '$."size"')) virtual`,
      'create index "questline_plain_size_idx" on "questline_plain" ("size", id)',
    ]);
    await migrate(database, { collections: [wider] });
    expect(await plan(database, wider)).toEqual([]);
    const other = { ...wider, columns: { ...columns, size: 'text' } } as const;
    await expect(plan(database, other)).rejects.toThrow('size is integer in the database and text in');
  });

  it('adds only what a table lacks', async () => {
    const columns = { id: 'text', record: 'jsonb', owner_id: 'text', size: 'BIGINT', tags: 'jsonb' };
    const all = await plan(openPostgres().database, THINGS);
    const indexes = all.slice(1).map((one) => /index "([^"]+)"/.exec(one)?.[1] ?? '');
    const { database } = openPostgres({ columns, indexes: indexes.slice(1) });
    expect(await plan(database, THINGS)).toEqual([
      `alter table "questline_things" add column "title" text collate "C" generated always as (record ->> 'title') stored`,
      `alter table "questline_things" add column "is_sent" boolean generated always as ((record ->> 'isSent')::boolean) stored`,
      'create unique index "questline_things_owner_id_title_key" on "questline_things" ("owner_id", "title")',
    ]);
  });

  it('replaces the index of lists of older versions', async () => {
    const columns = { owner_id: 'text', title: 'text', size: 'bigint', is_sent: 'boolean', tags: 'jsonb' };
    const all = await plan(openPostgres().database, THINGS);
    const indexes = all.slice(1).map((one) => /index "([^"]+)"/.exec(one)?.[1] ?? '');
    const former = 'questline_things_tags_idx';
    const old = { columns, indexes: [...indexes.filter((one) => !/list/.test(one)), former] };
    const toDrops = async (schema?: string) =>
      (await plan(openPostgres(old, schema).database, THINGS)).filter((one) => one.startsWith('drop'));
    expect(await toDrops()).toEqual([`drop index "${former}"`]);
    expect(await toDrops('mine')).toEqual([`drop index "mine"."${former}"`]);
    expect(await plan(openPostgres({ columns, indexes: [...indexes, former] }).database, THINGS)).toEqual([]);
  });

  it('drops no index for another rule', async () => {
    const former = 'questline_plain_owner_id_idx';
    const { database } = openPostgres({ columns: { owner_id: 'text' }, indexes: [former] });
    expect(await plan(database, { ...PLAIN, unique: [['ownerId']] })).toEqual([
      'create unique index "questline_plain_owner_id_key" on "questline_plain" ("owner_id")',
    ]);
  });

  it('refuses a column of another type', async () => {
    const { database } = openPostgres({ columns: { owner_id: 'bigint' } });
    await expect(plan(database, PLAIN)).rejects.toThrow(
      "questline_plain.owner_id is bigint in the database and text in the definition of plain: a column's type cannot change",
    );
  });
});

describe('the step of a search', () => {
  const SEARCHED = { ...THINGS, search: ['title', 'ownerId'] } as const;

  it('is for PostgreSQL, and for collections that are searched', () => {
    expect(searchSteps(openSqlite(), SEARCHED)).toEqual([]);
    const { database } = openPostgres();
    expect([searchSteps(database, PLAIN), searchSteps(database, { ...PLAIN, search: [] })]).toEqual([[], []]);
    expect(searchSteps(database, SEARCHED).map(({ name }) => name)).toEqual(['search things title ownerId']);
  });

  it.each<[Server, boolean]>([
    [{}, false],
    [{ mayCome: true }, true],
    [{ extension: 'public' }, true],
  ])('waits for the extension: %j', async (server, applies) => {
    const { database, asked } = openPostgres(server);
    const [step] = searchSteps(database, SEARCHED);
    expect(await step?.applies?.(database)).toBe(applies);
    expect(asked.map(([, values]) => values)).toEqual([['pg_trgm']]);
  });

  it.each([undefined, 'extensions'])(
    'creates an index of each field, in the schema %s',
    async (extension) => {
      const { database } = openPostgres(extension === undefined ? {} : { extension }, 'mine');
      const [step] = searchSteps(database, SEARCHED);
      const statements = await step?.plan(database);
      const operators = extension === undefined ? 'gin_trgm_ops' : `"${extension}".gin_trgm_ops`;
      expect(statements).toEqual([
        "select pg_advisory_xact_lock(hashtextextended('pg_trgm', 0))",
        'create extension if not exists pg_trgm',
        ...['title', 'owner_id'].map((column) =>
          expect.stringContaining(`using gin (("${column}" collate "default") ${operators})`),
        ),
      ]);
    },
  );
});

describe('a migration', () => {
  it('only says what it would do, if that is asked for', async () => {
    const database = openSqlite();
    const planned = await migrate(database, { collections: [PLAIN], dryRun: true });
    const sql = 'select count(*) as tables from sqlite_master';
    expect(await database.run({ sql, parameters: [] })).toMatchObject([{ tables: 0 }]);
    expect(await migrate(database, { collections: [PLAIN] })).toEqual(planned);
  });

  it.each([
    [[PLAIN, { ...PLAIN, name: 'Plain' }], 'the table questline_plain of the collection Plain is taken'],
    [[{ ...PLAIN, name: 'jobs' }], 'the table questline_jobs of the collection jobs is taken'],
  ])('refuses two collections with one table: %#', async (collections, message) => {
    await expect(migrate(openSqlite(), { collections })).rejects.toThrow(message);
  });

  it('records the time of its steps in the type of the engine', async () => {
    const toFirst = async (database: SqlDatabase) =>
      (await migrate(database, { collections: [], dryRun: true }))[0]?.statements.join();
    expect(await toFirst(openSqlite())).toContain('applied_at text not null');
    expect(await toFirst(openPostgres().database)).toContain('applied_at timestamptz not null');
  });

  it('says which step it begins', async () => {
    const database = openSqlite();
    await migrate(database, { collections: [] });
    const steps: unknown[] = [];
    const onStep = (step: object) => steps.push(step);
    const names = [PLAIN, THINGS].map((definition) => collectionStep(database, definition).name);
    await migrate(database, { collections: [PLAIN, THINGS], onStep });
    expect(steps).toEqual([
      // SQLite never needs it.
      { name: '0006 pgvector', at: 1, of: 3 },
      { name: names[0], at: 2, of: 3 },
      { name: names[1], at: 3, of: 3 },
    ]);
  });

  it('records its steps with their statements, each in a transaction of 10 minutes', async () => {
    const inner = openSqlite();
    const options: (TransactionOptions | undefined)[] = [];
    const database = {
      ...inner,
      transaction(work, more) {
        options.push(more);
        return inner.transaction(work, more);
      },
    } as SqlDatabase;
    const reports = await migrate(database, { collections: [PLAIN] });
    expect(options).toEqual(reports.map(() => ({ isolation: 'read committed', timeoutMs: 600_000 })));
    const sql = `select name, statements from ${inner.names.table('migrations')} order by rowid`;
    const rows = await inner.run({ sql, parameters: [] });
    expect(rows.map((row) => ({ ...row }))).toEqual(
      reports.map(({ name, statements }) => ({ name, statements: statements.join(';\n') })),
    );
    options.splice(0);
    await migrate(database, { collections: [THINGS], timeoutMs: 5 });
    expect(options).toEqual([{ isolation: 'read committed', timeoutMs: 5 }]);
  });

  it('leaves out a step that another process has run meanwhile', async () => {
    const database = openSqlite();
    await migrate(database, { collections: [] });
    const others = [PLAIN, THINGS];
    const reports = await migrate(database, {
      collections: others,
      onStep({ at }) {
        if (at !== 1) return;
        const { name } = collectionStep(database, THINGS);
        const sql = `insert into ${database.names.table('migrations')} (name, statements) values (?, '')`;
        void database.run({ sql, parameters: [name] });
      },
    });
    expect(reports.map(({ name }) => name.split(' ')[1])).toEqual(['plain']);
  });

  it('takes a lock of its schema on PostgreSQL, in each step', async () => {
    const { database, asked } = openPostgres({}, 'mine');
    const reports = await migrate(database, { collections: [PLAIN] });
    const locks = asked.filter(([text]) => text.includes('hashtextextended($1'));
    expect(locks.map(([, values]) => values)).toEqual(reports.map(() => ['mine questline_migrations']));
    const looks = asked.filter(([text]) => text.includes('pg_attribute'));
    expect(looks.every(([, values]) => values?.includes('mine'))).toBe(true);
    const plain = openPostgres();
    await migrate(plain.database, { collections: [PLAIN] });
    expect(plain.asked.find(([text]) => text.includes('hashtextextended($1'))?.[1]).toEqual([
      ' questline_migrations',
    ]);
  });
});
