import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import type { LeasedJob, NewJob } from '../ports/queue.ts';
import { wrapCollection } from '../ports/wrap-collection.ts';
import { createEventDelivery } from './deliver.ts';
import type { EventHandler, EventListener, HostEvent } from './event.ts';
import { EVENT_OUTBOX, type OutboxRecord } from './records.ts';

const DAY_MS = 86_400_000;
const GRACE_MS = 60_000;
const NOW = Date.UTC(2026, 5, 1, 12);
const EVENT: HostEvent = {
  id: 'evt_e',
  type: 'user.created',
  createdAt: NOW,
  data: { id: 'u', userId: 'u' },
};
const RECORD: OutboxRecord = { id: 'e', event: EVENT, checkAt: NOW, createdAt: NOW };

function away(): never {
  throw new Error('the host is away');
}

/** Delivers one stored event. @param byte decides about the jitter: 0 to 255. */
async function setUp({
  record = {},
  onEvent = () => undefined,
  eventListeners = [],
  byte = 0,
}: {
  readonly record?: Partial<OutboxRecord>;
  readonly onEvent?: EventHandler;
  readonly eventListeners?: readonly EventListener[];
  readonly byte?: number;
} = {}) {
  const clock = createFakeClock(NOW);
  const store = createMemoryStore();
  const records = store.collection(EVENT_OUTBOX);
  await records.insert({ ...RECORD, ...record });
  const failing = new Set<'update' | 'take' | 'queue'>();
  const fail = async (what: 'update' | 'take' | 'queue'): Promise<void> => {
    if (failing.has(what)) throw new Error(`${what} is away`);
  };
  const jobs: NewJob[] = [];
  const incidents: string[] = [];
  const [first, retry] = createEventDelivery({
    store: {
      ...store,
      collection: (definition) => {
        const collection = store.collection(definition);
        return wrapCollection(collection, {
          update: async (...args) => fail('update').then(() => collection.update(...args)),
          take: async (...args) => fail('take').then(() => collection.take(...args)),
        });
      },
    },
    queue: { enqueue: (job: NewJob) => fail('queue').then(() => jobs.push(job)) } as never,
    ...{ clock, onEvent, eventListeners, eventGraceMs: GRACE_MS },
    ids: { bytes: () => Uint8Array.of(byte) } as never,
    onError: ({ error }) => void incidents.push(String(error)),
  });
  const run = (handler: typeof first, signal: AbortSignal) =>
    handler?.run(
      { kind: handler.kind, payload: { id: 'e' } } as unknown as LeasedJob,
      signal,
      async () => undefined,
    );
  return {
    ...{ clock, records, failing, jobs, incidents },
    deliver: (signal = new AbortController().signal) => run(first, signal),
    repeat: () => run(retry, new AbortController().signal),
    stored: () => records.get('e'),
  };
}

describe('an event that the host does not accept', () => {
  it.each([
    [undefined, 0, 1000],
    [undefined, 255, 900],
    [1, 0, 2000],
    [2, 51, 3920],
    [3, 128, 7598],
    [9, 0, 512_000],
    [10, 0, 600_000],
    [10, 255, 540_000],
    [200, 0, 600_000],
  ])('is repeated with growing pauses: %s failures, byte %i, %i ms', async (failures, byte, pause) => {
    const failingSince = failures === undefined ? undefined : NOW - 3000;
    const record: Partial<OutboxRecord> =
      failures === undefined ? {} : { failures, failingSince: NOW - 3000 };
    const app = await setUp({ onEvent: away, byte, record });
    const next = {
      ...{ failures: (failures ?? 0) + 1, failingSince: failingSince ?? NOW },
      ...{ retryAt: NOW + pause, checkAt: NOW + pause + GRACE_MS },
    };
    expect(await app.deliver()).toBeUndefined();
    expect(app.jobs).toMatchObject([{ kind: 'retry-event', runAt: NOW + pause, payload: { id: 'e' } }]);
    expect(await app.stored()).toEqual({ ...RECORD, ...next });
    const again = await setUp({ onEvent: away, byte, record });
    expect(await again.repeat()).toEqual({ afterMs: pause, countAttempt: false });
    expect([await again.stored(), again.jobs]).toEqual([{ ...RECORD, ...next }, []]);
    expect(again.incidents).toEqual(['Error: the host is away']);
  });

  it('is given up 24 hours after the first failure', async () => {
    const left: unknown[] = [];
    for (const age of [DAY_MS - 1, DAY_MS]) {
      const app = await setUp({ onEvent: away, record: { failures: 9, failingSince: NOW - age } });
      const next = await app.repeat();
      const { failedAt, checkAt } = (await app.stored()) ?? {};
      left.push([next, failedAt, checkAt, app.incidents.length]);
    }
    expect(left).toEqual([
      [{ afterMs: 512_000, countAttempt: false }, undefined, NOW + 512_000 + GRACE_MS, 1],
      [undefined, NOW, NOW + 30 * DAY_MS, 2],
    ]);
  });

  it('is not lost or reported as given up while the store or the queue is away', async () => {
    const old = await setUp({ onEvent: away, record: { failingSince: NOW - DAY_MS } });
    old.failing.add('update');
    await expect(old.deliver()).rejects.toThrow('update is away');
    expect(old.incidents).toEqual(['Error: the host is away']);
    const recent = await setUp({ onEvent: away });
    recent.failing.add('queue');
    await expect(recent.deliver()).rejects.toThrow('queue is away');
  });

  it('has no failure when the process stops meanwhile', async () => {
    const stopping = new AbortController();
    const app = await setUp({ onEvent: () => new Promise(() => undefined) });
    const run = app.deliver(stopping.signal);
    await app.clock.advance(0);
    stopping.abort(new Error('the process stops'));
    await expect(run).rejects.toThrow('the process stops');
    expect([await app.stored(), app.incidents]).toEqual([RECORD, []]);
  });
});

describe('an event that is accepted', () => {
  it('is deleted, before its job ends', async () => {
    const app = await setUp();
    app.failing.add('take');
    await expect(app.deliver()).rejects.toThrow('take is away');
    app.failing.clear();
    await app.deliver();
    expect(await app.stored()).toBeUndefined();
  });

  it.each<[string, object]>([
    ['it was given up', { failedAt: NOW }],
    ['its charge is not settled', { event: undefined }],
  ])('is not delivered when %s', async (_, record) => {
    const heard: HostEvent[] = [];
    const app = await setUp({ record, onEvent: (event) => void heard.push(event) });
    expect(await app.deliver()).toBeUndefined();
    expect([heard, await app.stored()]).toEqual([[], { ...RECORD, ...record }]);
  });
});

describe('listeners within the service', () => {
  /** Delivers an event to a number of listeners and a host, which fails. */
  async function deliver(count: number, record: Partial<OutboxRecord> = {}) {
    const heard: string[] = [];
    const app = await setUp({
      record,
      onEvent(event) {
        heard.push(`host ${event.id}`);
        away();
      },
      eventListeners: Array.from({ length: count }, (_, at) => async (event) => {
        await Promise.resolve();
        heard.push(`${at} ${event.id}`);
      }),
    });
    await app.deliver();
    return { app, heard };
  }

  it('hear each event once, in turn and before the host', async () => {
    const { app, heard } = await deliver(2);
    expect(heard).toEqual(['0 evt_e', '1 evt_e', 'host evt_e']);
    expect(await app.stored()).toMatchObject({ isFannedOut: true, failures: 1 });
    await app.repeat();
    expect(heard.slice(3)).toEqual(['host evt_e']);
    expect((await deliver(1)).heard).toEqual(['0 evt_e', 'host evt_e']);
  });

  it('change nothing in the record if there are none', async () => {
    const { app } = await deliver(0);
    expect(await app.stored()).not.toHaveProperty('isFannedOut');
  });

  it('hear it again after a failure of one of them or of the store, and the host does not hear it', async () => {
    const heard: HostEvent[] = [];
    const onEvent = (event: HostEvent): void => void heard.push(event);
    const broken = await setUp({ onEvent, eventListeners: [async () => away()] });
    await expect(broken.deliver()).rejects.toThrow('the host is away');
    const app = await setUp({ onEvent, eventListeners: [async () => undefined] });
    app.failing.add('update');
    await expect(app.deliver()).rejects.toThrow('update is away');
    expect([await broken.stored(), await app.stored(), heard]).toEqual([RECORD, RECORD, []]);
  });
});
