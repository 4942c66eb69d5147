import { defineOperation } from '../operation.ts';

/** What the published description says of itself. @see the service specification, "Versioning" */
export const DESCRIPTION_VERSION = '16.1.0';

/** The machine-readable description. */
export const getDescription = defineOperation({
  id: 'getDescription',
  method: 'GET',
  path: '/api/v1/openapi.json',
  summary: 'Describe the public API, as OpenAPI 3.1',
  auth: 'none',
  scopes: [],
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  family: 'public',
  openOrigin: true,
  input: {},
  output: { 200: { description: 'The description.', contentType: 'application/json' } },
});

/** The reference for people. */
export const getReference = defineOperation({
  id: 'getReference',
  method: 'GET',
  path: '/api/v1/docs',
  summary: 'Show the public API to a reader',
  auth: 'none',
  scopes: [],
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  family: 'public',
  openOrigin: true,
  input: {},
  output: { 200: { description: 'A page.', contentType: 'text/html' } },
});

/** The page's script. Exists only when the host gave one. */
export const getReferenceScript = defineOperation({
  id: 'getReferenceScript',
  method: 'GET',
  path: '/api/v1/docs/redoc.js',
  summary: 'The script of the reference page',
  auth: 'none',
  scopes: [],
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  family: 'public',
  openOrigin: true,
  input: {},
  output: { 200: { description: 'The script.', contentType: 'text/javascript' } },
});
