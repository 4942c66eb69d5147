import type { TableStep } from '../migrations/tables.ts';

/** One row per batch. JSON as text, because events are never queried and jsonb would change their texts. */
export const EVENT_LOG_TABLES: TableStep = {
  name: '0010 event log',
  statements(dialect, names) {
    const table = names.table('eventBatches');
    const text = dialect === 'sqlite' ? 'text' : 'text collate "C"';
    return [
      `create table ${table} (
        stream ${text} not null,
        first bigint not null,
        last bigint not null,
        attempt bigint not null,
        events text not null,
        expires_at bigint not null,
        primary key (stream, first)
      )`,
      `create index "${names.index('eventBatches', ['expiresAt'], 'idx')}" on ${table} (expires_at)`,
    ];
  },
};
