import type { TableStep } from '../migrations/tables.ts';

/** Chunks with their vectors, scaled to length 1. */
export const VECTOR_TABLES: TableStep = {
  name: '0005 vectors',
  statements(dialect, names) {
    const chunks = names.table('vectorChunks');
    const byLake = `create index "${names.index('vectorChunks', ['lakeId', 'fileId'], 'idx')}" on ${chunks}`;
    if (dialect === 'sqlite') {
      return [
        // The columns that every search reads come first, the ones that only results need come last.
        `create table ${chunks} (
          sequence integer primary key autoincrement,
          lake_id text not null,
          file_id text not null,
          dimensions integer not null,
          id text not null unique,
          tags text not null,
          embedding blob not null,
          place integer not null,
          text text not null
        )`,
        `${byLake} (lake_id, sequence)`,
        `create index "${names.index('vectorChunks', ['fileId'], 'idx')}" on ${chunks} (lake_id, file_id)`,
        `create virtual table ${names.table('vectorWords')} using fts5(
          lake, words, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 0'
        )`,
      ];
    }
    const text = 'text collate "C"';
    return [
      `create table ${chunks} (
        sequence bigint generated always as identity primary key,
        id ${text} not null unique,
        lake_id ${text} not null,
        file_id ${text} not null,
        dimensions integer not null,
        place integer not null,
        tags text[] not null,
        words text[] not null,
        embedding real[] not null,
        text text not null
      )`,
      `${byLake} (lake_id, file_id)`,
      `create index "${names.index('vectorChunks', ['lakeId', 'sequence'], 'idx')}" on ${chunks} (lake_id, sequence)`,
      `create index "${names.index('vectorChunks', ['words'], 'idx')}" on ${chunks} using gin (words)`,
    ];
  },
};

/** Vector search with pgvector: every migration checks for the extension until the server has it. */
export const PGVECTOR: TableStep = {
  name: '0006 pgvector',
  async applies({ dialect }, connection) {
    if (dialect === 'sqlite') return false;
    const [row] = await connection.run({
      sql: `select e.extname is not null as is_there, v.name is not null as may_come
        from (select 1) as one
        left join pg_extension e on e.extname = 'vector'
        left join pg_available_extensions a on a.name = 'vector'
        left join pg_available_extension_versions v on v.name = a.name and v.version = a.default_version
          and (not v.superuser or v.trusted or (select rolsuper from pg_roles where rolname = current_user))`,
      parameters: [],
    });
    return row?.is_there === true || row?.may_come === true;
  },
  statements: () => ['create extension if not exists vector'],
};
