import { defineOperation } from '../../contract/operation.ts';

/** The path where the api serves the bytes of a store without public access. */
export const OBJECTS_PATH = '/api/v1/objects';

/* The signed link grants the access, so no credential is checked. Only the api creates such links. */
const common = {
  path: OBJECTS_PATH,
  auth: 'none',
  scopes: [],
  rate: { key: 'unlimited', user: 'unlimited' },
  owner: 'none',
  family: 'public',
  tag: 'File transfer',
  side: 'application',
  subject: 'Object',
  input: {},
} as const;

const badLink = { status: 403, description: 'The link is invalid, has expired or was already used.' };
const wrongUpload = [
  { status: 400, description: 'The type differs from the link, or the body has fewer bytes.' },
  { status: 409, description: 'Another transfer to the same address is in progress.' },
  { status: 413, description: 'The body has more bytes than the link allows.' },
  badLink,
];

const gone = { status: 404, description: 'The object is deleted.' };
const headers = {
  'Accept-Ranges': 'Always `bytes`.',
  ETag: 'The version of the bytes, for `If-Range`.',
  'X-Content-Type-Options': 'Always `nosniff`.',
};

export const getObject = defineOperation({
  ...common,
  id: 'getObject',
  method: 'GET',
  summary: 'Download the bytes of a signed link',
  description: 'The link carries the permission. Supports ranges; unsafe types are sent as downloads.',
  output: {
    200: { description: 'The bytes.', contentType: '*/*', headers },
    206: {
      description: 'The requested range.',
      contentType: '*/*',
      headers,
    },
  },
  refusals: [badLink, gone, { status: 416, description: 'The range is beyond the end.' }],
});

export const putObject = defineOperation({
  ...common,
  id: 'putObject',
  method: 'PUT',
  summary: 'Upload the body to a signed link',
  description: 'The link carries the permission, for one upload of one type and size.',
  output: { 204: { description: 'The bytes are stored.' } },
  refusals: wrongUpload,
});

export const postObject = defineOperation({
  ...common,
  id: 'postObject',
  method: 'POST',
  summary: 'Upload a signed form: its fields first, then the part `file`',
  description: 'The link carries the permission. The form fields of the signed upload come before the file.',
  output: { 204: { description: 'The bytes are stored.' } },
  refusals: wrongUpload,
});
