import { isAvailable } from '../migrations/extensions.ts';
import type { TableStep } from '../migrations/tables.ts';
import { quote } from '../names.ts';

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
    return dialect === 'postgres' && isAvailable(connection, 'vector');
  },
  statements: () => ['create extension if not exists vector'],
};

/**
 * The words of a chunk with its lake: a search within a lake reads no words of other lakes. An index on an expression, so
 * that processes of older versions keep it.
 */
export const VECTOR_LAKE_WORDS: TableStep = {
  name: '0012 vector lake words',
  statements(dialect, names) {
    if (dialect === 'sqlite') return [];
    const chunks = names.table('vectorChunks');
    const lakeWords = names.table('vectorLakeWords');
    const old = `"${names.index('vectorChunks', ['words'], 'idx')}"`;
    return [
      `create or replace function ${lakeWords}(lake text, words text[]) returns text[] language sql immutable strict parallel safe
       as $$ select array(select lake || ' ' || word from unnest(words) as word) $$`,
      `create index "${names.index('vectorChunks', ['lakeWords'], 'idx')}" on ${chunks} using gin (${lakeWords}(lake_id, words))`,
      `drop index if exists ${names.schema === undefined ? '' : `${quote(names.schema)}.`}${old}`,
    ];
  },
};
