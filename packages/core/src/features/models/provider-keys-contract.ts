import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { defineOperation } from '../../contract/operation.ts';
import { numberedQuery, pagination } from '../../contract/pages.ts';
import { text } from '../../contract/text.ts';
import { KEYED_SERVICES } from '../../models/provider-keys-records.ts';

const providerKey = z.object({
  _id: z.string().describe('The id of the provider key.'),
  name: z.string().describe('A name to recognize the key by.'),
  service: z.enum(KEYED_SERVICES).describe('The provider that accepts the key.'),
  keyPreview: z.string().meta({ description: 'The last four characters.' }),
  isActive: z.boolean().describe('Whether calls to the provider use this key.'),
  lastUsedAt: z.iso
    .datetime()
    .nullable()
    .describe('The time of the last call with the key; null before its first use.'),
});

export type WireProviderKey = z.input<typeof providerKey>;

const done = z.object({
  success: z.boolean().describe('Whether the operation did what it says.'),
  message: z.string().describe('A confirmation, for people.'),
});

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller',
  family: 'application',
  tag: 'Provider keys',
  subject: 'API key',
} as const;

export const createProviderKey = defineOperation({
  ...common,
  audit: ['provider_key.created'],
  id: 'createProviderKey',
  method: 'POST',
  path: '/api/api-keys/create',
  summary: "Store the caller's own key for a model provider",
  description: 'The first key of a service becomes active at once.',
  input: {
    body: z.object({
      name: text({ min: 1, max: 100 }).describe('A name to recognize the key by.'),
      service: z.enum(KEYED_SERVICES).describe('The provider that accepts the key.'),
      key: z
        .string()
        .trim()
        .regex(/^[\x21-\x7e]{8,500}$/, 'expected 8 to 500 printable ASCII characters without spaces')
        .describe('The secret key at the provider. It is stored encrypted and is not shown again.'),
    }),
  },
  output: { 201: { description: 'The stored key, without its secret.', schema: providerKey } },
});

export const listProviderKeys = defineOperation({
  ...common,
  id: 'listProviderKeys',
  method: 'GET',
  path: '/api/api-keys',
  summary: "List the caller's own provider keys, newest first",
  description: 'The secrets are not part of the list. Filter, sort and page with the query parameters.',
  input: {
    query: numberedQuery().extend({
      search: text({ max: 200 }).optional().meta({ description: 'Text in the name.' }),
      sort: z.enum(['createdAt', 'name']).default('createdAt').describe('The field to order by.'),
    }),
  },
  output: {
    200: {
      description: 'A page.',
      schema: z.object({
        apiKeys: z.array(providerKey).describe('The provider keys of this page.'),
        pagination,
      }),
    },
  },
});

export const deleteProviderKey = defineOperation({
  ...common,
  audit: ['provider_key.deleted'],
  id: 'deleteProviderKey',
  method: 'DELETE',
  path: '/api/api-keys/{id}/delete',
  summary: 'Delete a provider key',
  description: 'Calls to the provider use the key of the workspace from now on, if there is one.',
  input: { params: idParams },
  output: { 200: { description: 'The key is deleted.', schema: done } },
});

export const setActiveProviderKey = defineOperation({
  ...common,
  audit: ['provider_key.activated'],
  id: 'setActiveProviderKey',
  method: 'POST',
  path: '/api/api-keys/{id}/set-active',
  summary: 'Activate a provider key, and deactivate the others of its service',
  description:
    "Of several keys of one provider, one is active: calls of the user are made with it, at the user's cost at the provider.",
  input: { params: idParams },
  output: { 200: { description: 'The key is active.', schema: done } },
});
