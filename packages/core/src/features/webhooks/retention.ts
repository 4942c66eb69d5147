import type { PeriodicTask } from '../../jobs/engine.ts';
import type { RetentionSettings } from '../../operations/retention.ts';
import type { Clock } from '../../ports/clock.ts';
import { removeAll } from '../../ports/remove-where.ts';
import type { Store } from '../../ports/store.ts';
import { WEBHOOK_DELIVERIES } from './records.ts';

/** Deliveries can be listed and replayed for this time, unless the host chooses another. */
const DEFAULT_DAYS = 7;
const DAY_MS = 86_400_000;

/** Deletes old deliveries, also those of deleted webhooks. */
export function createDeliveryRetention({
  store,
  clock,
  retention,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly retention: RetentionSettings;
}): PeriodicTask {
  const keptMs = (retention.deliveries ?? DEFAULT_DAYS) * DAY_MS;
  const deliveries = store.collection(WEBHOOK_DELIVERIES);
  return {
    name: 'delete-webhook-deliveries',
    everyMs: 600_000,
    run: () => removeAll(deliveries, { createdAt: { lt: clock.now() - keptMs } }),
  };
}
