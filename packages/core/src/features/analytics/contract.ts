import * as z from 'zod';
import { jsonObject } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';
import { text } from '../../contract/text.ts';
import type { Json } from '../../ports/store.ts';

/** Maximum bytes of JSON. */
const MAX_PROPERTIES = 16 * 2 ** 10;

export const logEvent = defineOperation({
  id: 'logAnalyticsEvent',
  method: 'POST',
  path: '/api/analytics/log-event',
  summary: 'Log an analytics event',
  description: 'Stores the event for the operator of the workspace. Nothing is sent to other services.',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'application' },
  owner: 'caller',
  family: 'application',
  tag: 'Service',
  input: {
    body: z.object({
      event: text({ min: 1, max: 200 }).describe('The name of the event.'),
      properties: jsonObject<Json | undefined>(1000)
        .default({})
        .refine(
          (value) => Buffer.byteLength(JSON.stringify(value)) <= MAX_PROPERTIES,
          `expected at most ${MAX_PROPERTIES} bytes of JSON`,
        )
        .describe('Facts about the event: any JSON, up to 16 KiB.'),
    }),
  },
  output: { 204: { description: 'Kept.' } },
});
