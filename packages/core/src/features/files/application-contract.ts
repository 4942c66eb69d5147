import { bracketPage, bracketQuery } from '../../contract/bracket-pages.ts';
import { defineOperation } from '../../contract/operation.ts';
import { getFile, listedFile, listFiles } from './contract.ts';

/** `GET /api/v1/files/{id}` at its older path. */
export const getApplicationFile = defineOperation({
  ...getFile,
  id: 'getApplicationFile',
  path: '/api/files/{id}',
  side: 'application',
  description: 'The same as `GET /api/v1/files/{id}`.',
});

export const searchApplicationFiles = defineOperation({
  ...listFiles,
  id: 'searchApplicationFiles',
  path: '/api/files/search',
  side: 'application',
  description: 'The records of `GET /api/v1/files`, with page numbers.',
  input: { query: bracketQuery },
  output: { 200: { description: 'A page of files.', schema: bracketPage(listedFile) } },
});
