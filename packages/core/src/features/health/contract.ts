import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';

export const ping = defineOperation({
  id: 'ping',
  method: 'GET',
  path: '/api/ping',
  summary: 'Check that the service responds',
  description: 'Needs no credential and touches no storage.',
  auth: 'none',
  scopes: [],
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  family: 'application',
  tag: 'Service',
  input: {},
  output: {
    200: {
      description: 'It does.',
      schema: z.object({ message: z.literal('pong').describe('Always `pong`.') }),
    },
  },
});

export const getHealth = defineOperation({
  id: 'getHealth',
  method: 'GET',
  path: '/api/health',
  summary: 'Get the start time of the service',
  description: 'Needs no credential and touches no storage. For load balancers.',
  auth: 'none',
  scopes: [],
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  family: 'application',
  tag: 'Service',
  input: {},
  output: {
    200: {
      description: 'It runs.',
      schema: z.object({
        status: z.literal('ok').describe('Always `ok` while the service accepts requests.'),
        timestamp: z.iso.datetime().describe('The time of the answer.'),
        uptimeSeconds: z.number().int().describe('The time since the start of the process, in seconds.'),
      }),
    },
  },
});
