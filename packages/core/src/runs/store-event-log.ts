import type { Clock } from '../ports/clock.ts';
import type { AppendResult, EventLog } from '../ports/event-log.ts';
import { defineCollection, type Json, type Store, type StoredRecord } from '../ports/store.ts';
import { type EventBatch, joinBatches, toPage } from './event-batches.ts';

/** A batch of events. Its id consists of the stream and the first sequence: two batches cannot begin at one sequence. */
export interface EventBatchRecord extends StoredRecord, Omit<EventBatch, 'events'> {
  readonly stream: string;
  /** JSON as text: an engine may change texts inside of JSON. */
  readonly events: string;
  readonly attempt: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Not named `event_batches`, because an engine with its own event log uses a table of this name. */
export const EVENT_BATCHES = defineCollection<EventBatchRecord>({
  name: 'live_events',
  columns: { stream: 'text', first: 'integer', last: 'integer', expiresAt: 'integer' },
  unique: [],
  indexes: [['stream', 'last'], ['expiresAt']],
});

/** Maximum batches of one page. */
const MAX_BATCHES = 16;
const MAX_EXPIRED = 100;
const MAX_RECORDS = 1000;

/** Creates an event log on any store. Its guarantees are those of the store. */
export function createStoreEventLog(ports: { readonly store: Store; readonly clock: Clock }): EventLog {
  const { store, clock } = ports;
  const batches = store.collection(EVENT_BATCHES);
  const toId = (stream: string, first: number): string => `${stream}:${String(first).padStart(12, '0')}`;

  const findHead = async (stream: string): Promise<EventBatchRecord | undefined> => {
    const [head] = await batches.find({ stream }, { order: { field: 'last', direction: 'desc' }, limit: 1 });
    return head;
  };
  const findAll = async (from: Store, stream: string): Promise<readonly EventBatchRecord[]> => {
    const all: EventBatchRecord[] = [];
    for (;;) {
      const last = all.at(-1);
      const page = await from.collection(EVENT_BATCHES).find(
        { stream },
        {
          order: { field: 'last', direction: 'asc' },
          limit: MAX_RECORDS,
          ...(last !== undefined && { after: { value: last.last, id: last.id } }),
        },
      );
      all.push(...page);
      if (page.length < MAX_RECORDS) return all;
    }
  };
  const refused = (head: EventBatchRecord | undefined): AppendResult => ({
    isAppended: false,
    last: head?.last ?? 0,
    attempt: head?.attempt ?? 0,
  });

  return {
    async append(stream, { attempt, after, events, keepMs }, options) {
      options?.signal?.throwIfAborted();
      // A new stream needs no look.
      const head = after === 0 ? undefined : await findHead(stream);
      if ((head?.last ?? 0) !== after || (head?.attempt ?? 0) > attempt) return refused(head);
      const [first, last] = [after + 1, after + events.length];
      const expiresAt = clock.now() + keepMs;
      // A concurrent batch with the same `after` has the same id.
      const isAppended = await batches.insert(
        { id: toId(stream, first), stream, first, last, attempt, expiresAt, events: JSON.stringify(events) },
        options,
      );
      return isAppended ? { isAppended, last, attempt } : refused(await findHead(stream));
    },

    async read(stream, after, options) {
      const found = await batches.find(
        { stream, last: { gte: after } },
        { order: { field: 'last', direction: 'asc' }, limit: MAX_BATCHES, ...options },
      );
      return toPage(found.map(toBatch), after);
    },

    async compact(stream, keepMs, options) {
      const expiresAt = clock.now() + keepMs;
      await store.transaction(async (transaction) => {
        const all = await findAll(transaction, stream);
        const attempt = Math.max(...all.map((batch) => batch.attempt));
        const target = transaction.collection(EVENT_BATCHES);
        for (const { id } of all) await target.take(id);
        for (const batch of joinBatches(all.map(toBatch))) {
          const { first, last } = batch;
          const events = JSON.stringify(batch.events);
          await target.insert({ id: toId(stream, first), stream, first, last, events, attempt, expiresAt });
        }
      }, options);
    },

    async expire(options) {
      const now = clock.now();
      let expired = 0;
      const due = await batches.find(
        { expiresAt: { lte: now } },
        { order: { field: 'expiresAt', direction: 'asc' }, limit: MAX_EXPIRED, ...options },
      );
      for (const stream of new Set(due.map((batch) => batch.stream))) {
        // The last batch decides.
        const head = await findHead(stream);
        if (head === undefined || head.expiresAt > now) continue;
        for (const { id } of await findAll(store, stream))
          await batches.take(id, { expiresAt: { lte: now } });
        expired += 1;
      }
      return expired;
    },
  };
}

function toBatch({ first, last, events }: EventBatchRecord): EventBatch {
  return { first, last, events: JSON.parse(events) as Json[] };
}
