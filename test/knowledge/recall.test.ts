import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import type { VectorIndex } from '@questline/core';
import { createMemoryVectors } from '@questline/core/memory';
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
import { createWorld } from '../support/world.ts';
import { TOPICS } from './labelled.ts';

interface Place {
  readonly name: string;
  open(): Promise<{ vectors: VectorIndex; close(): Promise<unknown> }>;
}

async function onSql(database: SqlDatabase, close: () => Promise<unknown>) {
  await migrate(database, { collections: [] });
  // On PostgreSQL: by the index, however small the set is.
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

/** Of what is labelled as an answer, the share among the first ten, over all questions. */
async function recallAt10(place: Place): Promise<number> {
  const { vectors, close } = await place.open();
  try {
    const world = await createWorld(withLakes({ services: (services) => ({ ...services, vectors }) }));
    const texts = Object.fromEntries(
      TOPICS.flatMap(({ name, documents }) => documents.map((text, index) => [`${name}${index}.txt`, text])),
    );
    const { lakeId } = await filledLake(world, texts);
    const credential = await world.token();
    const shares: number[] = [];
    for (const { name, documents, questions } of TOPICS) {
      for (const query of questions) {
        const answer = await world.ask('POST', `/api/v1/data-lakes/${lakeId}/search`, {
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

describe('what a search finds of the labelled set', () => {
  it('is the same wherever the index is, within one in a hundred', { timeout: 300_000 }, async () => {
    const found: [string, number][] = [];
    for (const place of PLACES) found.push([place.name, await recallAt10(place)]);
    console.info(`recall@10: ${found.map(([name, recall]) => `${name} ${recall.toFixed(4)}`).join(', ')}`);
    const [, memory = 0] = found[0] ?? [];
    // The offline model knows words, not topics: by chance it would be a quarter.
    expect(memory).toBeGreaterThan(0.6);
    for (const [, recall] of found) expect(Math.abs(recall - memory)).toBeLessThanOrEqual(0.01);
  });
});
