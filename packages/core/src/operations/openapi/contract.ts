import * as z from 'zod';
import { defineOperation } from '../../contract/operation.ts';

/** Version of the published descriptions. */
export const DESCRIPTION_VERSION = '16.1.0';

const common = {
  method: 'GET',
  auth: 'none',
  scopes: [],
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  family: 'public',
  tag: 'Service',
  side: 'application',
  openOrigin: true,
} as const;

const openApiDocument = z.looseObject({
  openapi: z.literal('3.1.0').describe('The version of the format.'),
  info: z.looseObject({}).describe('Title, version and introduction.'),
  paths: z.looseObject({}).describe('The operations by path and method.'),
  components: z.looseObject({}).describe('Shared schemas, answers, headers and security schemes.'),
});

const described = { 200: { description: 'The description.', schema: openApiDocument } } as const;

/** The operation that returns the OpenAPI document of the public API. */
export const getDescription = defineOperation({
  ...common,
  id: 'getDescription',
  path: '/api/v1/openapi.json',
  summary: 'Get the OpenAPI 3.1 description of the public API',
  description:
    'Describes every operation that API keys can call: parameters, bodies, answers, examples and scopes. Generated from ' +
    'the operations of this server, so it lists exactly those.',
  input: {},
  output: described,
});

/** The operation that returns the OpenAPI document of the application side. */
export const getApplicationDescription = defineOperation({
  ...common,
  id: 'getApplicationDescription',
  path: '/api/openapi.json',
  summary: 'Get the OpenAPI 3.1 description of the application API',
  description:
    'Describes every operation that is not in the description of the public API: sign-in, conversations, own API keys, ' +
    'settings, users, organizations, sharing and the service itself.',
  input: {},
  output: described,
});

/** The operation that returns the reference page. */
export const getReference = defineOperation({
  ...common,
  id: 'getReference',
  path: '/api/v1/docs',
  summary: 'Show the API reference page',
  description: 'Shows both descriptions as a page for people. The page loads nothing from other origins.',
  input: {
    query: z.object({
      document: z
        .enum(['public', 'application'])
        .catch('public')
        .meta({ type: 'string', enum: ['public', 'application'], default: 'public' })
        .describe('The description to show, where the page shows one at a time.'),
    }),
  },
  output: {
    200: {
      description: 'A page.',
      contentType: 'text/html',
      headers: { 'X-Content-Type-Options': 'Always `nosniff`.' },
    },
  },
});

/** The operation that returns the script of the page. Exists only if the host provides a script. */
export const getReferenceScript = defineOperation({
  ...common,
  id: 'getReferenceScript',
  path: '/api/v1/docs/redoc.js',
  summary: 'Get the script of the reference page',
  description:
    'Served by the same origin, so that the page needs no other server. Present only where the host provides it.',
  input: {},
  output: {
    200: {
      description: 'The script.',
      contentType: 'text/javascript',
      headers: { 'X-Content-Type-Options': 'Always `nosniff`.' },
    },
  },
});
