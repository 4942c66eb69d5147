import type { SqlDatabase } from '@questline/sql';
import { NOW } from '../support/test-app.ts';

/** Milliseconds between two charges: a million of them are 11 days. */
const STEP = 1000;
const HOUR = 3_600_000;

/** The tables that have a row per running call: they do not grow with age. */
export const TABLES_OF_RUNNING_CALLS: readonly string[] = ['ledgerHolds', 'ledgerHoldCaps'];

/** Statements that add rows to the tables that are not collections and grow. @param numbers a source of numbers `i`. */
export function fillOwnTables(
  { table }: SqlDatabase['names'],
  numbers: string,
): readonly (readonly [table: string, statement: string])[] {
  const account = `'user:f' || (i / 20)`;
  const key = `'key ' || (i / 20)`;
  const user = `'user ' || (i / 20)`;
  const time = `${NOW} - i::bigint * ${STEP}`;
  return [
    [
      'ledgerAccounts',
      `insert into ${table('ledgerAccounts')} select 'user:f' || i, 1000, 0 from ${numbers}`,
    ],
    ['ledgerCaps', `insert into ${table('ledgerCaps')} select 'cap ' || i, 0, 0 from ${numbers}`],
    [
      'ledgerCharges',
      `insert into ${table('ledgerCharges')} (id, kind, key, account, reserved, expires_at, charged, settled_at, operation,
        model, key_id, user_id, usage, created_at)
      select 'charge ' || i, 'hold', 'charge ' || i, ${account}, 1, ${time}, 1, ${time}, 'sendChatMessage', 'model',
        ${key}, ${user}, '{"input": 1, "output": 1}', ${time} from ${numbers}`,
    ],
    [
      'ledgerEntries',
      `insert into ${table('ledgerEntries')} (account, kind, amount, key, reason, created_at, position)
      select ${account}, 'charge', -1, 'charge ' || i, 'charge', ${time}, i + 1 from ${numbers}`,
    ],
    [
      'ledgerHours',
      `insert into ${table('ledgerHours')} select ${account}, ${user}, ${key}, (${time}) - (${time}) % ${HOUR} - i % 20 * ${HOUR}::bigint, 1
      from ${numbers} on conflict do nothing`,
    ],
    [
      'ledgerArchivedHours',
      `insert into ${table('ledgerArchivedHours')} (account, user_id, key_id, hour, model, operation, requests, charged, input)
      select ${account}, ${user}, ${key}, (${time}) - (${time}) % ${HOUR} - i % 20 * ${HOUR}::bigint, 'model', 'sendChatMessage',
        1, 1, 1 from ${numbers} on conflict do nothing`,
    ],
    [
      'ledgerArchivedKeys',
      `insert into ${table('ledgerArchivedKeys')} (key, kind, id, account, reserved, expires_at, charged)
      select 'archived ' || i, 'hold', 'archived ' || i, ${account}, 1, ${time}, 1 from ${numbers}`,
    ],
    [
      'ledgerMoves',
      `insert into ${table('ledgerMoves')} (account, key) select ${account}, 'moved ' || i from ${numbers}`,
    ],
    [
      'rateWindows',
      `insert into ${table('rateWindows')} select 'key:' || i, '[]', true, ${NOW} + 60000 + i from ${numbers}`,
    ],
    [
      'jobs',
      `insert into ${table('jobs')} (id, key, kind, owner, payload, run_at, due_at, ready, attempt, fence)
      select 'job ' || i, 'job ' || i, 'chat', 'owner ' || (i / 1000), '{}', ${NOW} - 1000, ${NOW} - 1000, 1, 0, 0 from ${numbers}`,
    ],
    [
      'eventBatches',
      `insert into ${table('eventBatches')} select 'stream ' || i, 1, 1, 1, '[]', ${NOW} + 600000 + i from ${numbers}`,
    ],
    // The words of the search: other lakes share them.
    [
      'vectorChunks',
      `insert into ${table('vectorChunks')} (id, lake_id, file_id, dimensions, place, tags, words, embedding, text)
      select 'chunk ' || i, 'lake ' || (i / 20), 'file ' || (i / 20), 3, i % 20, '{}', '{do,hedgehogs,sleep,where}', '{1,0,0}', 'text'
      from ${numbers}`,
    ],
  ];
}
