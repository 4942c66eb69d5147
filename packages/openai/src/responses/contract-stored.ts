import { defineOperation } from '@questline/core';
import * as z from 'zod';
import { openAIErrors } from '../errors.ts';
import { readResponseId } from './ids.ts';

const common = {
  auth: 'key-or-token',
  scopes: ['ai:chat', 'ai:generate'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'caller',
  family: 'public',
  subject: 'Response',
  errorFormat: openAIErrors,
} as const;

/** The id of the quest. */
const id = z.string().transform((text, context) => {
  const read = readResponseId(text);
  if (read === undefined) context.addIssue({ code: 'custom', message: 'expected the id of a response' });
  return read ?? '';
});

const params = z.object({ id });

const isTrue = z.enum(['true', 'false']).transform((text) => text === 'true');

const sequence = z
  .string()
  .regex(/^\d{1,15}$/, 'expected the number of an event')
  .transform(Number);

export const getResponse = defineOperation({
  ...common,
  id: 'getResponse',
  counterpart: 'getQuest',
  method: 'GET',
  path: '/v1/responses/{id}',
  summary: 'Get a stored response, or the stream of its events',
  input: { params, query: z.object({ stream: isTrue.optional(), starting_after: sequence.optional() }) },
  output: { 200: { description: 'The response, or its stream.' } },
});

export const cancelResponse = defineOperation({
  ...common,
  id: 'cancelResponse',
  counterpart: 'cancelQuest',
  method: 'POST',
  path: '/v1/responses/{id}/cancel',
  summary: 'Stop a stored response',
  input: { params },
  output: { 200: { description: 'The response.' } },
});

export const deleteResponse = defineOperation({
  ...common,
  id: 'deleteResponse',
  counterpart: 'createCompletion',
  method: 'DELETE',
  path: '/v1/responses/{id}',
  summary: 'Delete a stored response',
  input: { params },
  output: { 200: { description: 'The response is deleted.' } },
});

export const listInputItems = defineOperation({
  ...common,
  id: 'listInputItems',
  counterpart: 'createCompletion',
  method: 'GET',
  path: '/v1/responses/{id}/input_items',
  summary: 'List the items that a stored response was made from',
  input: {
    params,
    query: z.object({
      limit: z.coerce.number().int().min(1).max(100).default(20),
      order: z.enum(['asc', 'desc']).default('desc'),
      after: z.string().max(200).optional(),
    }),
  },
  output: { 200: { description: 'The items.' } },
});
