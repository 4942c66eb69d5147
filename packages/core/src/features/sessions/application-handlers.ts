import { getRange, toBracketPage } from '../../contract/bracket-pages.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { createApplicationSession, listApplicationSessions } from './application-contract.ts';
import { createCreateSessionHandler, ownSessions, type SessionServices } from './handlers.ts';
import { SESSIONS } from './records.ts';
import { toWireSession } from './sessions.ts';

/** Paths of older clients. */
export function applicationSessionRoutes(services: SessionServices): Route[] {
  return [
    createListApplicationSessionsHandler(services),
    createCreateSessionHandler(services, createApplicationSession),
  ];
}

/** `GET /api/sessions` */
function createListApplicationSessionsHandler(services: SessionServices): Route {
  const sessions = services.store.collection(SESSIONS);
  return defineRoute(listApplicationSessions, services, async ({ query }, { caller }) => {
    const rows = await sessions.find(ownSessions(caller.userId, query.search), {
      order: { field: 'firstCreated', direction: 'desc' },
      ...getRange(query),
    });
    return toBracketPage(rows, query, toWireSession);
  });
}
