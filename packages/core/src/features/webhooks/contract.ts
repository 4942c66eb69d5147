import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { distinctList } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';
import { numberedQuery, pagination } from '../../contract/pages.ts';
import { text } from '../../contract/text.ts';
import { WEBHOOK_TYPES } from './types.ts';

const MAX_URL = 2000;

const url = z
  .string()
  .max(MAX_URL)
  .refine(isAddress, 'expected an http or https URL without credentials')
  .describe(
    'The address that receives the events: http or https, at most 2,000 characters, without credentials. Private, loopback and link-local addresses are refused.',
  );

const types = distinctList(z.enum(WEBHOOK_TYPES), { min: 1, max: 100 });

const webhook = z.object({
  id: z.string().describe('The id of the webhook.'),
  url: z.string().describe('The address that receives the events.'),
  description: z.string().describe('A note for people.'),
  types: z.array(z.string()).describe('The events that it receives.'),
  organizationId: z
    .string()
    .nullable()
    .describe('The organization whose events it receives; null: those of the user.'),
  status: z.enum(['active', 'disabled']).describe('Whether it receives events.'),
  disabledFor: z
    .enum(['owner', 'failing', 'gone'])
    .nullable()
    .describe(
      'Why it is disabled: by its owner, because no request was accepted for 24 hours, or because the receiver answered 410. Null: it is active.',
    ),
  lastSuccessAt: z.iso
    .datetime()
    .nullable()
    .describe('The time of the last accepted request; null: none was accepted.'),
  previousSecretUntil: z.iso
    .datetime()
    .nullable()
    .describe('Until then the secret before the last rotation signs, too; null: it does not.'),
  createdAt: z.iso.datetime().describe('The time of creation.'),
});

export type WireWebhook = z.input<typeof webhook>;

const withSecret = webhook.extend({
  secret: z
    .string()
    .describe('The secret that signs the requests, `whsec_` and base64. It is part of this answer only.'),
});

const delivery = z.object({
  id: z.string().describe('The id of the delivery.'),
  eventId: z.string().describe('The `webhook-id` header of all of its requests.'),
  type: z.string().describe('The type of the event.'),
  payload: z
    .record(z.string(), z.unknown())
    .describe('The body of its requests: `type`, `timestamp` and `data`.'),
  status: z
    .enum(['pending', 'delivered', 'failed'])
    .describe('`pending`: it is tried, again if needed. `failed`: it is not tried any more.'),
  attempts: z.int().describe('The number of requests so far.'),
  lastStatus: z
    .int()
    .nullable()
    .describe('The HTTP status of the last answer; null: the last request was not answered.'),
  lastFailure: z
    .enum(['forbidden_address', 'redirect', 'timeout', 'connection'])
    .nullable()
    .describe(
      'Why the last request was not answered: the address is not public, it redirects, no answer in time, or no connection. Null: it was answered.',
    ),
  nextAttemptAt: z.iso
    .datetime()
    .nullable()
    .describe('The time of the next request; null: at once, or none.'),
  createdAt: z.iso.datetime().describe('The time of the event.'),
});

export type WireDelivery = z.input<typeof delivery>;

const deliveryParams = idParams.extend({
  deliveryId: idParams.shape.id.describe('The id of the delivery.'),
});

const organizationId = z
  .string()
  .optional()
  .describe(
    'The organization that owns the webhook. The caller must administer it. Default: the user owns it.',
  );

const NOT_ADMINISTERED = {
  status: 404,
  description: 'The caller does not administer the organization.',
};

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller',
  family: 'application',
  tag: 'Webhooks',
  subject: 'Webhook',
} as const;

export const listWebhooks = defineOperation({
  ...common,
  id: 'listWebhooks',
  method: 'GET',
  path: '/api/webhooks',
  summary: 'List the webhooks of the caller or of an organization, newest first',
  description: 'The secrets are not part of the list.',
  input: { query: numberedQuery().extend({ organizationId }) },
  output: {
    200: {
      description: 'A page.',
      schema: z.object({ webhooks: z.array(webhook).describe('The webhooks of this page.'), pagination }),
    },
  },
  refusals: [NOT_ADMINISTERED],
});

export const createWebhook = defineOperation({
  ...common,
  audit: ['webhook.created'],
  id: 'createWebhook',
  method: 'POST',
  path: '/api/webhooks',
  summary: 'Create a webhook',
  description:
    'Events of the user or the organization are posted to the address, signed as Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`. Each event is sent at least once, with the same `webhook-id`, in any order.',
  input: {
    body: z.object({
      url,
      types: types.optional().describe('The events that it receives. Default: all.'),
      description: text({ max: 200 }).default('').describe('A note for people.'),
      organizationId,
    }),
  },
  output: { 201: { description: 'The webhook, with its secret.', schema: withSecret } },
  refusals: [{ status: 400, description: 'The owner has 10 webhooks.' }, NOT_ADMINISTERED],
});

export const getWebhook = defineOperation({
  ...common,
  id: 'getWebhook',
  method: 'GET',
  path: '/api/webhooks/{id}',
  summary: 'Get a webhook, without its secret',
  description: 'The webhook must belong to the caller or to an organization that the caller administers.',
  input: { params: idParams },
  output: { 200: { description: 'The webhook.', schema: webhook } },
});

export const updateWebhook = defineOperation({
  ...common,
  audit: ['webhook.updated', 'webhook.disabled', 'webhook.enabled'],
  id: 'updateWebhook',
  method: 'PATCH',
  path: '/api/webhooks/{id}',
  summary: 'Change, disable or enable a webhook',
  description:
    'Fields that are not sent stay as they are. A disabled webhook receives no events, also not later those of the meantime.',
  input: {
    params: idParams,
    body: z.object({
      url: url.optional(),
      types: types.optional().describe('The events that it receives.'),
      description: text({ max: 200 }).optional().describe('A note for people.'),
      status: z.enum(['active', 'disabled']).optional().describe('Whether it receives events.'),
    }),
  },
  output: { 200: { description: 'The updated webhook.', schema: webhook } },
});

export const deleteWebhook = defineOperation({
  ...common,
  audit: ['webhook.deleted'],
  id: 'deleteWebhook',
  method: 'DELETE',
  path: '/api/webhooks/{id}',
  summary: 'Delete a webhook',
  description: 'Its waiting deliveries are not sent any more.',
  input: { params: idParams },
  output: { 204: { description: 'The webhook is deleted.' } },
});

export const rotateWebhookSecret = defineOperation({
  ...common,
  audit: ['webhook.secret_rotated'],
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: '/api/webhooks/{id}/rotate-secret',
  summary: 'Rotate the secret of a webhook',
  description:
    'For 24 hours the requests carry two signatures, of the new and of the previous secret. A further rotation ends the oldest one at once.',
  input: { params: idParams },
  output: { 200: { description: 'The webhook, with its new secret.', schema: withSecret } },
});

export const testWebhook = defineOperation({
  ...common,
  id: 'testWebhook',
  method: 'POST',
  path: '/api/webhooks/{id}/test',
  summary: 'Send a test event to a webhook',
  description: 'The event has the type `webhook.test`. It is sent whatever types the webhook receives.',
  input: { params: idParams },
  output: { 202: { description: 'The delivery.', schema: delivery } },
  refusals: [{ status: 409, description: 'The webhook is disabled.' }],
});

export const listWebhookDeliveries = defineOperation({
  ...common,
  id: 'listWebhookDeliveries',
  method: 'GET',
  path: '/api/webhooks/{id}/deliveries',
  summary: 'List the deliveries of a webhook, newest first',
  description: 'Deliveries are listed for 7 days.',
  input: {
    params: idParams,
    query: numberedQuery().extend({
      status: z
        .enum(['pending', 'delivered', 'failed'])
        .optional()
        .describe('Only deliveries with this status.'),
    }),
  },
  output: {
    200: {
      description: 'A page.',
      schema: z.object({
        deliveries: z.array(delivery).describe('The deliveries of this page.'),
        pagination,
      }),
    },
  },
});

export const replayWebhookDelivery = defineOperation({
  ...common,
  id: 'replayWebhookDelivery',
  method: 'POST',
  path: '/api/webhooks/{id}/deliveries/{deliveryId}/replay',
  summary: 'Send a delivery again',
  description: 'With the same `webhook-id` and body, and a new signature. Tried for 24 hours like a new one.',
  input: { params: deliveryParams },
  output: { 202: { description: 'The delivery.', schema: delivery } },
  refusals: [{ status: 409, description: 'The webhook is disabled, or the delivery is pending.' }],
});

function isAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return /^https?:$/.test(protocol) && `${username}${password}` === '';
}
