import type { Clock } from '../../ports/clock.ts';
import type { JobQueue } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { sendJob } from './fan-out.ts';
import { WEBHOOK_DELIVERIES, type WebhookDeliveryRecord } from './records.ts';

/** Sends a delivery again, for 24 hours like a new one. @returns undefined if it is unknown or pending. */
export async function replayDelivery(
  { store, queue, clock }: { readonly store: Store; readonly queue: JobQueue; readonly clock: Clock },
  id: string,
): Promise<WebhookDeliveryRecord | undefined> {
  const again: Partial<WebhookDeliveryRecord> = {
    status: 'pending',
    failures: 0,
    since: clock.now(),
    nextAttemptAt: undefined,
  };
  const deliveries = store.collection(WEBHOOK_DELIVERIES);
  const replayed = await deliveries.update(id, again, { status: { not: 'pending' } });
  if (replayed !== undefined) await queue.enqueue(sendJob(replayed));
  return replayed;
}
