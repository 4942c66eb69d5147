import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { distinctList, modelList } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';
import { numberedQuery, pagination } from '../../contract/pages.ts';
import { SCOPE_PRESETS, type ScopePreset } from '../../contract/scopes.ts';
import { text } from '../../contract/text.ts';

const ceilings = {
  requestsPerMinute: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .describe('The maximum number of requests in a minute.'),
  requestsPerDay: z.number().int().min(1).max(1_000_000).describe('The maximum number of requests in a day.'),
};

const apiKey = z.object({
  id: z.string().describe('The id of the API key.'),
  name: z.string().describe('A name to recognize the key by.'),
  keyPrefix: z.string().meta({ description: 'The first 16 characters.' }),
  scopes: z.array(z.string()).describe('The permissions of the key.'),
  mode: z
    .enum(['live', 'test'])
    .describe('`test` keys are marked as such in their text; they call and cost the same.'),
  status: z.enum(['active', 'disabled', 'expired']).describe('Whether the key works.'),
  expiresAt: z.iso
    .datetime()
    .nullable()
    .describe('The time at which the key ends; null for a key that does not expire.'),
  // A host can issue keys with higher limits than a user can.
  rateLimit: z
    .object({
      requestsPerMinute: z.int().min(1).describe('The maximum number of requests in a minute.'),
      requestsPerDay: z.int().min(1).describe('The maximum number of requests in a day.'),
    })
    .describe('The maximum number of requests.'),
  spendCap: z
    .object({
      credits: z.number().describe('The maximum, in credits.'),
      period: z
        .enum(['day', 'month', 'total'])
        .describe('The calendar period (UTC) after which counting starts again.'),
    })
    .nullable()
    .describe('The maximum that the key may spend; null without a maximum.'),
  models: z.array(z.string()).nullable().describe('The models that the key may use; null: all.'),
  organizationId: z
    .string()
    .nullable()
    .describe('The id of the organization that pays; null if the user pays.'),
  lastUsedAt: z.iso
    .datetime()
    .nullable()
    .describe('The time of the last request; null before the first use.'),
  createdAt: z.iso.datetime().describe('The time of creation.'),
});

export type WireApiKey = z.input<typeof apiKey>;

const shownOnce = apiKey.extend({ key: z.string().meta({ description: 'The secret; shown only once.' }) });

const presets = Object.keys(SCOPE_PRESETS) as [ScopePreset, ...ScopePreset[]];

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller',
  family: 'application',
  tag: 'API keys',
  subject: 'API key',
} as const;

export const createApiKey = defineOperation({
  ...common,
  audit: ['key.created'],
  id: 'createApiKey',
  method: 'POST',
  path: '/api/user-api-keys',
  summary: 'Create an API key',
  description:
    'The key itself is part of this answer only: only its hash is stored. A key can call what its scopes allow, in the name of the user.',
  input: {
    body: z.object({
      name: text({ min: 1, max: 100 }).describe('A name to recognize the key by.'),
      scopes: distinctList(z.string(), { min: 1, max: 100 })
        .optional()
        .describe('The permissions of the key. Either `scopes` or `preset` is required.'),
      preset: z.enum(presets).optional().describe('A named list of permissions in place of `scopes`.'),
      mode: z
        .enum(['live', 'test'])
        .default('live')
        .describe('`test` keys are marked as such in their text; they call and cost the same.'),
      expiresAt: z.iso
        .datetime({ offset: true })
        .optional()
        .describe('The time at which the key ends. Default: it does not expire.'),
      rateLimit: z
        .object({
          requestsPerMinute: ceilings.requestsPerMinute.default(60),
          requestsPerDay: ceilings.requestsPerDay.default(1000),
        })
        .prefault({})
        .describe('The maximum number of requests.'),
      spendCap: z
        .object({
          credits: z.number().min(0.000_001).max(1_000_000_000).describe('The maximum, in credits.'),
          period: z
            .enum(['day', 'month', 'total'])
            .describe('The calendar period (UTC) after which counting starts again.'),
        })
        .optional()
        .describe('The maximum that the key may spend. Default: no maximum.'),
      models: modelList.optional().describe('The models that the key may use. Default: all.'),
      organizationId: z
        .string()
        .optional()
        .describe('The id of the organization that pays. Default: the user pays.'),
    }),
  },
  output: { 201: { description: 'The key.', schema: shownOnce } },
  refusals: [
    { status: 400, description: 'The caller has 10 active keys.' },
    { status: 403, description: 'The caller does not administer the organization.' },
  ],
});

export const listApiKeys = defineOperation({
  ...common,
  id: 'listApiKeys',
  method: 'GET',
  path: '/api/user-api-keys',
  summary: "List the caller's API keys, newest first",
  description: 'The secrets are not part of the list. Filter, sort and page with the query parameters.',
  input: {
    query: numberedQuery().extend({
      includeDisabled: z
        .enum(['true', 'false'])
        .optional()
        .describe('Whether the list includes keys that do not work any more.'),
      search: text({ max: 200 }).optional().meta({ description: 'Text in the name.' }),
      sort: z.enum(['createdAt']).optional().describe('The field to order by. Default: `createdAt`.'),
    }),
  },
  output: {
    200: {
      description: 'A page.',
      schema: z.object({ apiKeys: z.array(apiKey).describe('The API keys of this page.'), pagination }),
    },
  },
});

export const getApiKey = defineOperation({
  ...common,
  id: 'getApiKey',
  method: 'GET',
  path: '/api/user-api-keys/{id}',
  summary: 'Get an API key, without its secret',
  description: 'The key must belong to the caller.',
  input: { params: idParams },
  output: { 200: { description: 'The key.', schema: apiKey } },
});

export const rotateApiKey = defineOperation({
  ...common,
  audit: ['key.rotated'],
  id: 'rotateApiKey',
  method: 'POST',
  path: '/api/user-api-keys/{id}/rotate',
  summary: 'Rotate the secret of an API key',
  description: 'The new key is part of this answer only. The old one stops working at once.',
  input: { params: idParams },
  output: { 200: { description: 'The key with its new secret.', schema: shownOnce } },
  refusals: [{ status: 409, description: 'The key is revoked or has expired.' }],
});

export const revokeApiKey = defineOperation({
  ...common,
  audit: ['key.revoked'],
  id: 'revokeApiKey',
  method: 'POST',
  path: '/api/user-api-keys/{id}/revoke',
  summary: 'Revoke an API key',
  description: 'The key stops working at once and cannot be restored.',
  input: {
    params: idParams,
    body: z.object({
      reason: text({ max: 500 }).optional().describe('Why the key is revoked, for the records.'),
    }),
  },
  output: {
    200: {
      description: 'The key is revoked. Safe to repeat.',
      schema: z.object({
        success: z.boolean().describe('Whether the operation did what it says.'),
        message: z.string().describe('A confirmation, for people.'),
      }),
    },
  },
});

export const changeApiKeyRateLimit = defineOperation({
  ...common,
  audit: ['key.updated'],
  id: 'changeApiKeyRateLimit',
  method: 'PATCH',
  path: '/api/user-api-keys/{id}/rate-limit',
  summary: 'Change the rate limits of an API key',
  description: 'Fields that are not sent stay as they are. Counters of running windows go on.',
  input: {
    params: idParams,
    body: z.object({
      requestsPerMinute: ceilings.requestsPerMinute
        .optional()
        .describe('The maximum number of requests in a minute.'),
      requestsPerDay: ceilings.requestsPerDay.optional().describe('The maximum number of requests in a day.'),
    }),
  },
  output: { 200: { description: 'The updated key.', schema: apiKey } },
});
