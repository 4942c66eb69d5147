import { defineOperation } from '@questline/core';
import * as z from 'zod';

const common = {
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller',
  family: 'application',
  subject: 'Tool server',
} as const;

const serverParams = z.object({ id: z.string().max(20).describe('The id of the tool server.') });

const connected = z.object({ server: z.string().describe('The id of the tool server that is connected.') });

/** What an authorization server passes to the redirect URL. */
const answer = z.object({
  state: z.string().min(1).max(200).describe('The state of the authorization.'),
  code: z.string().max(10_000).optional().describe('The code.'),
  iss: z.string().max(2000).optional().describe('The issuer of the answer.'),
  error: z.string().max(200).optional().describe('The reason of a refusal.'),
});

const REFUSED = { status: 400, description: 'The authorization is unknown, finished, expired or refused.' };

export const listToolServers = defineOperation({
  ...common,
  id: 'listToolServers',
  method: 'GET',
  path: '/',
  summary: 'List the tool servers that the caller can connect',
  input: {},
  output: {
    200: {
      description: 'The tool servers.',
      schema: z.object({
        servers: z
          .array(
            z.object({
              id: z.string().describe('The id.'),
              connected: z.boolean().describe('Whether the caller has connected it.'),
            }),
          )
          .describe('The tool servers.'),
      }),
    },
  },
});

export const beginToolServer = defineOperation({
  ...common,
  id: 'beginToolServer',
  method: 'POST',
  path: '/{id}/authorize',
  summary: 'Begin to connect a tool server',
  input: { params: serverParams },
  output: {
    200: {
      description: 'The address that the user opens in a browser.',
      schema: z.object({
        url: z.string().describe('The address of the authorization server.'),
        expiresAt: z.iso.datetime().describe('The authorization must be finished before.'),
      }),
    },
  },
  refusals: [{ status: 502, description: 'The tool server or its authorization server cannot be used.' }],
});

export const finishToolServer = defineOperation({
  ...common,
  id: 'finishToolServer',
  method: 'POST',
  path: '/callback',
  summary: 'Finish to connect a tool server',
  description: 'Takes the parameters that the authorization server has added to the redirect URL.',
  input: { body: answer },
  output: { 200: { description: 'The tool server is connected.', schema: connected } },
  refusals: [REFUSED],
});

export const finishToolServerInBrowser = defineOperation({
  ...common,
  id: 'finishToolServerInBrowser',
  method: 'GET',
  path: '/callback',
  summary: 'Finish to connect a tool server, as the redirect URL',
  description: 'For users whose browser sends their credential, such as a cookie of the host.',
  input: { query: answer },
  output: { 200: { description: 'The tool server is connected.', schema: connected } },
  refusals: [REFUSED],
});

export const disconnectToolServer = defineOperation({
  ...common,
  id: 'disconnectToolServer',
  method: 'DELETE',
  path: '/{id}',
  summary: 'Disconnect a tool server',
  description: 'Deletes the tokens of the caller.',
  input: { params: serverParams },
  output: { 204: { description: 'The tool server is disconnected.' } },
});

export const describeToolClient = defineOperation({
  ...common,
  id: 'describeToolClient',
  method: 'GET',
  path: '/client.json',
  summary: 'Describe this deployment to authorization servers',
  auth: 'none',
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  input: {},
  output: { 200: { description: 'The metadata of the client.', schema: z.looseObject({}) } },
});
