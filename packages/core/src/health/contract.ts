import * as z from 'zod';
import { defineOperation } from '../operation.ts';

export const ping = defineOperation({
  id: 'ping',
  method: 'GET',
  path: '/api/ping',
  summary: 'Say that the service answers',
  auth: 'none',
  scopes: [],
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  family: 'application',
  input: {},
  output: { 200: { description: 'It does.', schema: z.object({ message: z.literal('pong') }) } },
});

export const getHealth = defineOperation({
  id: 'getHealth',
  method: 'GET',
  path: '/api/health',
  summary: 'Say since when the service runs',
  auth: 'none',
  scopes: [],
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  family: 'application',
  input: {},
  output: {
    200: {
      description: 'It runs.',
      schema: z.object({
        status: z.literal('ok'),
        timestamp: z.iso.datetime(),
        uptimeSeconds: z.number().int(),
      }),
    },
  },
});
