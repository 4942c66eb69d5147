import type { JobHandler } from '../jobs/handler.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { JobQueue, LeasedJob, Reschedule } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import type { Incident } from '../shared/incident.ts';
import { withTimeout } from '../shared/timeouts.ts';
import type { EventHandler, EventListener, HostEvent } from './event.ts';
import { DELIVER_EVENT, enqueueDelivery, RETRY_EVENT } from './outbox.ts';
import { EVENT_OUTBOX, type OutboxRecord } from './records.ts';

const CONCURRENCY = 16;
/** Apart from first deliveries, so that events that always fail do not take their places. */
const RETRY_CONCURRENCY = 8;
/** Maximum time of one call of the host's handler. */
const HANDLER_MS = 30_000;
const MAX_PAUSE_MS = 600_000;
/** Each pause is up to this much shorter, so that events that failed together are not repeated together. */
const JITTER = 0.1;
/** A failing event is repeated for this time. */
const RETRY_MS = 24 * 3_600_000;
/** An event that was not delivered is stored for this time. */
const FAILED_EVENT_MS = 30 * 86_400_000;

export interface DeliveryServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly onEvent: EventHandler | undefined;
  readonly eventListeners: readonly EventListener[];
  readonly eventGraceMs: number;
  readonly onError: (incident: Incident) => void;
}

/**
 * Delivers events: to the listeners of the service once, and to the host until its handler resolves or 24 hours have
 * passed since its first failure.
 */
export function createEventDelivery(services: DeliveryServices): readonly JobHandler[] {
  const { clock, ids, queue, onEvent, eventListeners, eventGraceMs, onError } = services;
  const outbox = services.store.collection(EVENT_OUTBOX);

  const report = (error: unknown): void => onError({ operation: 'onEvent', requestId: '', error });

  /** Stores the failure. @returns the record to repeat; undefined: the event is given up. */
  const fail = async (record: OutboxRecord, event: HostEvent): Promise<OutboxRecord | undefined> => {
    const now = clock.now();
    const { failures = 0, failingSince = now } = record;
    if (now - failingSince >= RETRY_MS) {
      await outbox.update(record.id, { failedAt: now, checkAt: now + FAILED_EVENT_MS });
      report(
        new Error(`the event ${event.id} (${event.type}) is not delivered: onEvent failed for 24 hours`),
      );
      return undefined;
    }
    const pause = Math.min(MAX_PAUSE_MS, 1000 * 2 ** failures);
    const retryAt = now + Math.round(pause * (1 - JITTER * ((ids.bytes(1)[0] ?? 0) / 255)));
    const patch = { failures: failures + 1, failingSince, retryAt, checkAt: retryAt + eventGraceMs };
    return outbox.update(record.id, patch);
  };

  const run = async (job: LeasedJob, signal: AbortSignal): Promise<Reschedule | undefined> => {
    const { id } = job.payload as { readonly id: string };
    const record = await outbox.get(id);
    // A record without an event is a charge that is not settled yet.
    if (record?.event === undefined || record.failedAt !== undefined) return undefined;
    const { event } = record;
    if (record.isFannedOut !== true && eventListeners.length > 0) {
      for (const listener of eventListeners) await listener(event);
      await outbox.update(id, { isFannedOut: true });
    }
    if (onEvent !== undefined) {
      try {
        await withTimeout(clock, HANDLER_MS, hangs, signal, async () => onEvent(event));
      } catch (error) {
        signal.throwIfAborted();
        report(error);
        const again = await fail(record, event);
        if (again === undefined) return undefined;
        // Not counted: the worker drops a job after its last attempt.
        const afterMs = (again.retryAt ?? 0) - clock.now();
        if (job.kind === RETRY_EVENT) return { afterMs, countAttempt: false };
        await enqueueDelivery(queue, again);
        return undefined;
      }
    }
    await outbox.take(id);
    return undefined;
  };

  return [
    { kind: DELIVER_EVENT, concurrency: CONCURRENCY, run },
    { kind: RETRY_EVENT, concurrency: RETRY_CONCURRENCY, run },
  ];
}

function hangs(): Error {
  return new Error(`onEvent did not answer within ${HANDLER_MS} ms`);
}
