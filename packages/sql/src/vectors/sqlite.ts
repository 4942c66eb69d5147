import { setImmediate as turn } from 'node:timers/promises';
import { cosine, type FoundChunk, toDirection, type VectorIndex } from '@questline/core/ports';
import type { SqliteDatabase } from '../database.ts';
import { defineStatement, type SqlRow, toNumber } from '../statement.ts';
import { createBest } from './nearest.ts';

/** Page size; the search yields to the event loop between pages. */
const PAGE = 500;

const WITHIN = `(@files is null or file_id in (select value from json_each(@files)))
  and (@tags is null or exists (
    select 1 from json_each(tags) as own where own.value in (select value from json_each(@tags))
  ))`;

export function createSqliteVectors(database: SqliteDatabase): VectorIndex {
  const { dialect, names, run } = database;
  const chunks = names.table('vectorChunks');
  const words = names.table('vectorWords');

  const known = defineStatement<'id'>(dialect, `select sequence from ${chunks} where id = @id`);
  const drop = defineStatement<'sequence'>(dialect, `delete from ${chunks} where sequence = @sequence`);
  const dropWords = defineStatement<'sequence'>(dialect, `delete from ${words} where rowid = @sequence`);
  const insert = defineStatement<
    'id' | 'lakeId' | 'fileId' | 'dimensions' | 'place' | 'text' | 'tags' | 'embedding'
  >(
    dialect,
    `insert into ${chunks} (id, lake_id, file_id, dimensions, place, text, tags, embedding)
     values (@id, @lakeId, @fileId, @dimensions, @place, @text, @tags, @embedding) returning sequence`,
  );
  const insertWords = defineStatement<'sequence' | 'lakeId' | 'words'>(
    dialect,
    `insert into ${words} (rowid, lake, words) values (@sequence, @lakeId, @words)`,
  );
  const inGroup = 'lake_id = @lakeId and (@fileId is null or file_id = @fileId)';
  const sequences = defineStatement<'lakeId' | 'fileId'>(
    dialect,
    `select sequence from ${chunks} where ${inGroup}`,
  );
  const count = defineStatement<'lakeId' | 'fileId'>(
    dialect,
    `select count(*) as count from ${chunks} where ${inGroup}`,
  );
  const page = defineStatement<'lakeId' | 'dimensions' | 'after' | 'files' | 'tags' | 'limit'>(
    dialect,
    `select sequence, id, embedding from ${chunks}
     where lake_id = @lakeId and sequence > @after and dimensions = @dimensions and ${WITHIN}
     order by sequence limit @limit`,
  );
  const read = defineStatement<'ids'>(
    dialect,
    `select id, lake_id, file_id, place, text, tags, embedding from ${chunks}
     where id in (select value from json_each(@ids))`,
  );
  const match = defineStatement<'queries' | 'dimensions' | 'files' | 'tags' | 'limit'>(
    dialect,
    `select c.id from json_each(@queries) as query
     join ${words} as word on word.${names.plain('vectorWords')} match query.value
     join ${chunks} as c on c.sequence = word.rowid
     where c.dimensions = @dimensions and ${WITHIN}
     group by c.sequence order by count(*) desc, c.id limit @limit`,
  );

  const readFound = async (
    ids: readonly string[],
    getScore: (row: SqlRow) => number,
    signal: AbortSignal | undefined,
  ): Promise<FoundChunk[]> => {
    const rows = await run(read({ ids }), { ...(signal && { signal }) });
    const byId = new Map(rows.map((row) => [String(row.id), row]));
    return ids.flatMap((id) => {
      const row = byId.get(id);
      // Deleted since.
      return row === undefined ? [] : [toFound(row, getScore(row))];
    });
  };

  return {
    async upsert(added, options) {
      const rows = added.map((chunk) => ({ chunk, direction: toDirection(chunk.vector) }));
      options?.signal?.throwIfAborted();
      await database.immediate((runNow) => {
        for (const { chunk, direction } of rows) {
          const { id, lakeId, fileId, place, text, tags } = chunk;
          for (const { sequence } of runNow(known({ id }))) {
            const old = { sequence: toNumber(sequence) };
            runNow(dropWords(old));
            runNow(drop(old));
          }
          const dimensions = direction.length;
          const embedding = new Uint8Array(direction.buffer);
          const about = {
            id,
            lakeId,
            fileId,
            dimensions,
            place,
            text,
            tags: JSON.stringify(tags),
            embedding,
          };
          const [row] = runNow(insert(about));
          runNow(insertWords({ sequence: toNumber(row?.sequence), lakeId, words: chunk.words.join(' ') }));
        }
      }, options);
    },

    async remove({ lakeId, fileId }, options) {
      options?.signal?.throwIfAborted();
      await database.immediate((runNow) => {
        for (const { sequence } of runNow(sequences({ lakeId, fileId }))) {
          const old = { sequence: toNumber(sequence) };
          runNow(dropWords(old));
          runNow(drop(old));
        }
      }, options);
    },

    async nearest({ scope, vector, limit, minScore = -1 }, options) {
      options?.signal?.throwIfAborted();
      const wanted = toDirection(vector);
      const best = createBest(wanted, limit, minScore);
      const within = { dimensions: wanted.length, files: scope.fileIds, tags: scope.tags, limit: PAGE };
      for (const lakeId of new Set(scope.lakeIds)) {
        for (let after = 0; ; ) {
          const rows = await run(page({ ...within, lakeId, after }), options);
          for (const { id, embedding } of rows) best.see(String(id), toFloats(embedding));
          const last = rows.at(-1);
          if (rows.length < PAGE || last === undefined) break;
          after = toNumber(last.sequence);
          await turn();
        }
      }
      const scores = new Map(best.found.map(({ id, score }) => [id, score]));
      const ids = best.found.map(({ id }) => id);
      return readFound(ids, ({ id }) => scores.get(String(id)) ?? 0, options?.signal);
    },

    async matching({ scope, words: wanted, vector, limit }, options) {
      options?.signal?.throwIfAborted();
      const direction = toDirection(vector);
      const lakes = [...new Set(scope.lakeIds)];
      if (lakes.length === 0 || wanted.length === 0) return [];
      const lake = lakes.map(quoted).join(' OR ');
      const queries = [...new Set(wanted)].map((word) => `lake : (${lake}) AND words : ${quoted(word)}`);
      const rows = await run(
        match({ queries, dimensions: direction.length, files: scope.fileIds, tags: scope.tags, limit }),
        options,
      );
      return readFound(
        rows.map(({ id }) => String(id)),
        ({ embedding }) => cosine(toFloats(embedding), direction),
        options?.signal,
      );
    },

    async count({ lakeId, fileId }, options) {
      const [row] = await run(count({ lakeId, fileId }), options);
      return toNumber(row?.count);
    },
  };
}

/** Quotes any word or name for the full-text engine. */
function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** In the byte order of this machine: database files stay on machines of one byte order. */
function toFloats(embedding: unknown): Float32Array {
  const bytes = embedding as Uint8Array;
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4);
}

function toFound(row: SqlRow, score: number): FoundChunk {
  return {
    id: String(row.id),
    lakeId: String(row.lake_id),
    fileId: String(row.file_id),
    place: toNumber(row.place),
    text: String(row.text),
    tags: JSON.parse(String(row.tags)) as string[],
    score,
  };
}
