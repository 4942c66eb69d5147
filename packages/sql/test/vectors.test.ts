import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import type { VectorIndex } from '@questline/core/ports';
import { createFakeClock, fakeTime, vectorsSuite } from '@questline/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresDatabase, createSqlVectors, migrate, type SqlDatabase } from '../src/index.ts';
import { ENGINES, type Engine } from './engines.ts';
import { shareDatabase } from './shared.ts';

const TABLES = ['vectorChunks', 'vectorWords'] as const;

async function empty(database: SqlDatabase): Promise<SqlDatabase> {
  for (const table of TABLES.slice(0, database.dialect === 'sqlite' ? 2 : 1)) {
    await database.run({ sql: `delete from ${database.names.table(table)}`, parameters: [] });
  }
  return database;
}

/** The real extension in PGlite. One instance for all tests, because its start is slow. */
let started: PGlite | undefined;
afterAll(() => started?.close());

function serverWithPgvector(): PGlite {
  started ??= new PGlite({ extensions: { vector } });
  return started;
}

const connect = (prefix: string) =>
  createPostgresDatabase({ connection: serverWithPgvector(), prefix, timeoutMs: 60_000 });

const PGVECTOR: Engine = {
  name: 'PGlite with pgvector',
  async open() {
    await serverWithPgvector().waitReady;
    const database = connect('shared_');
    return {
      database,
      address: { dialect: 'postgres', url: '', schema: '' },
      peer: () => database,
      close: () => database.close(),
    };
  },
};

describe.each([
  ...ENGINES.map((engine) => ({ engine, name: engine.name, options: {} })),
  { engine: PGVECTOR, name: `${PGVECTOR.name}, all compared`, options: { exactBelow: 1_000_000 } },
  { engine: PGVECTOR, name: `${PGVECTOR.name}, by its index`, options: { exactBelow: 0 } },
])('$name', ({ engine, name, options }) => {
  const shared = shareDatabase(engine);

  vectorsSuite({
    name,
    timeoutMs: 120_000,
    create: async () => ({
      vectors: createSqlVectors(await empty(await shared.fresh()), options),
      peers: [createSqlVectors(shared.peer(), options)],
      time: fakeTime(createFakeClock()),
    }),
  });
});

describe('pgvector index', () => {
  let database: SqlDatabase;
  let vectors: VectorIndex;
  beforeAll(async () => {
    database = connect('own_');
    vectors = createSqlVectors(database, { exactBelow: 0 });
    await migrate(database, { collections: [] });
  });

  const chunk = (id: number, dimensions: number) => ({
    id: `c${id}`,
    lakeId: id % 2 === 0 ? 'even' : 'odd',
    fileId: 'file',
    place: id,
    text: '',
    tags: [],
    words: [],
    vector: Array.from({ length: dimensions }, (_, place) => Math.sin((id + 1) * (place + 2))),
  });

  it('is created per vector length and used by searches', async () => {
    for (const dimensions of [3, 512, 3072]) {
      await vectors.upsert(Array.from({ length: 40 }, (_, id) => chunk(id + dimensions * 100, dimensions)));
      const [first] = await vectors.nearest({
        scope: { lakeIds: ['even'] },
        vector: chunk(dimensions * 100, dimensions).vector,
        limit: 5,
      });
      expect(first).toMatchObject({ id: `c${dimensions * 100}`, score: expect.closeTo(1, 2) });
    }
    const { rows } = await serverWithPgvector().query<{ indexname: string; indexdef: string }>(
      `select indexname, indexdef from pg_indexes where indexname like 'own%hnsw%' order by indexname`,
    );
    expect(rows.map(({ indexname }) => indexname).toSorted()).toEqual([
      'own_vector_chunks_hnsw3072_idx',
      'own_vector_chunks_hnsw3_idx',
      'own_vector_chunks_hnsw512_idx',
    ]);
    expect(rows.filter(({ indexdef }) => /halfvec/.test(indexdef)).map(({ indexname }) => indexname)).toEqual(
      ['own_vector_chunks_hnsw3072_idx'],
    );
  });

  it('is not used for lengths it does not support, which are compared in the process', async () => {
    await vectors.upsert([chunk(1, 4100), chunk(3, 4100)]);
    const found = await vectors.nearest({
      scope: { lakeIds: ['odd'] },
      vector: chunk(3, 4100).vector,
      limit: 1,
    });
    expect(found).toMatchObject([{ id: 'c3' }]);
  });

  it('is attempted at every migration until the extension exists', {
    timeout: 180_000,
  }, async () => {
    const bare = new PGlite();
    const without = createPostgresDatabase({ connection: bare });
    const first = await migrate(without, { collections: [] });
    expect(first.map(({ name }) => name)).not.toContain('0006 pgvector');
    expect(await migrate(without, { collections: [] })).toEqual([]);
    await bare.close();
    expect(await migrate(database, { collections: [] })).toEqual([]);
    expect(
      (await database.run({ sql: 'select 1 from pg_extension where extname = $1', parameters: ['vector'] }))
        .length,
    ).toBe(1);
  });
});
