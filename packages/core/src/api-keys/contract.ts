import * as z from 'zod';
import { idParams } from '../http/identifiers.ts';
import { numberedQuery, pagination } from '../http/pages.ts';
import { text } from '../http/text.ts';
import { SCOPE_PRESETS, type ScopePreset } from '../identity/scopes.ts';
import { defineOperation } from '../operation.ts';

const ceilings = {
  requestsPerMinute: z.number().int().min(1).max(10_000),
  requestsPerDay: z.number().int().min(1).max(1_000_000),
};

const apiKey = z.object({
  id: z.string(),
  name: z.string(),
  keyPrefix: z.string().meta({ description: 'The first 16 characters.' }),
  scopes: z.array(z.string()),
  mode: z.enum(['live', 'test']),
  status: z.enum(['active', 'disabled', 'expired']),
  expiresAt: z.iso.datetime().nullable(),
  rateLimit: z.object(ceilings),
  spendCap: z.object({ credits: z.number(), period: z.enum(['day', 'month', 'total']) }).nullable(),
  organizationId: z.string().nullable(),
  lastUsedAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
});

export type WireApiKey = z.input<typeof apiKey>;

const shownOnce = apiKey.extend({ key: z.string().meta({ description: 'Shown this once.' }) });

const presets = Object.keys(SCOPE_PRESETS) as [ScopePreset, ...ScopePreset[]];

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller',
  family: 'application',
  subject: 'API key',
} as const;

export const createApiKey = defineOperation({
  ...common,
  id: 'createApiKey',
  method: 'POST',
  path: '/api/user-api-keys',
  summary: 'Make an API key',
  input: {
    body: z.object({
      name: text({ min: 1, max: 100 }),
      scopes: z.array(z.string()).min(1).optional(),
      preset: z.enum(presets).optional(),
      mode: z.enum(['live', 'test']).default('live'),
      expiresAt: z.iso.datetime({ offset: true }).optional(),
      rateLimit: z
        .object({
          requestsPerMinute: ceilings.requestsPerMinute.default(60),
          requestsPerDay: ceilings.requestsPerDay.default(1000),
        })
        .prefault({}),
      spendCap: z
        .object({
          credits: z.number().min(0.000_001).max(1_000_000_000),
          period: z.enum(['day', 'month', 'total']),
        })
        .optional(),
      organizationId: z.string().optional(),
    }),
  },
  output: { 201: { description: 'The key.', schema: shownOnce } },
  refusals: [
    { status: 400, description: 'There are 10 active keys already.' },
    { status: 403, description: 'The organization is not administered by the caller.' },
  ],
});

export const listApiKeys = defineOperation({
  ...common,
  id: 'listApiKeys',
  method: 'GET',
  path: '/api/user-api-keys',
  summary: "List the caller's API keys, newest first",
  input: {
    query: numberedQuery().extend({
      includeDisabled: z.enum(['true', 'false']).optional(),
      search: text({ max: 200 }).optional().meta({ description: 'Part of the name.' }),
      sort: z.enum(['createdAt']).optional(),
    }),
  },
  output: { 200: { description: 'A page.', schema: z.object({ apiKeys: z.array(apiKey), pagination }) } },
});

export const rotateApiKey = defineOperation({
  ...common,
  id: 'rotateApiKey',
  method: 'POST',
  path: '/api/user-api-keys/{id}/rotate',
  summary: 'Replace the secret of a key',
  input: { params: idParams },
  output: { 200: { description: 'The key with its new secret.', schema: shownOnce } },
  refusals: [{ status: 409, description: 'The key is revoked or has expired.' }],
});

export const revokeApiKey = defineOperation({
  ...common,
  id: 'revokeApiKey',
  method: 'POST',
  path: '/api/user-api-keys/{id}/revoke',
  summary: 'End a key for good',
  input: { params: idParams, body: z.object({ reason: text({ max: 500 }).optional() }) },
  output: {
    200: {
      description: 'It is ended, now or before.',
      schema: z.object({ success: z.boolean(), message: z.string() }),
    },
  },
});

export const changeApiKeyRateLimit = defineOperation({
  ...common,
  id: 'changeApiKeyRateLimit',
  method: 'PATCH',
  path: '/api/user-api-keys/{id}/rate-limit',
  summary: "Change a key's own ceilings",
  input: {
    params: idParams,
    body: z.object({
      requestsPerMinute: ceilings.requestsPerMinute.optional(),
      requestsPerDay: ceilings.requestsPerDay.optional(),
    }),
  },
  output: { 200: { description: 'The key as it is now.', schema: apiKey } },
});
