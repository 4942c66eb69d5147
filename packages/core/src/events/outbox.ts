import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import type { Incident } from '../shared/incident.ts';
import type { EventType, HostEvent, NewEvent } from './event.ts';
import { getEventRecordId, toEventId } from './ids.ts';
import { EVENT_OUTBOX, type OutboxRecord } from './records.ts';

/** The job kind that delivers one event. */
export const DELIVER_EVENT = 'deliver-event';
/** The job kind that delivers one event again. */
export const RETRY_EVENT = 'retry-event';

/** Who receives events. Read before a transaction, because a transaction reads through one connection only. */
export interface EventReceivers {
  /** Looks who receives events, if the last look is too old. Never rejects. @returns undefined if it is not. */
  refresh(): Promise<void> | undefined;
  /** False: no event is wanted. */
  isActive(): boolean;
  wants(type: EventType): boolean;
}

/** Stores events until they are delivered. */
export interface EventOutbox {
  /** Milliseconds after which the sweep looks at a record. */
  readonly graceMs: number;
  /** Who receives events now. */
  readonly receivers: EventReceivers;
  /** Adds an event in the caller's transaction. @returns the record to announce after the commit. */
  add(store: Store, event: NewEvent): Promise<OutboxRecord>;
  /** Starts the delivery of stored events. Returns at once; the sweep finds events that could not be enqueued. */
  announce(records: readonly OutboxRecord[]): void;
}

export interface OutboxServices {
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly graceMs: number;
  readonly receivers: EventReceivers;
  readonly onError: (incident: Incident) => void;
}

export function createOutbox({ queue, clock, graceMs, receivers, onError }: OutboxServices): EventOutbox {
  return {
    graceMs,
    receivers,
    async add(store, event) {
      const now = clock.now();
      const record = toOutboxRecord(event, now, now + graceMs);
      await store.collection(EVENT_OUTBOX).insert(record);
      return record;
    },
    announce(records) {
      for (const record of records) {
        enqueueDelivery(queue, record).catch((error: unknown) =>
          onError({ operation: 'events', requestId: '', error }),
        );
      }
    },
  };
}

export function toOutboxRecord({ key, ...event }: NewEvent, now: number, checkAt: number): OutboxRecord {
  const id = getEventRecordId(event.type, key ?? event.data.id);
  return { id, event: { id: toEventId(id), createdAt: now, ...event } as HostEvent, checkAt, createdAt: now };
}

/** Adds the next delivery job of an event, unless it has one. */
export async function enqueueDelivery(queue: JobQueue, record: OutboxRecord): Promise<void> {
  const { id, event, retryAt } = record;
  const { userId, organizationId } = event?.data ?? {};
  const owner = userId ?? organizationId;
  await queue.enqueue({
    ...(retryAt === undefined
      ? { kind: DELIVER_EVENT, key: `event:${id}` }
      : { kind: RETRY_EVENT, key: `event-retry:${id}`, runAt: retryAt }),
    payload: { id },
    ...(owner !== undefined && { owner: owner.slice(0, 200) }),
  });
}
