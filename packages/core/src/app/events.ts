import { fromCredits } from '../credits/amounts.ts';
import type { Budgets } from '../credits/budgets.ts';
import { createBudgetEvents } from '../events/budgets.ts';
import { captureEvents } from '../events/capture.ts';
import { type ChargeEvents, createChargeEvents } from '../events/charges.ts';
import { createOutbox, type EventReceivers } from '../events/outbox.ts';
import type { WebhookReceivers } from '../features/webhooks/receivers.ts';
import type { Clock } from '../ports/clock.ts';
import type { CreditLedger } from '../ports/ledger.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import type { Incident } from '../shared/incident.ts';
import { FEATURES } from './features.ts';
import type { Settings } from './settings.ts';

const DEFAULT_CREDITS_LOW_AT = 100;

/** The host receives all events. */
const HOST: EventReceivers = { refresh: async () => undefined, isActive: () => true, wants: () => true };

interface Wiring {
  readonly store: Store;
  readonly ledger: CreditLedger;
  /** On a store without events. */
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly budgets: Budgets;
  readonly webhookReceivers: WebhookReceivers | undefined;
  readonly graceMs: number;
  readonly onError: (incident: Incident) => void;
}

/** Returns a store and a ledger that write events if they have a receiver; otherwise the given ones. */
export function wireEvents(
  wiring: Wiring,
  { onEvent, creditsLowAt = DEFAULT_CREDITS_LOW_AT }: Pick<Settings, 'onEvent' | 'creditsLowAt'>,
): { readonly store: Store; readonly ledger: CreditLedger; readonly chargeEvents?: ChargeEvents } {
  const { store, ledger, webhookReceivers } = wiring;
  const receivers = onEvent === undefined ? webhookReceivers : HOST;
  if (receivers === undefined) return { store, ledger };
  const outbox = createOutbox({ ...wiring, receivers });
  const budgetEvents = createBudgetEvents({ ...wiring, outbox });
  const chargeEvents = createChargeEvents({
    ...wiring,
    outbox,
    budgetEvents,
    creditsLowAt: fromCredits(creditsLowAt),
  });
  const sources = FEATURES.flatMap(({ eventSources = [] }) => eventSources);
  return { store: captureEvents(store, sources, outbox), ledger: chargeEvents.ledger, chargeEvents };
}
