import type { PostgresDatabase } from '../database.ts';
import { quote } from '../names.ts';

/** The pgvector extension of this database. */
export interface Pgvector {
  /** The SQL type for vectors of a length; undefined above the maximum of indexes. */
  typeOf(dimensions: number): string | undefined;
  /** The distance of two vectors of such a type: 1 minus the cosine. */
  readonly distance: string;
  /** Creates the HNSW index for one vector length if it is missing. */
  index(dimensions: number): Promise<void>;
  /** Whether index scans are iterative: they continue when filters remove the first results. */
  readonly iterates: boolean;
}

/** Maximum length of indexed vectors with 32-bit numbers … */
const MAX_DIMENSIONS = 2000;
/** … and with 16-bit numbers. */
const MAX_HALF_DIMENSIONS = 4000;

/** @returns undefined without the extension. */
export async function findPgvector(database: PostgresDatabase): Promise<Pgvector | undefined> {
  const { names } = database;
  const [row] = await database.run({
    sql: `select n.nspname as schema, e.extversion as version from pg_extension e
      join pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'`,
    parameters: [],
  });
  if (row === undefined) return undefined;
  const schema = quote(String(row.schema));
  const [major = 0, minor = 0] = String(row.version).split('.').map(Number);
  const has = (wanted: number): boolean => major > 0 || minor >= wanted;
  const indexed = new Map<number, Promise<void>>();

  const typeOf = (dimensions: number): string | undefined => {
    if (dimensions <= MAX_DIMENSIONS) return `${schema}.vector(${dimensions})`;
    return dimensions <= MAX_HALF_DIMENSIONS && has(7) ? `${schema}.halfvec(${dimensions})` : undefined;
  };

  const makeIndex = async (dimensions: number): Promise<void> => {
    const type = typeOf(dimensions);
    if (type === undefined || !has(5)) return;
    const name = quote(names.index('vectorChunks', [`hnsw${dimensions}`], 'idx'));
    const operators = `${schema}.${dimensions <= MAX_DIMENSIONS ? 'vector' : 'halfvec'}_cosine_ops`;
    await database.transaction(
      async (connection) => {
        // One of several processes creates it.
        await connection.run({
          sql: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
          parameters: [`${names.schema ?? ''} ${names.prefix}hnsw ${dimensions}`],
        });
        await connection.run({
          sql: `create index if not exists ${name} on ${names.table('vectorChunks')}
            using hnsw ((embedding::${type}) ${operators}) where dimensions = ${dimensions}`,
          parameters: [],
        });
      },
      { isolation: 'read committed', timeoutMs: 600_000 },
    );
  };

  return {
    typeOf,
    distance: `operator(${schema}.<=>)`,
    iterates: has(8),
    index(dimensions) {
      let made = indexed.get(dimensions);
      if (made === undefined) {
        made = makeIndex(dimensions).catch((error: unknown) => {
          indexed.delete(dimensions);
          throw error;
        });
        indexed.set(dimensions, made);
      }
      return made;
    },
  };
}
