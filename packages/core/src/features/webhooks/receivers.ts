import type { EventReceivers } from '../../events/outbox.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Store } from '../../ports/store.ts';
import type { Incident } from '../../shared/incident.ts';
import { WEBHOOKS } from './records.ts';
import { isWebhookType } from './types.ts';

/** Other processes see the first webhook of a workspace after at most this time. */
const CACHE_TTL_MS = 5000;

/** Whether there are webhooks. Without any, no event is written. */
export interface WebhookReceivers extends EventReceivers {
  /** Looks again at the next event, after a webhook was created. */
  forget(): void;
}

/** @param store without events. */
export function createWebhookReceivers({
  store,
  clock,
  onError,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (incident: Incident) => void;
}): WebhookReceivers {
  const webhooks = store.collection(WEBHOOKS);
  let isAny = false;
  let staleAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;

  const look = async (): Promise<void> => {
    try {
      const until = clock.now() + CACHE_TTL_MS;
      isAny = (await webhooks.find({ status: 'active' }, { limit: 1 })).length > 0;
      staleAt = until;
    } catch (error) {
      // An event without a receiver is deleted later; one that is not written is lost.
      isAny = true;
      onError({ operation: 'webhooks', requestId: '', error });
    }
  };

  return {
    // Concurrent changes wait for the same look: none of them is decided by an answer that does not exist yet.
    refresh() {
      if (clock.now() < staleAt) return undefined;
      looking ??= look().finally(() => {
        looking = undefined;
      });
      return looking;
    },
    isActive: () => isAny,
    wants: (type) => isAny && isWebhookType(type),
    forget() {
      staleAt = Number.NEGATIVE_INFINITY;
    },
  };
}
