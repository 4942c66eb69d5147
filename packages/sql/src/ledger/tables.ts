import type { TableStep } from '../migrations/tables.ts';

/** The maximum of exact micro-credits in every engine and in JavaScript. */
const MAX_COUNT = Number.MAX_SAFE_INTEGER;

/**
 * `accounts` and `caps` have running sums, so that the cost of a hold does not depend on the history. `holds` has the
 * open holds; a row that the sums include is `counted`. `charges` has every paid call,
 * `entries` the history, from which the sums can be recomputed.
 */
export const LEDGER_TABLES: TableStep = {
  name: '0002 ledger',
  statements(dialect, names) {
    const isSqlite = dialect === 'sqlite';
    const json = isSqlite ? 'text' : 'jsonb';
    const text = isSqlite ? 'text' : 'text collate "C"';
    const sequence = isSqlite ? 'integer primary key autoincrement' : 'bigint generated always as identity';
    // Free space in each page allows heap-only updates, which change no index.
    const room = isSqlite ? '' : ' with (fillfactor = 60)';
    const accounts = names.table('ledgerAccounts');
    const caps = names.table('ledgerCaps');
    const holds = names.table('ledgerHolds');
    const charges = names.table('ledgerCharges');
    const entries = names.table('ledgerEntries');
    const index = (table: string, fields: string[], kind: 'idx' | 'key') =>
      `"${names.index(table, fields, kind)}"`;
    return [
      `create table ${accounts} (
        account ${text} not null primary key,
        posted bigint not null check (posted between -${MAX_COUNT} and ${MAX_COUNT}),
        held bigint not null check (held between 0 and ${MAX_COUNT})
      )${room}`,
      `create table ${caps} (
        id ${text} not null primary key,
        charged bigint not null check (charged between 0 and ${MAX_COUNT}),
        held bigint not null check (held between 0 and ${MAX_COUNT})
      )${room}`,
      `create table ${holds} (
        account ${text} not null,
        id ${text} not null,
        amount bigint not null check (amount >= 0),
        expires_at bigint not null,
        cap_id ${text},
        counted ${isSqlite ? 'integer' : 'boolean'} not null,
        primary key (account, id)
      )`,
      `create index ${index('ledgerHolds', ['cap'], 'idx')} on ${holds} (cap_id) where cap_id is not null`,
      `create table ${charges} (
        id ${text} not null primary key,
        kind text not null check (kind in ('hold', 'record')),
        key ${text} not null,
        account ${text} not null,
        reserved bigint not null check (reserved >= 0),
        expires_at bigint not null,
        charged bigint not null check (charged >= 0),
        settled_at bigint,
        cap_id ${text},
        operation text not null,
        model text,
        key_id ${text},
        user_id ${text},
        request_id text,
        usage ${json},
        created_at bigint not null
      )${room}`,
      `create unique index ${index('ledgerCharges', ['key', 'kind'], 'key')} on ${charges} (key, kind)`,
      `create index ${index('ledgerCharges', ['account'], 'idx')} on ${charges} (account, created_at, id)`,
      `create index ${index('ledgerCharges', ['keyId'], 'idx')} on ${charges} (key_id, created_at, id) where key_id is not null`,
      `create index ${index('ledgerCharges', ['userId'], 'idx')} on ${charges} (user_id, created_at, id) where user_id is not null`,
      `create table ${entries} (
        sequence ${sequence},
        account ${text} not null,
        kind text not null check (kind in ('grant', 'charge')),
        amount bigint not null,
        key ${text} not null,
        reason text not null,
        created_at bigint not null${isSqlite ? '' : ', primary key (account, sequence)'}
      )`,
      ...(isSqlite
        ? [`create index ${index('ledgerEntries', ['account'], 'idx')} on ${entries} (account, sequence)`]
        : []),
      `create unique index ${index('ledgerEntries', ['grant'], 'key')} on ${entries} (account, key) where kind = 'grant'`,
    ];
  },
};

/** The further caps of holds. A row exists until its hold is settled. */
export const LEDGER_HOLD_CAPS: TableStep = {
  name: '0008 ledger hold caps',
  statements(dialect, names) {
    const text = dialect === 'sqlite' ? 'text' : 'text collate "C"';
    return [
      `create table ${names.table('ledgerHoldCaps')} (
        hold_id ${text} not null,
        cap_id ${text} not null,
        unit text not null check (unit in ('credits', 'tokens', 'requests', 'concurrent')),
        amount bigint not null check (amount >= 0),
        primary key (hold_id, cap_id)
      )${dialect === 'sqlite' ? ' without rowid' : ''}`,
    ];
  },
};
