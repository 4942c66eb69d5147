import {
  createFakeClock,
  createFakeIds,
  eventLogSuite,
  fakeTime,
  ledgerSuite,
  limiterSuite,
  queueSuite,
  storeSuite,
  storeSuiteCollections,
} from '@questline/testing';
import { describe } from 'vitest';
import {
  createShardDirectory,
  createSqlPorts,
  SHARD_COLLECTIONS,
  type SqlDatabase,
  shard,
} from '../src/index.ts';
import { ENGINES } from './engines.ts';
import { shareDatabase } from './shared.ts';

const COLLECTIONS = [...storeSuiteCollections, ...SHARD_COLLECTIONS];

const SHARED_CAPS = 'accounts of two shards share a cap; `accounts: home` keeps it exact';

/** Two shards and a home database, in which the suites' owners are spread. */
describe.each(ENGINES.filter(({ name }) => name === 'SQLite in memory' || name === 'PostgreSQL'))(
  'two shards on $name',
  (engine) => {
    const home = shareDatabase(engine, COLLECTIONS);
    const first = shareDatabase(engine, COLLECTIONS);
    const second = shareDatabase(engine, COLLECTIONS);

    const create = async (accounts: 'owner' | 'home' = 'owner') => {
      const clock = createFakeClock();
      const open = (seed: number, at: SqlDatabase, a: SqlDatabase, b: SqlDatabase) => {
        const toPorts = (database: SqlDatabase, more: number) =>
          createSqlPorts(database, { clock, ids: createFakeIds(seed + more) });
        const homePorts = toPorts(at, 0);
        return shard({
          home: homePorts,
          shards: { a: toPorts(a, 1), b: toPorts(b, 2) },
          directory: createShardDirectory({
            store: homePorts.store,
            shards: ['a', 'b'],
            choose: (owner) => ((owner.codePointAt(0) ?? 0) % 2 === 1 ? 'a' : 'b'),
          }),
          checksIds: true,
          isOwner: () => true,
          getStreamOwner: (stream) => stream,
          accounts,
        });
      };
      const ports = open(1, await home.fresh(), await first.fresh(), await second.fresh());
      const peer = open(11, home.peer(), first.peer(), second.peer());
      return { ports, peer, time: fakeTime(clock) };
    };

    storeSuite({
      name: engine.name,
      skip: {
        'moves an updated record in every list that contains it':
          'it changes the owner of a record to one of another shard, which the store rejects',
        'deletes, and adds to records that exist, in one step with other writes':
          'its step deletes records of owners on two shards, which has no effect',
      },
      create: async () => {
        const { ports, peer, time } = await create();
        return { store: ports.store, peers: [peer.store], time };
      },
    });
    ledgerSuite({
      name: engine.name,
      skip: {
        'shares a cap between accounts': SHARED_CAPS,
        'grants exactly what the tightest of three stacked caps allows to 200 parallel holds': SHARED_CAPS,
        'exports every entry once, in order, with the cause of each charge':
          'entries of two databases have an order, but not that of time',
      },
      create: async () => {
        const { ports, peer, time } = await create();
        return { ledger: ports.ledger, peers: [peer.ledger], time };
      },
    });
    ledgerSuite({
      name: `${engine.name}, with accounts in the home database`,
      create: async () => {
        const { ports, peer, time } = await create('home');
        return { ledger: ports.ledger, peers: [peer.ledger], time };
      },
    });
    queueSuite({
      name: engine.name,
      create: async () => {
        const { ports, peer, time } = await create();
        return { queue: ports.queue, peers: [peer.queue], time };
      },
    });
    limiterSuite({
      name: engine.name,
      create: async () => {
        const { ports, peer, time } = await create();
        return { limiter: ports.limiter, peers: [peer.limiter], time };
      },
    });
    eventLogSuite({
      name: engine.name,
      create: async () => {
        const { ports, peer, time } = await create();
        return { eventLog: ports.eventLog, peers: [peer.eventLog], time };
      },
    });
  },
);
