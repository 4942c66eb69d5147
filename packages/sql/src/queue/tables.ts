import type { TableStep } from '../migrations/tables.ts';

/** Jobs that are waiting or leased. A finished one is gone, which is what frees its key. */
export const QUEUE_TABLES: TableStep = {
  name: '0004 queue',
  statements(dialect, names) {
    const table = names.table('jobs');
    const isSqlite = dialect === 'sqlite';
    const text = isSqlite ? 'text' : 'text collate "C"';
    return [
      `create table ${table} (
        sequence ${isSqlite ? 'integer primary key autoincrement' : 'bigint generated always as identity primary key'},
        id ${text} not null unique,
        key ${text} not null unique,
        kind ${text} not null,
        payload ${isSqlite ? 'text' : 'jsonb'} not null,
        run_at bigint not null,
        lease_until bigint,
        attempt integer not null,
        fence bigint not null
      )`,
      `create index "${names.index('jobs', ['runAt'], 'idx')}" on ${table} (run_at, sequence)`,
    ];
  },
};
