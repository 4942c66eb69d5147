import { defineOperation } from '@questline/core';
import * as z from 'zod';
import { rpcErrors } from './json-rpc.ts';

const common = { auth: 'key-or-token', scopes: [], owner: 'none', errorFormat: rpcErrors } as const;

/**
 * Receives one message. It has no limits of its own: a message counts against those of the operations that it calls, or
 * against those of `answerMcpMessage`.
 */
export const receiveMcpMessage = defineOperation({
  ...common,
  id: 'receiveMcpMessage',
  method: 'POST',
  path: '/',
  summary: 'Answer a message of the Model Context Protocol',
  rate: { key: 'unlimited', user: 'unlimited' },
  family: 'public',
  input: { body: z.looseObject({}) },
  output: { 200: { description: 'The response.', schema: z.looseObject({}) } },
});

/** Stands for messages that call no operation: the handshake, lists of tools, and messages that are refused. */
export const answerMcpMessage = defineOperation({
  ...common,
  id: 'answerMcpMessage',
  method: 'POST',
  path: '/',
  summary: 'Answer a message that calls no operation',
  rate: { key: 'day-exempt', user: 'reads' },
  family: 'public',
  input: {},
  output: { 204: { description: 'The message may be answered.' } },
});

/** Metadata of RFC 9728, for clients that ask an authorization server for a token. */
export const describeMcpResource = defineOperation({
  ...common,
  id: 'describeMcpResource',
  method: 'GET',
  path: '/.well-known/oauth-protected-resource',
  summary: 'Describe where tokens for this resource come from',
  auth: 'none',
  rate: { key: 'unlimited', user: 'unlimited' },
  family: 'public',
  openOrigin: true,
  input: {},
  output: { 200: { description: 'The metadata.', schema: z.looseObject({}) } },
});

/** The text of a file, as models read it. */
export const readFileText = defineOperation({
  id: 'readFileText',
  method: 'GET',
  path: '/api/v1/files/{id}',
  summary: 'Read the text of a file',
  auth: 'key-or-token',
  scopes: ['files:read', 'files:write'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'File',
  input: {
    params: z.object({
      id: z
        .string()
        .regex(/^[0-9a-f]{24}$/)
        .describe('The id of the file.'),
    }),
  },
  output: {
    200: {
      description: 'The text.',
      schema: z.object({
        id: z.string().describe('The id of the file.'),
        file_name: z.string().describe('The file name.'),
        mime_type: z.string().describe('The media type of the content.'),
        text: z.string().describe('The text; the end of a long one is left out.'),
      }),
    },
  },
});
