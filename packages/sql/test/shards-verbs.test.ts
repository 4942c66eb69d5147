import { createIds, createMemoryPorts, createSystemClock } from '@questline/core/memory';
import type { Collection, CreditLedger, EventLog, JobQueue, RateLimiter, Store } from '@questline/core/ports';
import { storeSuiteCollections } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSqliteDatabase, createSqlPorts, shard } from '../src/index.ts';

/** Verbs that a store of several databases leaves out, with the reason. */
const LEFT_OUT = new Map([
  ['getWithMatch', 'a shared record and its reference may be in two databases'],
  ['toAppend', 'a stream and its quest may be in two databases'],
]);

/** A verb that a port gains does not compile until it is here. */
const VERBS = {
  store: { collection: 1, transaction: 1, writeAll: 1 } satisfies Record<keyof Store, 1>,
  ledger: {
    balance: 1,
    hold: 1,
    renew: 1,
    renewAll: 1,
    settle: 1,
    toSettlement: 1,
    release: 1,
    record: 1,
    grant: 1,
    entries: 1,
    charges: 1,
    spent: 1,
    sumCharges: 1,
    exportEntries: 1,
    capUsage: 1,
    capUsed: 1,
    archiveCharges: 1,
    countArchivable: 1,
    sweep: 1,
  } satisfies Record<keyof CreditLedger, 1>,
  queue: {
    enqueue: 1,
    lease: 1,
    renew: 1,
    finish: 1,
    retry: 1,
    findKeys: 1,
    writes: 1,
    onReady: 1,
    counts: 1,
  } satisfies Record<keyof JobQueue, 1>,
  limiter: { take: 1, takeAll: 1, peek: 1 } satisfies Record<keyof RateLimiter, 1>,
  eventLog: { append: 1, toAppend: 1, read: 1, compact: 1, expire: 1 } satisfies Record<keyof EventLog, 1>,
};
const COLLECTION = {
  get: 1,
  find: 1,
  count: 1,
  insert: 1,
  update: 1,
  add: 1,
  take: 1,
  removeWhere: 1,
  getWithMatch: 1,
} satisfies Record<keyof Collection<{ id: string }>, 1>;

describe('ports over several databases', () => {
  const options = { clock: createSystemClock(), ids: createIds() };
  const open = () => createSqlPorts(createSqliteDatabase({ path: ':memory:' }), options);
  const ports = shard({ home: open(), shards: { a: open(), b: open() } });

  it.each(Object.entries(VERBS))('have every verb of the %s', (name, verbs) => {
    const port = ports[name as keyof typeof ports];
    const missing = Object.keys(verbs).filter((verb) => !(verb in port) && !LEFT_OUT.has(verb));
    expect(missing).toEqual([]);
  });

  it('have every verb of a collection', () => {
    const collection = ports.store.collection(storeSuiteCollections[0]);
    expect(Object.keys(COLLECTION).filter((verb) => !(verb in collection) && !LEFT_OUT.has(verb))).toEqual(
      [],
    );
  });

  it('leave out verbs that one of the databases does not have', () => {
    const { ledger } = createMemoryPorts(options);
    const { sumCharges: _, ...without } = ledger;
    const partial = shard({ home: { ...open(), ledger: without }, shards: { a: open() } });
    expect(partial.ledger.sumCharges).toBeUndefined();
  });
});
