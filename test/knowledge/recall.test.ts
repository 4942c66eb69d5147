import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { createMemoryVectors } from '@questline/core/memory';
import type { VectorIndex } from '@questline/core/ports';
import {
  createPostgresDatabase,
  createSqliteDatabase,
  createSqlVectors,
  migrate,
  type SqlDatabase,
} from '@questline/sql';
import { describe, expect, it } from 'vitest';
import { POSTGRES, POSTGRES_URL } from '../../packages/sql/test/engines.ts';
import { filledLake, withLakes } from '../support/lakes.ts';
import { createTestApp } from '../support/test-app.ts';
import { TOPICS } from './labelled.ts';

interface Place {
  readonly name: string;
  open(): Promise<{ vectors: VectorIndex; close(): Promise<unknown> }>;
}

async function onSql(database: SqlDatabase, close: () => Promise<unknown>) {
  await migrate(database, { collections: [] });
  // On PostgreSQL: use the vector index also for a small set.
  return { vectors: createSqlVectors(database, { exactBelow: 0 }), close };
}

const PLACES: readonly Place[] = [
  { name: 'memory', open: async () => ({ vectors: createMemoryVectors(), close: async () => undefined }) },
  {
    name: 'SQLite',
    open: async () => {
      const database = createSqliteDatabase({ path: ':memory:' });
      return onSql(database, () => database.close());
    },
  },
  {
    name: 'pgvector',
    open: async () => {
      const server = new PGlite({ extensions: { vector } });
      await server.waitReady;
      const database = createPostgresDatabase({ connection: server, timeoutMs: 60_000 });
      return onSql(database, () => server.close());
    },
  },
  ...(POSTGRES_URL === undefined
    ? []
    : [
        {
          name: 'PostgreSQL',
          open: async () => {
            const opened = await POSTGRES.open();
            return onSql(opened.database, () => opened.close());
          },
        },
      ]),
];

/** The share of labelled answers in the first ten results, over all questions. */
async function recallAt10(place: Place): Promise<number> {
  const { vectors, close } = await place.open();
  try {
    const app = await createTestApp(withLakes({ services: (services) => ({ ...services, vectors }) }));
    const texts = Object.fromEntries(
      TOPICS.flatMap(({ name, documents }) => documents.map((text, index) => [`${name}${index}.txt`, text])),
    );
    const { lakeId } = await filledLake(app, texts);
    const credential = await app.token();
    const shares: number[] = [];
    for (const { name, documents, questions } of TOPICS) {
      for (const query of questions) {
        const answer = await app.ask('POST', `/api/v1/data-lakes/${lakeId}/search`, {
          body: { query },
          credential,
        });
        const { results } = (await answer.json()) as { results: { file_name: string }[] };
        const found = results.filter(({ file_name }) => file_name.startsWith(name));
        shares.push(found.length / documents.length);
      }
    }
    return shares.reduce((sum, share) => sum + share, 0) / shares.length;
  } finally {
    await close();
  }
}

describe('recall on the labelled set', () => {
  it('is the same for every index within one percent', { timeout: 300_000 }, async () => {
    const found: [string, number][] = [];
    for (const place of PLACES) found.push([place.name, await recallAt10(place)]);
    console.info(`recall@10: ${found.map(([name, recall]) => `${name} ${recall.toFixed(4)}`).join(', ')}`);
    const [, memory = 0] = found[0] ?? [];
    // The offline model matches words, not topics; a random order would reach 0.25.
    expect(memory).toBeGreaterThan(0.6);
    for (const [, recall] of found) expect(Math.abs(recall - memory)).toBeLessThanOrEqual(0.01);
  });
});
