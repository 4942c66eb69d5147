import type { TableStep } from '../migrations/tables.ts';
import { UNIT_COLUMNS } from './units.ts';

/**
 * Keeps what archived charges leave. `ledgerArchivedHours` has the sums that reports need, per hour of the call; no value of
 * its key is null. `ledgerArchivedKeys` has the keys, so that each charges once for ever; `released` has the other columns of
 * a released hold, which a late settlement still charges.
 */
export const LEDGER_ARCHIVE: TableStep = {
  name: '0013 ledger archive',
  statements(dialect, names) {
    const isSqlite = dialect === 'sqlite';
    const text = isSqlite ? 'text' : 'text collate "C"';
    const hours = names.table('ledgerArchivedHours');
    const keys = names.table('ledgerArchivedKeys');
    const index = (table: string, fields: string[], kind: 'idx' | 'key') =>
      `"${names.index(table, fields, kind)}"`;
    const end = isSqlite ? ' without rowid' : '';
    return [
      `create table ${hours} (
        hour bigint not null,
        account ${text} not null,
        user_id ${text} not null,
        key_id ${text} not null,
        model text not null,
        operation text not null,
        requests bigint not null,
        charged bigint not null,
        ${Object.values(UNIT_COLUMNS)
          .map((column) => `${column} numeric`)
          .join(', ')},
        primary key (hour, account, user_id, key_id, model, operation)
      )${end}`,
      `create index ${index('ledgerArchivedHours', ['account'], 'idx')} on ${hours} (account, hour)`,
      `create index ${index('ledgerArchivedHours', ['userId'], 'idx')} on ${hours} (user_id, hour)`,
      `create table ${keys} (
        key ${text} not null,
        kind text not null check (kind in ('hold', 'record')),
        id ${text},
        account ${text} not null,
        reserved bigint not null,
        expires_at bigint not null,
        charged bigint not null,
        released ${isSqlite ? 'text' : 'jsonb'},
        primary key (key, kind)
      )${end}`,
      `create unique index ${index('ledgerArchivedKeys', ['id'], 'key')} on ${keys} (id) where id is not null`,
    ];
  },
};
