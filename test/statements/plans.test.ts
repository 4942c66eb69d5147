import { COLLECTIONS } from '@questline/core';
import { createSqliteDatabase, migrate } from '@questline/sql';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenEngine, POSTGRES, POSTGRES_URL } from '../../packages/sql/test/engines.ts';
import { fillTables, SMALL_COLLECTIONS } from './filling.ts';
import { TABLES_OF_RUNNING_CALLS } from './filling-tables.ts';
import { explain, type Plan, type PlanMode } from './plan.ts';
import { type RecordedStatement, recordStatements } from './recording.ts';

/*
 * Explains every statement that the operations, their jobs and the periodic tasks run. In CI the tables get 20,000 rows of
 * other owners, which takes about 15 s; `npm run plans` fills 1,000,000.
 */

const FEW = 1000;
const MANY = Number(process.env.QUESTLINE_PLAN_ROWS ?? 20_000);
const TIMEOUT_MS = 7_200_000;
/** The goal: a statement reads at most this many times more rows where there are more of other owners. */
const MAX_GROWTH = 1.5;
/** The rows beside those of the owner on an index page, and old versions of rows. */
const ALLOWANCE = 10;

/** Statements that may read rows in proportion to a table, with the reason. */
const EXCEPTIONS: readonly (readonly [text: RegExp, reason: string])[] = [
  [/^select count\(\*\) as count from \S+ where 1 = 1$/, 'a total: cached where it is large'],
  [/^select ready\.jobs \+ later\.ready/, 'counts of jobs stop at 10,000'],
  [/^select count\(\*\) as charges from/, 'a count of old charges, only for the command'],
  [/^select case when c\.account like 'organization:%'/, 'a report reads the charges of its period'],
];
/** The same on SQLite. */
const SQLITE_EXCEPTIONS: readonly (readonly [text: RegExp, reason: string])[] = [
  ...EXCEPTIONS,
  [/questline_contains\(/, 'SQLite has no index of parts of texts'],
  [
    /where 1 = 1 order by \S+ (asc|desc)(, id (asc|desc))? limit \?$/,
    'a page of all records, in the order of an index',
  ],
  [/registration_invites" where \("code" is not null\)/, 'invites of older versions, once at the start'],
];

/** Collections that these requests do not reach, in the order of `COLLECTIONS`. */
const UNUSED = [
  // Only through the wire of OpenAI, MCP, tool servers of users and identities of hosts.
  ...['conversations', 'conversation_entries', 'mcp_tasks', 'tool_credentials', 'tool_authorizations'],
  ...['tool_clients', 'external_ids', 'founders', 'enrichment_places'],
  // Queue and event log have tables of their own on these engines.
  ...['queued_jobs', 'live_events', 'rejected_usage'],
];

const isException = ({ sql }: RecordedStatement, list = EXCEPTIONS): boolean => {
  const text = sql.replaceAll(/\s+/g, ' ').trim();
  return list.some(([pattern]) => pattern.test(text));
};

/** The tables that do not grow with the age of a database, and the catalogue. */
const isSmall = (table: string): boolean =>
  table.startsWith('pg_') ||
  [...SMALL_COLLECTIONS, ...TABLES_OF_RUNNING_CALLS, 'migrations'].some(
    (name) => table === `questline_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
  );

const show = ({ operation, sql, parameters }: RecordedStatement, what: string): string =>
  `${operation}: ${what}\n  ${sql.replaceAll(/\s+/g, ' ')}\n  ${JSON.stringify(parameters).slice(0, 500)}`;

/** A shorter text is in no index of parts: such a search reads the list in its order. */
function withLongSearches(statement: RecordedStatement): RecordedStatement {
  const parameters = statement.parameters.map((value) =>
    typeof value === 'string' && /^%.{1,2}%$/.test(value) ? '%unlisted%' : value,
  );
  return { ...statement, parameters };
}

describe.skipIf(POSTGRES_URL === undefined)('statements on PostgreSQL', () => {
  const modes: readonly PlanMode[] = ['custom', 'usual', 'generic'];
  let open: OpenEngine;
  let client: pg.Client;
  let statements: readonly RecordedStatement[] = [];
  const plans = new Map<number, Map<string, Plan>>();

  const explainAll = async (): Promise<Map<string, Plan>> => {
    const found = new Map<string, Plan>();
    for (const statement of statements) {
      for (const mode of modes) found.set(`${mode} ${statement.sql}`, await explain(client, statement, mode));
    }
    return found;
  };

  beforeAll(async () => {
    open = await POSTGRES.open();
    const { database, address } = open;
    if (address.dialect !== 'postgres') throw new Error('not PostgreSQL');
    await migrate(database, { collections: COLLECTIONS });
    statements = (await recordStatements(database))
      .filter(
        ({ sql }) => /^(select|with|insert|update|delete)/.test(sql.trim()) && !sql.includes('pg_advisory'),
      )
      .map(withLongSearches);
    client = new pg.Client({ connectionString: address.url });
    await client.connect();
    const { rows } = await client.query('select tablename from pg_tables where schemaname = $1', [
      address.schema,
    ]);
    const tables = rows.map(({ tablename }) => `${address.schema}.${tablename}`);
    // Filled in half of the time.
    for (const table of tables) await client.query(`alter table ${table} set unlogged`);
    for (const [from, to] of [
      [0, FEW],
      [FEW, MANY],
    ] as const) {
      await fillTables(database, from, to);
      for (const table of tables) await client.query(`vacuum analyze ${table}`);
      plans.set(to, await explainAll());
    }
    console.log(`${statements.length} statements, ${MANY} rows in each table`);
  }, TIMEOUT_MS);
  afterAll(async () => {
    // With many rows this takes longer than a statement of the engine may.
    if (open?.address.dialect === 'postgres') {
      await client?.query(`drop schema if exists ${open.address.schema} cascade`);
    }
    await client?.end();
    await open?.close();
  }, TIMEOUT_MS);

  /** @param what the fault of the plan; undefined: none. */
  const findFaults = (mode: PlanMode, what: (after: Plan, before: Plan) => string | undefined): string[] =>
    statements.flatMap((statement) => {
      // PostgreSQL keeps no plan for a statement without a name.
      if (isException(statement) || (mode === 'generic' && statement.name === undefined)) return [];
      const key = `${mode} ${statement.sql}`;
      const [before, after] = [plans.get(FEW)?.get(key), plans.get(MANY)?.get(key)];
      if (before === undefined || after === undefined) throw new Error(`no plan of ${key}`);
      const fault = what(after, before);
      return fault === undefined ? [] : [show(statement, fault)];
    });

  it('are recorded for reads and writes of all kinds of tables', () => {
    expect(statements.length).toBeGreaterThan(300);
    const texts = statements.map(({ sql }) => sql).join('\n');
    const unused = COLLECTIONS.map(({ name }) => name).filter(
      (name) => !texts.includes(`"questline_${name}"`),
    );
    expect(unused).toEqual(UNUSED);
  });

  it.each(modes)('read no growing table in full: %s plans', (mode) => {
    const faults = findFaults(mode, ({ scanned }) => {
      const grown = scanned.filter((table) => !isSmall(table));
      return grown.length === 0 ? undefined : `reads all of ${grown.join()}`;
    });
    expect(faults.join('\n\n')).toBe('');
  });

  it.each(modes)(`read at most ${MAX_GROWTH} times the rows where others have more: %s plans`, (mode) => {
    const faults = findFaults(mode, ({ rows }, before) =>
      rows !== undefined && rows > (before.rows ?? 0) * MAX_GROWTH + ALLOWANCE
        ? `${before.rows} rows of ${FEW}, ${rows} of ${MANY}`
        : undefined,
    );
    expect(faults.join('\n\n')).toBe('');
  });
});

describe('statements on SQLite', () => {
  it('read no growing table in full', { timeout: TIMEOUT_MS }, async () => {
    const database = createSqliteDatabase({ path: ':memory:' });
    await migrate(database, { collections: COLLECTIONS });
    const statements = (await recordStatements(database)).filter(({ sql }) =>
      /^(select|with|insert|update|delete)/.test(sql.trim()),
    );
    const faults: string[] = [];
    for (const statement of statements) {
      if (isException(statement, SQLITE_EXCEPTIONS)) continue;
      const { sql, parameters } = statement;
      const rows = await database.run({ sql: `explain query plan ${sql}`, parameters });
      const scanned = rows.flatMap(({ detail }) => /^SCAN (questline_\w+)/.exec(String(detail))?.[1] ?? []);
      const grown = scanned.filter((table) => !isSmall(table));
      if (grown.length > 0) faults.push(show(statement, `reads all of ${grown.join()}`));
    }
    console.log(`${statements.length} statements`);
    expect(statements.length).toBeGreaterThan(300);
    expect(faults.join('\n\n')).toBe('');
    await database.close();
  });
});
