import type pg from 'pg';
import type { SqlStatement } from '../../packages/sql/src/statement.ts';

/** How PostgreSQL plans and runs a statement. */
export interface Plan {
  /** The tables that it reads in full. */
  readonly scanned: readonly string[];
  /** Rows that its scans read, those included that a filter removes. Undefined: the statement cannot run without its rows. */
  readonly rows: number | undefined;
  /** Pages that it reads, in memory or on disk. */
  readonly pages: number;
}

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly PlanNode[];
  readonly [key: string]: unknown;
}

/** `usual`: what PostgreSQL chooses for a statement that a connection runs often. */
export type PlanMode = 'custom' | 'generic' | 'usual';

const SETTINGS = { custom: 'force_custom_plan', generic: 'force_generic_plan', usual: 'auto' } as const;
/** PostgreSQL compares custom plans with the generic one after so many executions. */
const CUSTOM_PLANS = 5;

/** Explains a statement, undoing its effects. */
export async function explain(client: pg.ClientBase, statement: SqlStatement, mode: PlanMode): Promise<Plan> {
  return (await attempt(client, statement, mode, 'analyze')) ?? (await plan(client, statement, mode));
}

async function plan(client: pg.ClientBase, statement: SqlStatement, mode: PlanMode): Promise<Plan> {
  const found = await attempt(client, statement, mode, 'plan');
  if (found === undefined) throw new Error(`no plan: ${statement.sql}`);
  return found;
}

async function attempt(
  client: pg.ClientBase,
  { sql, parameters }: SqlStatement,
  mode: PlanMode,
  how: 'analyze' | 'plan',
): Promise<Plan | undefined> {
  const values = parameters.length === 0 ? '' : `(${parameters.map(toLiteral).join(', ')})`;
  const options = how === 'analyze' ? 'analyze, buffers, timing off, format json' : 'format json';
  const planned = mode === 'usual' ? CUSTOM_PLANS : 0;
  try {
    const results: unknown = await client.query(
      [
        `begin; set local plan_cache_mode = ${SETTINGS[mode]}; set local jit = off`,
        `prepare explained as ${sql}`,
        ...Array.from({ length: planned }, () => `explain execute explained${values}`),
        `explain (${options}) execute explained${values}`,
      ].join(';\n'),
    );
    const { rows } = (results as pg.QueryResult[]).at(-1) ?? { rows: [] };
    const root = rows[0]['QUERY PLAN'][0].Plan as PlanNode;
    const nodes = [...walk(root)];
    const scanned = nodes.flatMap((node) =>
      node['Node Type'] === 'Seq Scan' ? [String(node['Relation Name'])] : [],
    );
    return {
      scanned,
      rows: how === 'analyze' ? countRows(nodes) : undefined,
      pages: Number(root['Shared Hit Blocks'] ?? 0) + Number(root['Shared Read Blocks'] ?? 0),
    };
  } catch (error) {
    if (how === 'plan') throw error;
    return undefined;
  } finally {
    await client.query('rollback; deallocate all');
  }
}

function* walk(node: PlanNode): Iterable<PlanNode> {
  yield node;
  for (const child of node.Plans ?? []) yield* walk(child);
}

const REMOVED = ['Rows Removed by Filter', 'Rows Removed by Index Recheck', 'Rows Removed by Join Filter'];

function countRows(nodes: readonly PlanNode[]): number {
  const scans = nodes.filter(
    (node) => /Scan$/.test(node['Node Type']) && (node['Relation Name'] ?? node['Index Name']) !== undefined,
  );
  return scans.reduce((sum, node) => {
    const each = ['Actual Rows', ...REMOVED].reduce((rows, key) => rows + Number(node[key] ?? 0), 0);
    return sum + each * Number(node['Actual Loops'] ?? 1);
  }, 0);
}

/** SQL text of a parameter; its type follows from the statement. */
function toLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value))
    return quoted(
      `{${value.map((item) => (item === null ? 'null' : `"${String(item).replace(/["\\]/g, '\\$&')}"`)).join()}}`,
    );
  if (value instanceof Uint8Array) return `'\\x${Buffer.from(value).toString('hex')}'`;
  return quoted(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
