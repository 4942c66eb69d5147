import { defineOperation } from '@questline/core';
import { list } from '@questline/core/internal';
import * as z from 'zod';
import { openAIErrors } from '../errors.ts';
import { BODY_LIMIT, metadata } from '../responses/contract.ts';
import { inputItem } from '../responses/contract-items.ts';

/*
 * Conversations by the types of the npm package `openai` 7.57.0 (13 November 2026):
 * https://developers.openai.com/api/reference/resources/conversations
 */

/** Items of one request, as at the vendor. */
const MAX_ITEMS = 20;

const common = {
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'caller',
  family: 'public',
  errorFormat: openAIErrors,
} as const;

// Any text: an id of another format is an unknown one.
const params = z.object({ id: z.string() });
const itemParams = params.extend({ itemId: z.string() });

/** Clients may leave out the body. */
const creation = z.preprocess(
  (body) => body ?? {},
  z.object({ items: list(inputItem, { max: MAX_ITEMS }).nullish(), metadata: metadata.nullish() }),
);

export const createConversation = defineOperation({
  ...common,
  id: 'createConversation',
  counterpart: 'createSession',
  method: 'POST',
  path: '/v1/conversations',
  summary: 'Create a conversation',
  bodyLimit: BODY_LIMIT,
  input: { body: creation },
  output: { 200: { description: 'The conversation.' } },
});

export const getConversation = defineOperation({
  ...common,
  id: 'getConversation',
  counterpart: 'getSession',
  method: 'GET',
  path: '/v1/conversations/{id}',
  summary: 'Get a conversation',
  input: { params },
  output: { 200: { description: 'The conversation.' } },
});

export const updateConversation = defineOperation({
  ...common,
  id: 'updateConversation',
  counterpart: 'updateSession',
  method: 'POST',
  path: '/v1/conversations/{id}',
  summary: 'Replace the metadata of a conversation',
  input: { params, body: z.object({ metadata: metadata.nullable() }) },
  output: { 200: { description: 'The conversation.' } },
});

export const deleteConversation = defineOperation({
  ...common,
  id: 'deleteConversation',
  counterpart: 'deleteSession',
  method: 'DELETE',
  path: '/v1/conversations/{id}',
  summary: 'Delete a conversation',
  input: { params },
  output: { 200: { description: 'The conversation is deleted.' } },
});

export const listConversationItems = defineOperation({
  ...common,
  id: 'listConversationItems',
  counterpart: 'listSessionMessages',
  method: 'GET',
  path: '/v1/conversations/{id}/items',
  summary: 'List the items of a conversation',
  input: {
    params,
    query: z.object({
      limit: z.coerce.number().int().min(1).max(100).default(20),
      order: z.enum(['asc', 'desc']).default('desc'),
      after: z.string().max(200).optional(),
    }),
  },
  output: { 200: { description: 'A page of items.' } },
});

export const createConversationItems = defineOperation({
  ...common,
  id: 'createConversationItems',
  counterpart: 'updateSession',
  method: 'POST',
  path: '/v1/conversations/{id}/items',
  summary: 'Add items to a conversation',
  bodyLimit: BODY_LIMIT,
  input: { params, body: z.object({ items: list(inputItem, { max: MAX_ITEMS }) }) },
  output: { 200: { description: 'The items.' } },
});

export const getConversationItem = defineOperation({
  ...common,
  id: 'getConversationItem',
  counterpart: 'listSessionMessages',
  method: 'GET',
  path: '/v1/conversations/{id}/items/{itemId}',
  summary: 'Get an item of a conversation',
  input: { params: itemParams },
  output: { 200: { description: 'The item.' } },
});

export const deleteConversationItem = defineOperation({
  ...common,
  id: 'deleteConversationItem',
  counterpart: 'updateSession',
  method: 'DELETE',
  path: '/v1/conversations/{id}/items/{itemId}',
  summary: 'Delete an item of a conversation',
  input: { params: itemParams },
  output: { 200: { description: 'The conversation.' } },
});
