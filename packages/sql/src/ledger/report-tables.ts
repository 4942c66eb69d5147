import type { TableStep } from '../migrations/tables.ts';

/**
 * Reports select charges by the time of the call. Exports read entries in the order of `position`; see `exportEntries`.
 * SQLite has one writer at a time, so there `sequence` is that order.
 */
export const LEDGER_REPORTS: TableStep = {
  name: '0009 ledger reports',
  statements(dialect, names) {
    const charges = names.table('ledgerCharges');
    const entries = names.table('ledgerEntries');
    const index = (table: string, fields: string[]) => `"${names.index(table, fields, 'idx')}"`;
    return [
      `create index ${index('ledgerCharges', ['createdAt'])} on ${charges} (created_at)`,
      ...(dialect === 'sqlite'
        ? []
        : [
            `alter table ${entries} add column position bigint`,
            `create index ${index('ledgerEntries', ['position'])} on ${entries} (position) where position is not null`,
            `create index ${index('ledgerEntries', ['account', 'position'])} on ${entries} (account, position)
               where position is not null`,
            `create index ${index('ledgerEntries', ['new'])} on ${entries} (sequence) where position is null`,
            `create index ${index('ledgerEntries', ['account', 'new'])} on ${entries} (account, sequence)
               where position is null`,
          ]),
    ];
  },
};
