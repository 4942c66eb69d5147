import { getRange, toBracketPage } from '../../contract/bracket-pages.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { getApplicationFile, searchApplicationFiles } from './application-contract.ts';
import { createGetFileHandler, type FileServices, ownFiles } from './handlers.ts';
import { FILES } from './records.ts';
import { toWireListedFile } from './wire.ts';

/** Paths of older clients. */
export function applicationFileRoutes(services: FileServices): Route[] {
  return [createSearchApplicationFilesHandler(services), createGetFileHandler(services, getApplicationFile)];
}

/** `GET /api/files/search` */
function createSearchApplicationFilesHandler(services: FileServices): Route {
  const files = services.store.collection(FILES);
  return defineRoute(searchApplicationFiles, services, async ({ query }, { caller }) => {
    const rows = await files.find(ownFiles(caller.userId, query.search), {
      order: { field: 'createdAt', direction: 'asc' },
      ...getRange(query),
    });
    return toBracketPage(rows, query, toWireListedFile);
  });
}
