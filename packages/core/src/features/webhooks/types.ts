import type { EventType, HostEvent } from '../../events/event.ts';

/** The events that a webhook can receive. Others, such as charges, are for the host only. */
export const WEBHOOK_TYPES = [
  'quest.done',
  'quest.failed',
  'quest.stopped',
  'execution.done',
  'execution.failed',
  'execution.stopped',
  'generation.done',
  'generation.failed',
  'generation.stopped',
  'file.clean',
  'file.blocked',
  'key.revoked',
  'credits.low',
  'budget.threshold',
] as const satisfies readonly EventType[];

export type WebhookType = (typeof WEBHOOK_TYPES)[number];

/** Sent by `testWebhook` only. */
export const TEST_TYPE = 'webhook.test';

const types: ReadonlySet<string> = new Set(WEBHOOK_TYPES);

export function isWebhookType(type: string): type is WebhookType {
  return types.has(type);
}

/** The body of a request. Receivers read the record with the id that it contains. */
export function toPayload({ type, createdAt, data }: Pick<HostEvent, 'type' | 'createdAt' | 'data'>): string {
  return JSON.stringify({ type, timestamp: new Date(createdAt).toISOString(), data });
}
