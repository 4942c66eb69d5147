import type { TableStep } from '../migrations/tables.ts';

/**
 * What accounts bring from another database. A row without an amount is the key of a grant that was made there, so that each
 * key grants once for ever. A row with an amount is a change of a cap that is made once.
 */
export const LEDGER_MOVES: TableStep = {
  name: '0014 ledger moves',
  statements(dialect, names) {
    const text = dialect === 'sqlite' ? 'text' : 'text collate "C"';
    return [
      `create table ${names.table('ledgerMoves')} (
        account ${text} not null,
        key ${text} not null,
        amount bigint,
        primary key (account, key)
      )${dialect === 'sqlite' ? ' without rowid' : ''}`,
    ];
  },
};
