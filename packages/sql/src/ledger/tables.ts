import type { TableStep } from '../migrations/tables.ts';

/** Micro-credits are counted exactly up to here in every engine and in JavaScript. */
const MOST = Number.MAX_SAFE_INTEGER;

/**
 * `accounts` and `caps` carry running sums, so that a hold costs the same however long the history is. `holds` is what is
 * open now: small, however long the history is; a row that counts in the sums is `counted`. `charges` is every paid call,
 * `entries` the history that the sums can be recomputed from.
 */
export const LEDGER_TABLES: TableStep = {
  name: '0002 ledger',
  statements(dialect, names) {
    const isSqlite = dialect === 'sqlite';
    const json = isSqlite ? 'text' : 'jsonb';
    const text = isSqlite ? 'text' : 'text collate "C"';
    const sequence = isSqlite ? 'integer primary key autoincrement' : 'bigint generated always as identity';
    // Room in every page lets an update stay on it, without touching any index.
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
        posted bigint not null check (posted between -${MOST} and ${MOST}),
        held bigint not null check (held between 0 and ${MOST})
      )${room}`,
      `create table ${caps} (
        id ${text} not null primary key,
        charged bigint not null check (charged between 0 and ${MOST}),
        held bigint not null check (held between 0 and ${MOST})
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
