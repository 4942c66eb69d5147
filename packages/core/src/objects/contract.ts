import { defineOperation } from '../operation.ts';

/** Where the api serves the bytes of a store that cannot be reached by others. */
export const OBJECTS_PATH = '/api/v1/objects';

/* The link itself is what allows it, so no credential is looked at. Nobody writes such links: the api hands them out. */
const common = {
  path: OBJECTS_PATH,
  auth: 'none',
  scopes: [],
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  family: 'public',
  subject: 'Object',
  input: {},
} as const;

const badLink = { status: 403, description: 'The link is not one of ours, has ended or was used already.' };
const wrongUpload = [
  { status: 400, description: 'Another type, or fewer bytes, than the link is for.' },
  { status: 413, description: 'More bytes than the link is for.' },
  badLink,
];

export const getObject = defineOperation({
  ...common,
  id: 'getObject',
  method: 'GET',
  summary: 'Hand out the bytes a signed link is for',
  output: {
    200: { description: 'The bytes.', contentType: 'application/octet-stream' },
    206: { description: 'A part of them.', contentType: 'application/octet-stream' },
  },
  refusals: [badLink, { status: 416, description: 'A range behind the end.' }],
});

export const putObject = defineOperation({
  ...common,
  id: 'putObject',
  method: 'PUT',
  summary: 'Take in the bytes a signed link is for, as the body',
  output: { 204: { description: 'They are here.' } },
  refusals: wrongUpload,
});

export const postObject = defineOperation({
  ...common,
  id: 'postObject',
  method: 'POST',
  summary: 'Take in the bytes a signed form is for: its fields first, then the part `file`',
  output: { 204: { description: 'They are here.' } },
  refusals: wrongUpload,
});
