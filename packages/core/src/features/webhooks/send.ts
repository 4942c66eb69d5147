import { USERS } from '../../identity/records.ts';
import type { JobHandler } from '../../jobs/handler.ts';
import type { SecretBox } from '../../models/secret-box.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Mailer } from '../../ports/mailer.ts';
import type { Reschedule } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import type { WebhookOutcome, WebhookSender } from '../../ports/webhook-sender.ts';
import type { Incident } from '../../shared/incident.ts';
import { SEND_WEBHOOK } from './fan-out.ts';
import { disabledMail } from './mail.ts';
import {
  type DisabledFor,
  WEBHOOK_DELIVERIES,
  WEBHOOKS,
  type WebhookDeliveryRecord,
  type WebhookRecord,
} from './records.ts';
import { openSecrets, sign } from './signature.ts';

const CONCURRENCY = 64;
/** Maximum concurrent requests to one webhook, in one process. */
const MAX_PER_WEBHOOK = 2;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Pauses after failed attempts: 24 hours in all, without jitter. */
const PAUSES_MS = [
  5 * SECOND,
  MINUTE,
  5 * MINUTE,
  24 * MINUTE - 5 * SECOND,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  8 * HOUR,
];
/** Each pause is up to this much shorter or longer, so that receivers that come back are not called all at once. */
const JITTER = 0.1;
const GONE = 410;

export interface SendServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly textBox: SecretBox;
  readonly webhookSender: WebhookSender;
  readonly mailer?: Mailer;
  readonly appName: string;
  readonly onError: (incident: Incident) => void;
}

/** Sends one delivery, until it succeeds or 24 hours have passed. Then its webhook is disabled, and the owner informed. */
export function createSendHandler(services: SendServices): JobHandler {
  const { store, clock, ids, textBox, webhookSender } = services;
  const webhooks = store.collection(WEBHOOKS);
  const deliveries = store.collection(WEBHOOK_DELIVERIES);

  const finish = async (
    { id, attempts }: WebhookDeliveryRecord,
    status: 'delivered' | 'failed',
    outcome: WebhookOutcome,
  ): Promise<undefined> => {
    const patch = { ...toLast(outcome), status, attempts: attempts + 1, nextAttemptAt: undefined };
    await deliveries.update(id, patch, { status: 'pending' });
    return undefined;
  };

  const disable = async (webhook: WebhookRecord, disabledFor: DisabledFor): Promise<void> => {
    const patch = { status: 'disabled', disabledFor, disabledAt: clock.now() } as const;
    const disabled = await webhooks.update(webhook.id, patch, { status: 'active' });
    if (disabled === undefined || services.mailer === undefined) return;
    const user = await store.collection(USERS).get(webhook.createdBy);
    if (user === undefined || user.notifications?.email === false) return;
    // The notice is also in the webhook itself.
    await services.mailer
      .send(disabledMail(user.email, disabled, services.appName))
      .catch((error: unknown) => {
        services.onError({ operation: 'webhooks', requestId: '', error });
      });
  };

  const failed = async (
    webhook: WebhookRecord,
    delivery: WebhookDeliveryRecord,
    outcome: WebhookOutcome,
  ): Promise<Reschedule | undefined> => {
    const pause = PAUSES_MS[delivery.failures];
    if (outcome.outcome === 'answered' && outcome.status === GONE) {
      await finish(delivery, 'failed', outcome);
      await disable(webhook, 'gone');
      return undefined;
    }
    if (pause === undefined) {
      await finish(delivery, 'failed', outcome);
      // Other deliveries arrived meanwhile: only this one is refused.
      if ((webhook.lastSuccessAt ?? 0) < delivery.since) await disable(webhook, 'failing');
      return undefined;
    }
    const afterMs = Math.round(pause * (1 - JITTER + 2 * JITTER * getFraction(ids)));
    const { attempts, failures } = delivery;
    await deliveries.update(
      delivery.id,
      {
        ...toLast(outcome),
        attempts: attempts + 1,
        failures: failures + 1,
        nextAttemptAt: clock.now() + afterMs,
      },
      { status: 'pending' },
    );
    return { afterMs, countAttempt: false };
  };

  return {
    kind: SEND_WEBHOOK,
    concurrency: CONCURRENCY,
    maxPerOwner: MAX_PER_WEBHOOK,
    async run(job, signal) {
      const { id } = job.payload as { readonly id: string };
      const delivery = await deliveries.get(id, { status: 'pending' });
      if (delivery === undefined) return undefined;
      const webhook = await webhooks.get(delivery.webhookId);
      if (webhook?.status !== 'active') {
        await deliveries.update(id, { status: 'failed', nextAttemptAt: undefined }, { status: 'pending' });
        return undefined;
      }
      const now = clock.now();
      const { eventId, payload: body } = delivery;
      const headers = sign(openSecrets(textBox, webhook, now), { id: eventId, body, now });
      const outcome = await webhookSender.send({ url: webhook.url, headers, body }, { signal });
      signal.throwIfAborted();
      if (outcome.outcome === 'answered' && outcome.status >= 200 && outcome.status < 300) {
        await webhooks.update(webhook.id, { lastSuccessAt: clock.now() });
        return finish(delivery, 'delivered', outcome);
      }
      return failed(webhook, delivery, outcome);
    },
  };
}

function toLast(outcome: WebhookOutcome): Pick<WebhookDeliveryRecord, 'lastStatus' | 'lastFailure'> {
  return outcome.outcome === 'answered'
    ? { lastStatus: outcome.status, lastFailure: undefined }
    : { lastStatus: undefined, lastFailure: outcome.reason };
}

/** 0 to 1. */
function getFraction(ids: Ids): number {
  const [high = 0, low = 0] = ids.bytes(2);
  return (high * 256 + low) / 65_535;
}
