import { defineCollection, type StoredRecord } from '@questline/core/ports';
import {
  createFakeClock,
  createFakeIds,
  fakeTime,
  ledgerSuite,
  storeSuite,
  storeSuiteCollections,
} from '@questline/testing';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  PROGRAMS,
  type PrimaryWithReplica,
  startOther,
  startServers,
} from '../../../../test/support/replicas.ts';
import {
  createPostgresDatabase,
  createSqlPorts,
  createSqlStore,
  migrate,
  type ReplicaState,
  type SqlDatabase,
  type SqlPorts,
} from '../../src/index.ts';
import type { Engine } from '../engines.ts';
import { shareDatabase } from '../shared.ts';

interface Note extends StoredRecord {
  readonly userId: string;
}

const NOTES = defineCollection<Note>({
  name: 'notes',
  columns: { userId: 'text' },
  unique: [],
  indexes: [['userId', 'id']],
});

/** Longer than a read waits for a replica, so that a busy machine changes nothing. */
const PATIENCE_MS = 20_000;

describe.skipIf(PROGRAMS === undefined)('with a replica', () => {
  let servers: PrimaryWithReplica;
  const pools: pg.Pool[] = [];
  let schemas = 0;

  beforeAll(async () => {
    servers = await startServers(String(PROGRAMS));
  }, 180_000);
  afterEach(async () => {
    vi.useRealTimers();
    await Promise.all(pools.splice(0).map((pool) => pool.end()));
  });
  afterAll(() => servers.stop());

  const connect = (url: string, user?: string): pg.Pool => {
    const address = new URL(url);
    if (user !== undefined) address.username = user;
    const pool = new pg.Pool({
      connectionString: address.href,
      max: 5,
      connectionTimeoutMillis: PATIENCE_MS,
    });
    pools.push(pool);
    return pool;
  };

  const createSchema = async (): Promise<string> => {
    schemas += 1;
    const schema = `case_${schemas}`;
    await servers.primary.pool.query(`create schema ${schema}`);
    return schema;
  };

  /** A handle on a schema of its own. */
  const open = async (
    reading = connect(servers.replica.url),
    states: (readonly [ReplicaState, unknown?])[] = [],
  ) => {
    const schema = await createSchema();
    const database = createPostgresDatabase({
      pool: connect(servers.primary.url),
      schema,
      timeoutMs: PATIENCE_MS,
      replicas: [{ pool: reading, onState: (...state) => states.push(state) }],
    });
    await migrate(database, { collections: [NOTES] });
    const clock = createFakeClock();
    const ports = createSqlPorts(database, { clock, ids: createFakeIds(1) });
    return { database, ports, notes: ports.store.collection(NOTES), states, schema };
  };

  /** No time passes, so reads wait for the replica however busy the machine is. */
  const holdTime = (): void => void vi.useFakeTimers({ toFake: ['performance'] });

  /** A pool that notes the statements which name the table of the collection or the ledger. */
  const watch = (pool: pg.Pool) => {
    const statements: string[] = [];
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...args: unknown[]) => unknown;
      Object.assign(client, {
        query(...args: unknown[]) {
          const { text = '' } = args[0] as { text?: string };
          if (text.includes('questline_')) statements.push(text);
          return query(...args);
        },
      });
    });
    return statements;
  };

  describe('suites', () => {
    const engine: Engine = {
      name: 'PostgreSQL with a replica',
      async open() {
        const own: pg.Pool[] = [];
        const schema = await createSchema();
        const connectBoth = (): SqlDatabase => {
          const [pool, reading] = [servers.primary.url, servers.replica.url].map((connectionString) => {
            const made = new pg.Pool({ connectionString, max: 5, connectionTimeoutMillis: PATIENCE_MS });
            own.push(made);
            return made;
          }) as [pg.Pool, pg.Pool];
          return createPostgresDatabase({
            pool,
            schema,
            timeoutMs: PATIENCE_MS,
            replicas: [{ pool: reading }],
          });
        };
        return {
          database: connectBoth(),
          address: { dialect: 'postgres', url: servers.primary.url, schema },
          peer: connectBoth,
          close: async () => void (await Promise.all(own.map((pool) => pool.end()))),
        };
      },
    };
    const shared = shareDatabase(engine, storeSuiteCollections);
    const create = async () => {
      const clock = createFakeClock();
      const toPorts = (database: SqlDatabase, seed: number): SqlPorts =>
        createSqlPorts(database, { clock, ids: createFakeIds(seed) });
      return {
        ports: toPorts(await shared.fresh(), 1),
        peer: toPorts(shared.peer(), 2),
        time: fakeTime(clock),
      };
    };

    storeSuite({
      name: engine.name,
      create: async () => {
        const { ports, peer, time } = await create();
        return { store: ports.store, peers: [peer.store], time };
      },
    });
    ledgerSuite({
      name: engine.name,
      create: async () => {
        const { ports, peer, time } = await create();
        return { ledger: ports.ledger, peers: [peer.ledger], time };
      },
    });
  });

  it('reads lists, counts and reports from it, and nothing else', async () => {
    holdTime();
    const reading = connect(servers.replica.url);
    const statements = watch(reading);
    const { ports, notes, states } = await open(reading);
    const { ledger, store } = ports;
    await ledger.grant({ account: 'user:a', amount: 10, key: 'a', reason: 'start' });
    await notes.insert({ id: 'a', userId: 'a' });
    await notes.get('a');
    await notes.find({ userId: 'a' }, { limit: 1 });
    await store.transaction((inside) => inside.collection(NOTES).find({ userId: 'a' }));
    await ledger.balance('user:a');
    expect(statements).toEqual([]);

    const range = { from: 0, to: 1, groupBy: [], limit: 10 };
    const reads = [
      () => notes.find({ userId: 'a' }),
      () => notes.count({ userId: 'a' }),
      () => ledger.entries('user:a', { limit: 10 }),
      () => ledger.charges({ account: 'user:a' }, 10),
      () => ledger.spent({ account: 'user:a' }, 0),
      () => ledger.sumCharges?.({ filter: { account: 'user:a' }, ...range }),
    ];
    for (const [at, read] of reads.entries()) {
      await read();
      expect(statements, String(read)).toHaveLength(at + 1);
    }
    expect(states.map(([state]) => state)).toEqual(['used']);
  });

  it('reads what another process has just written, again and again', async () => {
    const { notes, schema, states } = await open();
    const writer = createPostgresDatabase({
      pool: connect(servers.primary.url),
      schema,
      timeoutMs: PATIENCE_MS,
    });
    const written = createSqlPorts(writer, {
      clock: createFakeClock(),
      ids: createFakeIds(2),
    }).store.collection(NOTES);
    for (let at = 0; at < 200; at += 1) {
      await written.insert({ id: String(at), userId: 'a' });
      expect(await notes.count({ userId: 'a' })).toBe(at + 1);
    }
    expect(states.map(([state]) => state)).toContain('used');
  });

  describe('that is behind', () => {
    beforeEach(() => servers.replica.pool.query('select pg_wal_replay_pause()'));
    afterEach(() => servers.replica.pool.query('select pg_wal_replay_resume()'));

    it('reads from the primary', async () => {
      const reading = connect(servers.replica.url);
      const statements = watch(reading);
      const { notes, states } = await open(reading);
      await notes.insert({ id: 'a', userId: 'a' });
      expect(await notes.find({ userId: 'a' })).toEqual([{ id: 'a', userId: 'a' }]);
      expect(await notes.count({ userId: 'a' })).toBe(1);
      expect(statements).toEqual([]);
      expect(states.map(([state]) => state)).toEqual(['behind']);
    });
  });

  it('reads from the primary when its user may not read the tables', async () => {
    holdTime();
    await servers.primary.pool.query('create role stranger login');
    const { notes, states } = await open(connect(servers.replica.url, 'stranger'));
    await notes.insert({ id: 'a', userId: 'a' });
    expect(await notes.find({ userId: 'a' })).toHaveLength(1);
    expect(states.map(([state]) => state)).toEqual(['used', 'failed']);
    expect(states[1]?.[1]).toMatchObject({ code: '42501' });
  });

  it('reads from the primary when its connections have another search path', async () => {
    holdTime();
    const [mine, other] = [await createSchema(), await createSchema()];
    const onPath = (url: string, schema: string) => connect(`${url}?options=-csearch_path%3D${schema}`);
    for (const schema of [mine, other]) {
      const plain = createPostgresDatabase({ pool: onPath(servers.primary.url, schema) });
      await migrate(plain, { collections: [NOTES] });
    }
    const states: (readonly [ReplicaState, unknown?])[] = [];
    const openNotes = (path: string) =>
      createSqlStore(
        createPostgresDatabase({
          pool: onPath(servers.primary.url, mine),
          replicas: [{ pool: onPath(servers.replica.url, path), onState: (...state) => states.push(state) }],
        }),
      ).collection(NOTES);
    await openNotes(mine).insert({ id: 'a', userId: 'a' });
    expect(await openNotes(other).find({ userId: 'a' })).toHaveLength(1);
    expect(states).toEqual([['failed', new Error('the server has another database or schema')]]);
    expect(await openNotes(mine).find({ userId: 'a' })).toHaveLength(1);
    expect(states.at(-1)).toEqual(['used', undefined]);
  });

  it('reads although its observer throws', async () => {
    const database = createPostgresDatabase({
      pool: connect(servers.primary.url),
      schema: await createSchema(),
      replicas: [
        {
          pool: connect(servers.replica.url),
          onState() {
            throw new Error('the observer');
          },
        },
      ],
    });
    await migrate(database, { collections: [NOTES] });
    const notes = createSqlStore(database).collection(NOTES);
    expect([await notes.count({}), await notes.count({})]).toEqual([0, 0]);
  });

  it('rejects with the reason of a read that was aborted', async () => {
    const { notes, states } = await open();
    const signal = AbortSignal.abort(new Error('left'));
    await expect(notes.find({ userId: 'a' }, { signal })).rejects.toThrow('left');
    expect(states.map(([state]) => state)).not.toContain('failed');
  });

  it('reads from the primary when it is the primary, or another server', async () => {
    const own = await open(connect(servers.primary.url));
    await own.notes.insert({ id: 'a', userId: 'a' });
    expect(await own.notes.find({ userId: 'a' })).toHaveLength(1);
    expect(own.states).toEqual([['failed', new Error('the server does not follow another one')]]);

    const other = await startOther(String(PROGRAMS));
    try {
      const strange = await open(connect(other.url));
      await strange.notes.insert({ id: 'a', userId: 'a' });
      expect(await strange.notes.find({ userId: 'a' })).toHaveLength(1);
      expect(strange.states).toEqual([['failed', new Error('the server has another database or schema')]]);
      await Promise.all(pools.splice(0).map((pool) => pool.end()));
    } finally {
      await other.stop();
    }
  });

  it('reads from the primary while it is down, and from it again afterwards', async () => {
    holdTime();
    const { notes, states } = await open();
    await notes.insert({ id: 'a', userId: 'a' });
    expect(await notes.find({ userId: 'a' })).toHaveLength(1);
    await servers.replica.crash(async () => {
      expect(await notes.find({ userId: 'a' })).toHaveLength(1);
    });
    expect(states.map(([state]) => state)).toEqual(['used', 'failed']);
    vi.advanceTimersByTime(5000);
    expect(await notes.find({ userId: 'a' })).toHaveLength(1);
    expect(states.map(([state]) => state)).toEqual(['used', 'failed', 'used']);
  });

  it('reads from the primary once it follows it no longer', async () => {
    const { notes, states } = await open();
    await notes.insert({ id: 'a', userId: 'a' });
    await servers.replica.promote();
    expect(await notes.find({ userId: 'a' })).toHaveLength(1);
    expect(states.at(-1)).toEqual(['failed', new Error('the server does not follow another one')]);
  });
});
