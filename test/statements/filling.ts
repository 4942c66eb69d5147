import { COLLECTIONS } from '@questline/core';
import type { CollectionShape, ColumnType } from '@questline/core/ports';
import type { SqlDatabase } from '@questline/sql';
import { NOW } from '../support/test-app.ts';
import { fillOwnTables } from './filling-tables.ts';

/** Records of one owner, session, lake and so on. */
const PER_OWNER = 20;
const TIMEOUT_MS = 900_000;

/** Collections with one record per server or provider: they do not grow. */
export const SMALL_COLLECTIONS: readonly string[] = [
  'admin_settings',
  'founders',
  'periodic_tasks',
  'rejected_usage',
  'tool_clients',
];

/** SQL texts of values that most records have in a database of some age; other text differs by owner. Null: absent. */
const COMMON_VALUES: Readonly<Record<string, string | null>> = {
  ...{ status: "'done'", state: "'done'", type: "'message'", kind: "'image'", event: "'login'" },
  ...{ action: "'user.updated'", publication: "'private'", visibility: "'private'", subject: "'account'" },
  ...{ step: null, source: null, liveSince: null, pendingFor: null },
  ...{ projectId: null, reported: null, usesLeft: '1', runAt: String(NOW - 1000), leaseUntil: null },
};

/** Further fields that answers need, by collection. */
const MORE: Readonly<Record<string, string>> = {
  users: `'preferences', '{}'::jsonb, 'tier', 'free'`,
  organizations: `'subscriptionTier', 'free', 'subscriptionStatus', 'trial'`,
  subscriptions: `'currentPeriodEnd', null`,
  audit_log: `'changes', '[]'::jsonb, 'targetType', 'user', 'actorType', 'user'`,
};

/** Fields of work that has not ended. */
const ABSENT = /^(?:ask|tend)/;
const END_TIME = /^(?:expiresAt|checkAt|until|renewingUntil)$/;
const START_TIME = /At$|^last|^first/;

/** SQL text of a value of record `i`. */
function toValue(field: string, type: ColumnType, isUnique: boolean): string | null {
  if (ABSENT.test(field)) return null;
  if (field in COMMON_VALUES && !isUnique) return COMMON_VALUES[field] ?? null;
  switch (type) {
    case 'text':
      return `'${field} ' || ${isUnique ? 'i' : `i / ${PER_OWNER}`}`;
    case 'integer':
      if (isUnique) return 'i';
      if (END_TIME.test(field)) return `${NOW} + 1000000000 + i`;
      return START_TIME.test(field) ? `${NOW} - i` : '1';
    case 'boolean':
      return 'false';
    case 'list':
      return `jsonb_build_array('${field} ' || i)`;
  }
}

function getRecord(shape: CollectionShape): string {
  const fields = Object.entries(shape.columns).flatMap(([field, type]) => {
    const isUnique = shape.unique.some((rule) => rule.at(-1) === field);
    const value = type === undefined || COMMON_VALUES[field] === null ? null : toValue(field, type, isUnique);
    return value === null ? [] : [`'${field}', ${value}`];
  });
  return [...fields, ...(MORE[shape.name] === undefined ? [] : [MORE[shape.name]])].join(', ');
}

/** Adds rows of other owners with the numbers `from` to `to` to all tables that grow. The database generates them. */
export async function fillTables(
  database: SqlDatabase,
  from: number,
  to: number,
  isFilled: (table: string) => boolean = () => true,
): Promise<void> {
  const run = async (sql: string): Promise<void> => {
    await database.run({ sql, parameters: [] }, { timeoutMs: TIMEOUT_MS });
  };
  const numbers = `generate_series(${from}, ${to - 1}) i`;
  for (const shape of COLLECTIONS) {
    if (SMALL_COLLECTIONS.includes(shape.name) || !isFilled(shape.name)) continue;
    const id = `'f' || lpad(to_hex(i), 23, '0')`;
    const table = database.names.table(shape.name);
    await run(
      `insert into ${table} (id, record)
       select ${id}, jsonb_build_object('id', ${id}, ${getRecord(shape)}) from ${numbers}`.replace(
        ', )',
        ')',
      ),
    );
  }
  for (const [table, statement] of fillOwnTables(database.names, numbers)) {
    if (isFilled(table)) await run(statement);
  }
}
