/**
 * Measures a search over 100,000 chunks: in memory, on SQLite, and on PostgreSQL with pgvector, the last
 * compared with a bare query on the same table. Without pgvector on the server, a PostgreSQL within this
 * process is used: only the ratio to the bare query is meaningful then. `BENCH_CHUNKS` and `BENCH_DIMENSIONS`
 * reduce the size.
 */
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { createMemoryVectors } from '@questline/core/memory';
import type { IndexedChunk, VectorIndex } from '@questline/core/ports';
import { createPostgresDatabase, createSqliteDatabase, createSqlVectors, migrate } from '@questline/sql';
import { median, reportRatio } from './support/report.ts';

const CHUNKS = Number(process.env.BENCH_CHUNKS ?? 100_000);
const DIMENSIONS = Number(process.env.BENCH_DIMENSIONS ?? 64);
const SEARCHES = 30;
const LIMIT = 10;
const BATCH = 1000;
/** A search first checks the size of its scope, sets the search depth of the index, and reads more columns. */
const GOAL = 3;

let seed = 7;
function random(): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
}

const direction = (): number[] => Array.from({ length: DIMENSIONS }, () => random() - 0.5);

function makeChunk(id: number): IndexedChunk {
  return {
    id: `c${id}`,
    lakeId: 'lake',
    fileId: `f${id % 1000}`,
    place: id,
    text: `chunk ${id}`,
    tags: [],
    words: [`word${id % 5000}`],
    vector: direction(),
  };
}

async function fill(indexes: readonly VectorIndex[]): Promise<void> {
  for (let from = 0; from < CHUNKS; from += BATCH) {
    const chunks = Array.from({ length: Math.min(BATCH, CHUNKS - from) }, (_, at) => makeChunk(from + at));
    for (const index of indexes) await index.upsert(chunks);
  }
}

/** The median in milliseconds. */
async function timed(search: (wanted: number[]) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < SEARCHES; at += 1) {
    const wanted = direction();
    const started = performance.now();
    await search(wanted);
    times.push(performance.now() - started);
  }
  return median(times);
}

const sqlite = createSqliteDatabase({ path: ':memory:' });
await migrate(sqlite, { collections: [] });
const server = new PGlite({ extensions: { vector } });
const postgres = createPostgresDatabase({ connection: server, timeoutMs: 600_000 });
await migrate(postgres, { collections: [] });

const indexes = {
  memory: createMemoryVectors(),
  SQLite: createSqlVectors(sqlite),
  pgvector: createSqlVectors(postgres),
};
// The first write creates the index. Rebuilding it after all writes gives the same index in a fraction of the time.
await indexes.pgvector.upsert([makeChunk(0)]);
const { rows } = await server.query<{ indexname: string; indexdef: string }>(
  `select indexname, indexdef from pg_indexes where indexdef like '%hnsw%'`,
);
for (const { indexname } of rows) await server.exec(`drop index ${indexname}`);
await fill(Object.values(indexes));
for (const { indexdef } of rows) await server.exec(`set maintenance_work_mem = '512MB'; ${indexdef}`);
await server.exec('analyze');

const scope = { lakeIds: ['lake'] };
for (const [name, index] of Object.entries(indexes)) {
  const ms = await timed((wanted) => index.nearest({ scope, vector: wanted, limit: LIMIT }));
  console.log(`nearest ${LIMIT} of ${CHUNKS} chunks of ${DIMENSIONS} numbers, ${name}: ${ms.toFixed(2)} ms`);
}

const type = `vector(${DIMENSIONS})`;
const bare = (wanted: number[]): Promise<unknown> =>
  server.query(
    `select id, text from ${postgres.names.table('vectorChunks')} where dimensions = ${DIMENSIONS}
     order by embedding::${type} <=> $1::${type} limit ${LIMIT}`,
    [JSON.stringify(wanted)],
  );
await server.query('set hnsw.ef_search = 100');
const ours = (wanted: number[]): Promise<unknown> =>
  indexes.pgvector.nearest({ scope, vector: wanted, limit: LIMIT });
const ratios: number[] = [];
for (let pair = 0; pair < 5; pair += 1) ratios.push((await timed(ours)) / (await timed(bare)));
const details = `Questline / bare, median of ${ratios.length} pairs of ${SEARCHES} searches`;
reportRatio(`search of ${CHUNKS} chunks beside a bare pgvector query`, median(ratios), GOAL, details);
await server.close();
await sqlite.close();
