import * as z from 'zod';
import { idParams } from '../http/identifiers.ts';
import { numberedQuery, pagination } from '../http/pages.ts';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';
import { KEYED_SERVICES } from './records.ts';

const providerKey = z.object({
  _id: z.string(),
  name: z.string(),
  service: z.enum(KEYED_SERVICES),
  keyPreview: z.string().meta({ description: 'The last four characters.' }),
  isActive: z.boolean(),
  lastUsedAt: z.iso.datetime().nullable(),
});

export type WireProviderKey = z.input<typeof providerKey>;

const done = z.object({ success: z.boolean(), message: z.string() });

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller',
  family: 'application',
  subject: 'API key',
} as const;

export const createProviderKey = defineOperation({
  ...common,
  id: 'createProviderKey',
  method: 'POST',
  path: '/api/api-keys/create',
  summary: "Store the caller's own key for a model provider",
  description: 'The first key of a service is active at once.',
  input: {
    body: z.object({
      name: text({ min: 1, max: 100 }),
      service: z.enum(KEYED_SERVICES),
      key: z
        .string()
        .trim()
        .regex(/^[\x21-\x7e]{8,500}$/, 'expected 8 to 500 printable ASCII characters without spaces'),
    }),
  },
  output: { 201: { description: 'What is shown of it.', schema: providerKey } },
});

export const listProviderKeys = defineOperation({
  ...common,
  id: 'listProviderKeys',
  method: 'GET',
  path: '/api/api-keys',
  summary: "List the caller's own provider keys, newest first",
  input: {
    query: numberedQuery().extend({
      search: text({ max: 200 }).optional().meta({ description: 'Part of the name.' }),
      sort: z.enum(['createdAt', 'name']).default('createdAt'),
    }),
  },
  output: {
    200: { description: 'A page.', schema: z.object({ apiKeys: z.array(providerKey), pagination }) },
  },
});

export const deleteProviderKey = defineOperation({
  ...common,
  id: 'deleteProviderKey',
  method: 'DELETE',
  path: '/api/api-keys/{id}/delete',
  summary: 'Forget a provider key',
  input: { params: idParams },
  output: { 200: { description: 'It is forgotten.', schema: done } },
});

export const setActiveProviderKey = defineOperation({
  ...common,
  id: 'setActiveProviderKey',
  method: 'POST',
  path: '/api/api-keys/{id}/set-active',
  summary: "Use this key in place of the workspace's, and no other of its service",
  input: { params: idParams },
  output: { 200: { description: 'It is in use.', schema: done } },
});
