import * as z from 'zod';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';
import type { Json } from '../ports/store.ts';

/** Bytes of JSON. */
const MOST_PROPERTIES = 16 * 2 ** 10;

export const logEvent = defineOperation({
  id: 'logAnalyticsEvent',
  method: 'POST',
  path: '/api/analytics/log-event',
  summary: 'Keep something that happened in a client',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller',
  family: 'application',
  input: {
    body: z.object({
      event: text({ min: 1, max: 200 }),
      properties: z
        .record(z.string(), z.custom<Json>())
        .default({})
        .refine(
          (value) => Buffer.byteLength(JSON.stringify(value)) <= MOST_PROPERTIES,
          `expected at most ${MOST_PROPERTIES} bytes of JSON`,
        ),
    }),
  },
  output: { 204: { description: 'Kept.' } },
});
