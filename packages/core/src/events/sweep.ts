import type { PeriodicTask } from '../jobs/engine.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import type { Incident } from '../shared/incident.ts';
import type { ChargeEvents } from './charges.ts';
import { enqueueDelivery } from './outbox.ts';
import { EVENT_OUTBOX } from './records.ts';

const BATCH = 500;

/**
 * Finds events that a crash left: charges that may be settled, and events without a delivery job. Deletes events that
 * were given up long ago.
 */
export function createEventSweep(services: {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly chargeEvents: ChargeEvents;
  readonly eventGraceMs: number;
  readonly onError: (incident: Incident) => void;
}): PeriodicTask {
  const { queue, clock, chargeEvents, eventGraceMs, onError } = services;
  const outbox = services.store.collection(EVENT_OUTBOX);
  return {
    name: 'sweep-events',
    everyMs: eventGraceMs / 2,
    atStart: true,
    async run() {
      const now = clock.now();
      const left = await outbox.find(
        { checkAt: { lte: now } },
        { order: { field: 'checkAt', direction: 'asc' }, limit: BATCH },
      );
      for (const record of left) {
        if (record.failedAt !== undefined) {
          await outbox.take(record.id);
          continue;
        }
        // First, so that one record that always fails does not keep the others from their turn.
        await outbox.update(record.id, { checkAt: now + eventGraceMs });
        try {
          if (record.event === undefined) await chargeEvents.recover(record);
          else await enqueueDelivery(queue, record);
        } catch (error) {
          onError({ operation: 'events', requestId: '', error });
        }
      }
    },
  };
}
