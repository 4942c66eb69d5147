import type { TableStep } from '../migrations/tables.ts';
import { quote } from '../names.ts';

/** Waiting and leased jobs. A finished job is deleted, which frees its key. */
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

/**
 * The owner of a job, and whether it can be leased now. Ready jobs have their own index, by kind
 * and owner: a few index steps find the next owner, for any number of waiting jobs.
 */
export const QUEUE_OWNERS: TableStep = {
  name: '0007 queue owners',
  statements(dialect, names) {
    const table = names.table('jobs');
    const text = dialect === 'sqlite' ? 'text' : 'text collate "C"';
    return [
      // Defaults for processes of an older version: the next claim checks their jobs.
      `alter table ${table} add column owner ${text} not null default ''`,
      `alter table ${table} add column ready integer not null default 0`,
      `alter table ${table} add column due_at bigint not null default 0`,
      `update ${table} set due_at = coalesce(lease_until, run_at)`,
      // Planners would use it to find the oldest job of an owner and scan all others. No query needs it.
      `drop index if exists ${names.schema === undefined ? '' : `${quote(names.schema)}.`}"${names.index('jobs', ['runAt'], 'idx')}"`,
      `create index "${names.index('jobs', ['ready'], 'idx')}" on ${table} (kind, owner, run_at, sequence) where ready = 1`,
      `create index "${names.index('jobs', ['dueAt'], 'idx')}" on ${table} (due_at) where ready = 0`,
    ];
  },
};
