import { defineOperation, defineRoute, type Route, type Services } from '@questline/core';
import { z } from 'zod';

const id = z.string().regex(/^[0-9a-f]{24}$/);
const echo = z.object({ echo: z.unknown() });

/** A public operation with every feature: path and query parameters, a body, scopes of both kinds. */
const updateSample = defineOperation({
  id: 'updateSample',
  method: 'PATCH',
  path: '/api/v1/samples/{id}',
  tag: 'Samples',
  summary: 'Change a sample',
  auth: 'key-or-token',
  scopes: ['files:write', 'projects:write'],
  alsoScopes: ['me:read', 'agents:read'],
  rate: { key: 'standard', user: 'unlimited' },
  owner: 'caller',
  family: 'public',
  subject: 'Sample',
  input: {
    params: z.object({ id }),
    query: z.object({ mode: z.enum(['fast', 'smart']).optional() }),
    body: z.strictObject({ name: z.string().optional() }),
  },
  output: { 200: { description: 'It.', schema: echo } },
});

const deleteSample = defineOperation({
  ...updateSample,
  id: 'deleteSample',
  method: 'DELETE',
  summary: 'Remove a sample',
  alsoScopes: [],
  input: { params: z.object({ id }) },
  output: { 204: { description: 'Gone.' } },
});

/** For signed-in users only, with its own rate limit. */
const runSample = defineOperation({
  id: 'runSample',
  method: 'POST',
  path: '/api/v1/samples/{id}/run',
  tag: 'Samples',
  summary: 'Run a sample',
  auth: 'token',
  scopes: [],
  rate: { key: 'standard', user: 'ai-tools' },
  owner: 'caller',
  family: 'public',
  subject: 'Sample',
  input: { params: z.object({ id }), body: z.object({ input: z.string() }) },
  output: { 200: { description: 'It ran.', schema: echo } },
});

/** An operation of the application family with its own status and code for invalid bodies. */
const createApplicationSample = defineOperation({
  id: 'createApplicationSample',
  method: 'POST',
  path: '/api/samples',
  summary: 'Make a sample',
  auth: 'token',
  scopes: [],
  rate: { key: 'unlimited', user: 'agents-create' },
  owner: 'caller',
  family: 'application',
  bodyFault: { status: 400, applicationCode: 'INVALID_AGENT_DATA' },
  input: { body: z.object({ name: z.string() }) },
  output: { 201: { description: 'Made.', schema: echo } },
});

const listApplicationSamples = defineOperation({
  ...createApplicationSample,
  id: 'listApplicationSamples',
  method: 'GET',
  rate: { key: 'unlimited', user: 'application' },
  input: { query: z.object({ page: z.string().regex(/^\d+$/).optional() }) },
  output: { 200: { description: 'Them.', schema: echo } },
});

const deleteApplicationSample = defineOperation({
  ...createApplicationSample,
  id: 'deleteApplicationSample',
  method: 'DELETE',
  path: '/api/samples/{id}',
  rate: { key: 'unlimited', user: 'application' },
  subject: 'Sample',
  input: { params: z.object({ id }) },
  output: { 200: { description: 'Gone.', schema: echo } },
});

/** Operations that a host might add: one of each kind, so that tests cover the rules of all kinds. */
export function sampleRoutes(services: Services): readonly Route[] {
  return [
    defineRoute(updateSample, services, async (input) => ({ echo: input })),
    defineRoute(deleteSample, services, async () => undefined),
    defineRoute(runSample, services, async (input) => ({ echo: input })),
    defineRoute(createApplicationSample, services, async (input) => ({ echo: input })),
    defineRoute(listApplicationSamples, services, async (input) => ({ echo: input })),
    defineRoute(deleteApplicationSample, services, async (input) => ({ echo: input })),
  ];
}
