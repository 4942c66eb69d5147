import {
  type ChunkScope,
  cosine,
  type FoundChunk,
  type IndexedChunk,
  toDirection,
  type VectorIndex,
} from '@questline/core/ports';
import { getRead, type PostgresDatabase } from '../database.ts';
import { defineStatement, type SqlRow, type SqlStatement, toNumber } from '../statement.ts';
import { storable } from '../store/json.ts';
import type { SqlVectorsOptions } from '../vectors.ts';
import { createBest } from './nearest.ts';
import { findPgvector, type Pgvector } from './pgvector.ts';

/** Page size for comparisons in this process. */
const PAGE = 500;
const EXACT_BELOW = 10_000;
/** pgvector's maximum of `hnsw.ef_search`. */
const MAX_CANDIDATES = 1000;
const MIN_CANDIDATES = 100;

const WITHIN = `lake_id = any(@lakes) and dimensions = @dimensions
  and (cast(@files as text[]) is null or file_id = any(@files))
  and (cast(@tags as text[]) is null or tags && cast(@tags as text[]))`;

/** The binary array format: a header of 20 bytes, then 4 bytes of length and 4 bytes of value per number. */
const FLOATS = 'array_send(embedding) as floats';
const FIELDS = 'id, lake_id, file_id, place, text, to_json(tags)::text as tags';

type Within = 'lakes' | 'dimensions' | 'files' | 'tags';

export function createPostgresVectors(
  database: PostgresDatabase,
  { exactBelow = EXACT_BELOW }: SqlVectorsOptions,
): VectorIndex {
  const { dialect, names, run } = database;
  const search = getRead(database);
  const chunks = names.table('vectorChunks');
  let extension: Promise<Pgvector | undefined> | undefined;

  const pgvector = (): Promise<Pgvector | undefined> => {
    extension ??= findPgvector(database).catch((error: unknown) => {
      extension = undefined;
      throw error;
    });
    return extension;
  };

  const upsert = defineStatement<
    'ids' | 'lakes' | 'files' | 'dimensions' | 'places' | 'texts' | 'tags' | 'words' | 'embeddings'
  >(
    dialect,
    // Nested arrays in PostgreSQL need equal lengths, so they are sent as text.
    `insert into ${chunks} (id, lake_id, file_id, dimensions, place, text, tags, words, embedding)
     select id, lake, file, dimension, place, content, cast(tag as text[]), cast(word as text[]),
       cast(numbers as real[])
     from unnest(cast(@ids as text[]), cast(@lakes as text[]), cast(@files as text[]), cast(@dimensions as integer[]),
       cast(@places as integer[]), cast(@texts as text[]), cast(@tags as text[]), cast(@words as text[]),
       cast(@embeddings as text[])) as new (id, lake, file, dimension, place, content, tag, word, numbers)
     order by id
     on conflict (id) do update set lake_id = excluded.lake_id, file_id = excluded.file_id,
       dimensions = excluded.dimensions, place = excluded.place, text = excluded.text, tags = excluded.tags,
       words = excluded.words, embedding = excluded.embedding`,
  );
  const inGroup = 'lake_id = @lakeId and (cast(@fileId as text) is null or file_id = @fileId)';
  const remove = defineStatement<'lakeId' | 'fileId'>(dialect, `delete from ${chunks} where ${inGroup}`);
  const count = defineStatement<'lakeId' | 'fileId'>(
    dialect,
    `select count(*) as count from ${chunks} where ${inGroup}`,
  );
  const page = defineStatement<Within | 'after'>(
    dialect,
    `select sequence, id, ${FLOATS} from ${chunks} where ${WITHIN} and sequence > @after
     order by sequence limit ${PAGE}`,
  );
  const read = defineStatement<'ids'>(dialect, `select ${FIELDS} from ${chunks} where id = any(@ids)`);
  const match = defineStatement<Within | 'wanted' | 'limit'>(
    dialect,
    `select ${FIELDS}, ${FLOATS} from ${chunks}
     where ${WITHIN} and ${names.table('vectorLakeWords')}(lake_id, words) && array(
       select lake || ' ' || word from unnest(cast(@lakes as text[])) as lake, unnest(cast(@wanted as text[])) as word)
     order by (select count(*) from unnest(words) as word where word = any(cast(@wanted as text[]))) desc, id
     limit @limit`,
  );
  const isLarge = defineStatement<Within | 'most'>(
    dialect,
    `select count(*) as count from (select 1 from ${chunks} where ${WITHIN} limit @most) as first`,
  );

  /** Compares every chunk in scope in this process. */
  const compareHere = async (
    within: ReturnType<typeof isWithin>,
    wanted: Float32Array,
    limit: number,
    minScore: number,
    signal: AbortSignal | undefined,
  ): Promise<FoundChunk[]> => {
    const best = createBest(wanted, limit, minScore);
    for (let after = 0; ; ) {
      const rows = await search(page({ ...within, after }), { ...(signal && { signal }) });
      for (const { id, floats } of rows) best.see(String(id), toFloats(floats));
      const last = rows.at(-1);
      if (rows.length < PAGE || last === undefined) break;
      after = toNumber(last.sequence);
    }
    const ids = best.found.map(({ id }) => id);
    const rows = await search(read({ ids }), { ...(signal && { signal }) });
    const byId = new Map(rows.map((row) => [String(row.id), row]));
    return best.found.flatMap(({ id, score }) => {
      const row = byId.get(id);
      return row === undefined ? [] : [toFound(row, score)];
    });
  };

  /** The server compares: all chunks of a small scope, otherwise those of its index scan. */
  const compareThere = async (
    { typeOf, distance, iterates }: Pgvector,
    within: ReturnType<typeof isWithin>,
    wanted: Float32Array,
    limit: number,
    signal: AbortSignal | undefined,
  ): Promise<FoundChunk[] | undefined> => {
    const type = typeOf(wanted.length);
    if (type === undefined) return undefined;
    const far = `embedding::${type} ${distance} cast(cast(@wanted as real[]) as ${type})`;
    // The length is part of the SQL text, so that the planner can choose the index.
    const scope = WITHIN.replace('@dimensions', String(wanted.length));
    const values = { ...within, wanted: Array.from(wanted), limit };
    const call = { ...(signal && { signal }) };
    const compareAll = async (): Promise<FoundChunk[]> => {
      const all = defineStatement<Within | 'wanted' | 'limit'>(
        dialect,
        `with scope as materialized (select ${FIELDS}, ${far} as far from ${chunks} where ${scope})
         select * from scope order by far, id limit @limit`,
      );
      return (await search(all(values), call)).map(toMeasured);
    };
    const [some] = await search(isLarge({ ...within, most: exactBelow }), call);
    if (toNumber(some?.count) < exactBelow) return compareAll();
    const led = defineStatement<Within | 'wanted' | 'limit'>(
      dialect,
      `select ${FIELDS}, ${far} as far from ${chunks} where ${scope} order by ${far} limit @limit`,
    );
    const rows = await database.transaction(
      async (connection) => {
        for (const setting of indexSettings(limit, iterates)) await connection.run(setting);
        return connection.run(led(values));
      },
      { isolation: 'read committed', ...call },
    );
    // The index scan returned too few chunks in scope: compare all of them.
    return rows.length < limit ? compareAll() : rows.map(toMeasured);
  };

  return {
    async upsert(added, options) {
      const byId = new Map(added.map((chunk) => [chunk.id, chunk]));
      const rows = [...byId.values()].map((chunk) => ({ chunk, direction: toDirection(chunk.vector) }));
      options?.signal?.throwIfAborted();
      if (rows.length === 0) return;
      const extra = await pgvector();
      for (const length of new Set(rows.map(({ direction }) => direction.length))) await extra?.index(length);
      const each = <T>(of: (chunk: IndexedChunk, direction: Float32Array) => T): T[] =>
        rows.map(({ chunk, direction }) => of(chunk, direction));
      await run(
        upsert({
          ids: each(({ id }) => id),
          lakes: each(({ lakeId }) => lakeId),
          files: each(({ fileId }) => fileId),
          dimensions: each((_, direction) => direction.length),
          places: each(({ place }) => place),
          texts: each(({ text }) => storable(text)),
          tags: each(({ tags }) => listText(tags)),
          words: each(({ words }) => listText(words)),
          embeddings: each((_, direction) => `{${direction.join()}}`),
        }),
        options,
      );
    },

    async remove({ lakeId, fileId }, options) {
      await run(remove({ lakeId, fileId }), options);
    },

    async nearest({ scope, vector, limit, minScore = -1 }, options) {
      options?.signal?.throwIfAborted();
      const wanted = toDirection(vector);
      const within = isWithin(scope, wanted);
      const extra = await pgvector();
      const there = extra && (await compareThere(extra, within, wanted, limit, options?.signal));
      if (there === undefined) return compareHere(within, wanted, limit, minScore, options?.signal);
      return there.filter(({ score }) => score >= minScore).sort(byScore);
    },

    async matching({ scope, words, vector, limit }, options) {
      options?.signal?.throwIfAborted();
      const direction = toDirection(vector);
      const wanted = [...new Set(words.map(storable))];
      const rows = await search(match({ ...isWithin(scope, direction), wanted, limit }), options);
      return rows.map((row) => toFound(row, cosine(toFloats(row.floats), direction)));
    },

    async count({ lakeId, fileId }, options) {
      const [row] = await run(count({ lakeId, fileId }), options);
      return toNumber(row?.count);
    },
  };
}

function isWithin({ lakeIds, fileIds, tags }: ChunkScope, wanted: Float32Array) {
  return { lakes: lakeIds, dimensions: wanted.length, files: fileIds, tags: tags?.map(storable) };
}

function indexSettings(limit: number, iterates: boolean): SqlStatement[] {
  const candidates = Math.min(MAX_CANDIDATES, Math.max(MIN_CANDIDATES, 4 * limit));
  const settings = [`set local hnsw.ef_search = ${candidates}`];
  if (iterates) settings.push('set local hnsw.iterative_scan = strict_order');
  return settings.map((sql) => ({ sql, parameters: [] }));
}

/** A PostgreSQL array literal. */
function listText(values: readonly string[]): string {
  const quoted = values.map((value) => `"${storable(value).replace(/["\\]/g, '\\$&')}"`);
  return `{${quoted.join()}}`;
}

function toFloats(sent: unknown): Float32Array {
  const bytes = sent as Uint8Array;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const floats = new Float32Array((bytes.byteLength - 20) / 8);
  for (let index = 0; index < floats.length; index++) floats[index] = view.getFloat32(24 + index * 8);
  return floats;
}

function toMeasured(row: SqlRow): FoundChunk {
  return toFound(row, Math.min(1, Math.max(-1, 1 - Number(row.far))));
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

function byScore(a: FoundChunk, b: FoundChunk): number {
  return b.score - a.score || (a.id < b.id ? -1 : 1);
}
