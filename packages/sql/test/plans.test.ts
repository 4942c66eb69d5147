import {
  type Collection,
  defineCollection,
  type Filter,
  type FindOptions,
  type StoredRecord,
} from '@questline/core/ports';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSqlStore, migrate, type SqlDatabase } from '../src/index.ts';
import type { SqlStatement } from '../src/statement.ts';
import { type OpenEngine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from './engines.ts';

const RECORDS = 100_000;
const OWNERS = 20;
const PAGE = 25;

interface Document extends StoredRecord {
  readonly ownerId: string;
  readonly slug: string;
  readonly status: string;
  readonly tags: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

const DOCUMENTS = defineCollection<Document>({
  name: 'documents',
  columns: {
    ownerId: 'text',
    slug: 'text',
    status: 'text',
    tags: 'list',
    createdAt: 'integer',
    updatedAt: 'integer',
  },
  unique: [['ownerId', 'slug']],
  indexes: [['ownerId', 'createdAt'], ['ownerId', 'status', 'updatedAt'], ['tags']],
});

type Order = NonNullable<FindOptions<Document>['order']>;

const LISTS: readonly { readonly name: string; readonly filter: Filter<Document>; readonly order?: Order }[] =
  [
    {
      name: 'newest first',
      filter: { ownerId: 'owner 7' },
      order: { field: 'createdAt', direction: 'desc' },
    },
    { name: 'oldest first', filter: { ownerId: 'owner 7' }, order: { field: 'createdAt', direction: 'asc' } },
    {
      name: 'by status, latest change first',
      filter: { ownerId: 'owner 7', status: 'open' },
      order: { field: 'updatedAt', direction: 'desc' },
    },
    {
      name: 'by a range of time',
      filter: { ownerId: 'owner 7', createdAt: { gte: 90_000, lt: 91_000 } },
      order: { field: 'createdAt', direction: 'desc' },
    },
    { name: 'by unique value', filter: { ownerId: 'owner 7', slug: 'document 27' } },
    { name: 'by some ids', filter: { id: { in: [getId(5), getId(500)] } } },
    { name: 'by id order', filter: {} },
  ];

function getId(number: number): string {
  return number.toString(16).padStart(24, '0');
}

describe.each([SQLITE_FILE, ...(POSTGRES_URL === undefined ? [] : [POSTGRES])])(
  'lists on $name',
  (engine) => {
    let open: OpenEngine;
    let documents: Collection<Document>;
    const seen: SqlStatement[] = [];

    beforeAll(async () => {
      open = await engine.open();
      const { database } = open;
      await migrate(database, { collections: [DOCUMENTS] });
      await fill(database);
      const spied: SqlDatabase = {
        ...database,
        run(statement, options) {
          seen.push(statement);
          return database.run(statement, options);
        },
      };
      documents = createSqlStore(spied).collection(DOCUMENTS);
    }, 60_000);
    afterAll(() => open.close());

    /** The query plan of the last statement. */
    const explainLast = async (): Promise<string> => {
      const statement = seen.at(-1);
      if (statement === undefined) throw new Error('no statement was run');
      const how = open.database.dialect === 'sqlite' ? 'explain query plan' : 'explain';
      const rows = await open.database.run({
        sql: `${how} ${statement.sql}`,
        parameters: statement.parameters,
      });
      return rows.map((row) => String(row.detail ?? row['QUERY PLAN'])).join('\n');
    };

    const expectIndexed = (plan: string, isOrdered: boolean): void => {
      // SQLite also reports SCAN for a list of parameters, and for an index in order.
      const scans = plan.match(/Seq Scan on \S+|SCAN (?!json_each)\S+(?! USING)$/gm);
      expect(scans, plan).toBeNull();
      if (isOrdered) expect(plan).not.toMatch(/USE TEMP B-TREE|^\s*(->)?\s*Sort /m);
      expect(plan).toMatch(/Index|INDEX/);
    };

    it.each(LISTS)('reads $name sorted from an index', async ({ name, filter, order }) => {
      const found = await documents.find(filter, { limit: PAGE, ...(order && { order }) });
      expect(found.length).toBeGreaterThan(0);
      const plan = await explainLast();
      console.log(`${engine.name}, ${name}:\n${plan}`);
      expectIndexed(plan, order !== undefined);
    });

    it('uses an index for a member of a list on PostgreSQL and the records of the owner on SQLite', async () => {
      const found = await documents.find({ ownerId: 'owner 7', tags: { has: 'rare 7' } });
      expect(found.length).toBeGreaterThan(0);
      const plan = await explainLast();
      console.log(`${engine.name}, by tag:\n${plan}`);
      expect(plan).toMatch(engine === POSTGRES ? /documents_tags_list/ : /SEARCH \S+ USING INDEX/);
    });

    it('reads the hundredth page by the plan of the first', async () => {
      const order = { field: 'createdAt', direction: 'desc' } as const;
      const read = async (after: FindOptions<Document>['after']) => {
        const options = { order, limit: PAGE, ...(after && { after }) };
        const times: number[] = [];
        let page: readonly Document[] = [];
        for (let run = 0; run < 30; run += 1) {
          const began = performance.now();
          page = await documents.find({ ownerId: 'owner 7' }, options);
          times.push(performance.now() - began);
        }
        const median = times.sort((a, b) => a - b)[15] ?? 0;
        return { page, median, plan: await explainLast() };
      };

      const first = await read(undefined);
      let after: FindOptions<Document>['after'];
      const ids = new Set<string>();
      for (let page = 1; page < 100; page += 1) {
        const found = await documents.find(
          { ownerId: 'owner 7' },
          { order, limit: PAGE, ...(after && { after }) },
        );
        for (const { id } of found) ids.add(id);
        const last = found.at(-1);
        if (last !== undefined) after = { value: last.createdAt, id: last.id };
      }
      const hundredth = await read(after);

      console.log(
        `${engine.name}: page 1 in ${first.median.toFixed(2)} ms, page 100 in ${hundredth.median.toFixed(2)} ms, ` +
          `ratio ${(hundredth.median / first.median).toFixed(2)}`,
      );
      expect(ids.size).toBe(99 * PAGE);
      expect(hundredth.page).toHaveLength(PAGE);
      expect(hundredth.page.some(({ id }) => ids.has(id))).toBe(false);
      expectIndexed(hundredth.plan, true);
      // The start of the page must be an index condition, not a filter of read rows.
      expect(hundredth.plan).toMatch(
        /Index Cond: .*created_at|SEARCH .*\(owner_id=\? AND \(created_at,id\)<\(\?,\?\)\)/,
      );
    });
  },
);

/** Fast, because the database generates the records. */
async function fill(database: SqlDatabase): Promise<void> {
  const table = database.names.table('documents');
  const sql =
    database.dialect === 'sqlite'
      ? `insert into ${table} (id, record)
         with recursive n(i) as (select 0 union all select i + 1 from n where i < ${RECORDS - 1})
         select printf('%024x', i), json_object('id', printf('%024x', i), 'ownerId', 'owner ' || (i % ${OWNERS}),
           'slug', 'document ' || i, 'status', case when i % 3 = 0 then 'open' else 'closed' end,
           'tags', json_array('common', 'rare ' || (i % 1000)), 'createdAt', i, 'updatedAt', i * 7 % ${RECORDS}) from n`
      : `insert into ${table} (id, record)
         select lpad(to_hex(i), 24, '0'), jsonb_build_object('id', lpad(to_hex(i), 24, '0'), 'ownerId', 'owner ' || (i % ${OWNERS}),
           'slug', 'document ' || i, 'status', case when i % 3 = 0 then 'open' else 'closed' end,
           'tags', jsonb_build_array('common', 'rare ' || (i % 1000)), 'createdAt', i, 'updatedAt', i * 7 % ${RECORDS})
         from generate_series(0, ${RECORDS - 1}) i`;
  await database.run({ sql, parameters: [] }, { timeoutMs: 60_000 });
  await database.run(
    { sql: `analyze ${database.dialect === 'sqlite' ? '' : table}`, parameters: [] },
    { timeoutMs: 60_000 },
  );
}
