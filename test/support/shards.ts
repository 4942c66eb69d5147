import { COLLECTIONS } from '@questline/core';
import {
  createShardDirectory,
  createSqlPorts,
  SHARD_COLLECTIONS,
  type SqlDatabase,
  shard,
} from '@questline/sql';
import { type Engine, SQLITE_MEMORY } from '../../packages/sql/test/engines.ts';
import { shareDatabase } from '../../packages/sql/test/shared.ts';
import type { TestAppOptions } from './test-app.ts';

type Ports = NonNullable<TestAppOptions['ports']>;

/** Ports of a home database and two shards, empty for each test. */
export interface SharedShards {
  /**
   * The first owner is on one shard; every other user, and every organization, on the other one.
   * @returns ports for one app.
   */
  fresh(): Promise<Ports>;
}

/** Two shards and a home database for all tests of a file. */
export function shareShards(engine: Engine = SQLITE_MEMORY): SharedShards {
  const collections = [...COLLECTIONS, ...SHARD_COLLECTIONS];
  const databases = Array.from({ length: 3 }, () => shareDatabase(engine, collections));
  return {
    async fresh() {
      const [home, a, b] = await Promise.all(databases.map((database) => database.fresh()));
      if (home === undefined || a === undefined || b === undefined) throw new Error('three databases');
      return toPorts(home, a, b);
    },
  };
}

function toPorts(homeDatabase: SqlDatabase, a: SqlDatabase, b: SqlDatabase): Ports {
  return (given) => {
    const open = (database: SqlDatabase) => createSqlPorts(database, given);
    const home = open(homeDatabase);
    let first: string | undefined;
    const directory = createShardDirectory({
      store: home.store,
      shards: ['a', 'b'],
      choose(owner) {
        first ??= owner;
        return owner === first ? 'a' : 'b';
      },
    });
    return { ...shard({ home, shards: { a: open(a), b: open(b) }, directory }), vectors: home.vectors };
  };
}
