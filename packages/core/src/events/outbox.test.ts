import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import type { NewJob } from '../ports/queue.ts';
import { wrapCollection } from '../ports/wrap-collection.ts';
import type { HostEvent } from './event.ts';
import { getAccountOwner, getEventRecordId } from './ids.ts';
import { createOutbox, enqueueDelivery, toOutboxRecord } from './outbox.ts';
import { EVENT_OUTBOX, type OutboxRecord } from './records.ts';
import { createEventSweep } from './sweep.ts';

const NOW = Date.UTC(2026, 5, 1, 12);
const GRACE_MS = 60_000;

function toRecord(
  id: string,
  data: { readonly userId?: string; readonly organizationId?: string },
): OutboxRecord {
  const event: HostEvent = {
    id: `evt_${id}`,
    type: 'user.created',
    createdAt: NOW,
    data: { id: 'u', ...data },
  };
  return { id, event, checkAt: NOW, createdAt: NOW };
}

/** A charge that is not settled yet. */
function toIntent(id: string, checkAt: number): OutboxRecord {
  return { id, checkAt, createdAt: NOW };
}

function createQueue(failure?: Error) {
  const jobs: NewJob[] = [];
  const enqueue = async (job: NewJob): Promise<void> => {
    if (failure !== undefined) throw failure;
    jobs.push(job);
  };
  return { jobs, queue: { enqueue } as never };
}

it('gives an event the same id for the same type and key only', () => {
  const ids = ['a', 'b'].flatMap((type) => ['1', '2'].map((key) => getEventRecordId(type, key)));
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{24}$/);
  expect(getEventRecordId('a', '1')).toBe(ids[0]);
  const toId = (key?: string) =>
    toOutboxRecord({ type: 'user.created', ...(key && { key }), data: { id: 'u' } }, NOW, NOW).id;
  expect([toId(), toId('k')]).toEqual([
    getEventRecordId('user.created', 'u'),
    getEventRecordId('user.created', 'k'),
  ]);
});

it.each([
  ['user:u:1', { userId: 'u:1' }],
  ['organization:o', { organizationId: 'o' }],
])('finds the owner of the account %s', (account, owner) => {
  expect(getAccountOwner(account)).toEqual(owner);
});

describe('the job of an event', () => {
  it.each([
    [{ userId: 'u', organizationId: 'o' }, { owner: 'u' }],
    [{ organizationId: 'o'.repeat(201) }, { owner: 'o'.repeat(200) }],
    [{}, {}],
  ])('waits in the line of its owner: %j', async (data, owner) => {
    const { jobs, queue } = createQueue();
    await enqueueDelivery(queue, toRecord('e', data));
    await enqueueDelivery(queue, { ...toRecord('e', data), retryAt: NOW + 1 });
    const payload = { id: 'e' };
    expect(jobs).toEqual([
      { kind: 'deliver-event', key: 'event:e', payload, ...owner },
      { kind: 'retry-event', key: 'event-retry:e', runAt: NOW + 1, payload, ...owner },
    ]);
  });

  it('is reported when it is not announced, with no effect on the change', async () => {
    const incidents: unknown[] = [];
    const failure = new Error('the queue is away');
    const { queue } = createQueue(failure);
    const clock = createFakeClock(NOW);
    const { announce } = createOutbox({
      ...{ queue, clock, graceMs: GRACE_MS, receivers: {} as never },
      onError: (incident) => void incidents.push(incident),
    });
    announce([toRecord('a', {})]);
    await clock.advance(0);
    expect(incidents).toEqual([{ operation: 'events', requestId: '', error: failure }]);
  });
});

it('is written before the transaction goes on', async () => {
  const store = createMemoryStore();
  const outbox = createOutbox({
    ...{ queue: createQueue().queue, clock: createFakeClock(NOW), graceMs: GRACE_MS },
    ...{ receivers: {} as never, onError: () => undefined },
  });
  const away = { ...store, collection: () => ({ insert: () => Promise.reject(new Error('away')) }) as never };
  const event = { type: 'user.created', data: { id: 'u' } } as const;
  await expect(outbox.add(away, event)).rejects.toThrow('away');
});

describe('the sweep of events', () => {
  /** Runs it on stored records. @param away what fails. */
  async function sweep(
    records: readonly OutboxRecord[],
    away: 'nothing' | 'queue' | 'take' | 'update' = 'nothing',
  ) {
    const store = createMemoryStore();
    const outbox = store.collection(EVENT_OUTBOX);
    for (const record of records) await outbox.insert(record);
    const { jobs, queue } = createQueue(away === 'queue' ? new Error('queue is away') : undefined);
    const recovered: string[] = [];
    const incidents: string[] = [];
    const fail = async (what: string): Promise<void> => {
      if (what === away) throw new Error(`${what} is away`);
    };
    const task = createEventSweep({
      store: {
        ...store,
        collection: (definition) => {
          const collection = store.collection(definition);
          return wrapCollection(collection, {
            update: (...args) => fail('update').then(() => collection.update(...args)),
            take: (...args) => fail('take').then(() => collection.take(...args)),
          });
        },
      },
      ...{ queue, clock: createFakeClock(NOW), eventGraceMs: GRACE_MS },
      chargeEvents: {
        ledger: {} as never,
        async recover({ id }) {
          await Promise.resolve();
          if (id === 'broken') throw new Error('no ledger');
          recovered.push(id);
        },
      },
      onError: ({ error }) => void incidents.push(String(error)),
    });
    const [ended] = await Promise.allSettled([task.run()]);
    return {
      task,
      ended,
      jobs: jobs.map(({ key }) => key),
      recovered,
      incidents,
      left: await outbox.find({}),
    };
  }

  it('looks at the start, and twice in the time after which a record is due', async () => {
    const { task } = await sweep([]);
    expect(task).toMatchObject({ everyMs: GRACE_MS / 2, atStart: true });
  });

  it('enqueues due events, recovers charges and deletes events that were given up', async () => {
    const { left, jobs, recovered, incidents } = await sweep([
      toRecord('due', {}),
      { ...toRecord('later', {}), checkAt: NOW + 1 },
      toIntent('charge', NOW),
      { ...toRecord('given-up', {}), failedAt: 1 },
    ]);
    expect([jobs, recovered, incidents]).toEqual([['event:due'], ['charge'], []]);
    expect(left.map(({ id, checkAt }) => [id, checkAt - NOW])).toEqual([
      ['charge', GRACE_MS],
      ['due', GRACE_MS],
      ['later', 1],
    ]);
  });

  it('goes on after a record that fails, which waits like the others', async () => {
    const broken = toIntent('broken', NOW - 1);
    const { left, jobs, incidents } = await sweep([broken, toRecord('due', {})]);
    expect([jobs, incidents]).toEqual([['event:due'], ['Error: no ledger']]);
    expect(left.map(({ checkAt }) => checkAt)).toEqual([NOW + GRACE_MS, NOW + GRACE_MS]);
    const away = await sweep([toRecord('a', {}), toRecord('b', {})], 'queue');
    expect(away.incidents).toEqual(['Error: queue is away', 'Error: queue is away']);
  });

  it('takes at most 500 records, the longest due first', async () => {
    const records = Array.from({ length: 502 }, (_, at) => ({
      ...toRecord(String(at).padStart(3, '0'), {}),
      checkAt: NOW - at,
    }));
    const { jobs, left } = await sweep(records);
    expect([jobs.length, jobs[0], jobs.at(-1)]).toEqual([500, 'event:501', 'event:002']);
    expect(left.filter(({ checkAt }) => checkAt <= NOW).map(({ id }) => id)).toEqual(['000', '001']);
  });

  it.each(['take', 'update'] as const)('ends with a failure of the store: %s', async (away) => {
    const { ended } = await sweep([{ ...toRecord('a', {}), ...(away === 'take' && { failedAt: 1 }) }], away);
    expect(ended).toMatchObject({ status: 'rejected', reason: { message: `${away} is away` } });
  });
});
