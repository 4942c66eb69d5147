import type { TableStep } from '../migrations/tables.ts';

/** One row per key holds all its windows, so that one row lock makes them one decision. */
export const LIMITER_TABLES: TableStep = {
  name: '0003 limiter',
  statements(dialect, names) {
    const table = names.table('rateWindows');
    const isSqlite = dialect === 'sqlite';
    return [
      `create table ${table} (
        key text not null primary key,
        windows ${isSqlite ? 'text' : 'jsonb'} not null,
        allowed ${isSqlite ? 'integer' : 'boolean'} not null,
        ends_at bigint not null
      )${isSqlite ? '' : ' with (fillfactor = 60)'}`,
      `create index "${names.index('rateWindows', ['endsAt'], 'idx')}" on ${table} (ends_at)`,
    ];
  },
};
