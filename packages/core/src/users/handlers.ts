import { notFound } from '../errors.ts';
import { paginationOf } from '../http/pages.ts';
import { USERS, type UserRecord } from '../identity/records.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { Filter, Store } from '../ports/store.ts';
import { defineRoute, type Route } from '../route.ts';
import { getUser, listUsers } from './contract.ts';
import { membersSeen, sightOf } from './visibility.ts';
import { toSeenUser } from './wire.ts';

export interface UsersServices extends PipelineServices {
  readonly store: Store;
}

export function userRoutes(services: UsersServices): Route[] {
  return [createListUsersHandler(services), createGetUserHandler(services)];
}

/** `GET /api/users` */
function createListUsersHandler(services: UsersServices): Route {
  const { store } = services;
  const users = store.collection(USERS);
  return defineRoute(listUsers, services, async ({ query }, { caller }) => {
    const { page, limit, sort, order: direction = 'desc', search = '', organizationId, role } = query;
    const sight = await sightOf(store, caller);
    const filter: Filter<UserRecord> = {
      ...(organizationId === undefined ? sight.filter : await membersSeen(store, sight, organizationId)),
      ...(role !== undefined && { isAdmin: role === 'admin' }),
      ...(search !== '' && named(search, sight.seesAll)),
    };
    const [total, rows] = await Promise.all([
      users.count(filter),
      users.find(filter, { order: { field: sort, direction }, offset: (page - 1) * limit, limit }),
    ]);
    return { users: rows.map((row) => toSeenUser(row, sight)), pagination: paginationOf(query, total) };
  });
}

/** `GET /api/users/{id}` */
function createGetUserHandler(services: UsersServices): Route {
  const { store } = services;
  return defineRoute(getUser, services, async ({ params }, { caller }) => {
    const sight = await sightOf(store, caller);
    const user = await store.collection(USERS).get(params.id, sight.filter);
    if (user === undefined) throw notFound('User');
    return toSeenUser(user, sight);
  });
}

/** An address that is not shown must not be found out by searching for it either. */
function named(search: string, withEmail: boolean): Filter<UserRecord> {
  const contains = { contains: search };
  return withEmail ? { anyOf: [{ username: contains }, { email: contains }] } : { username: contains };
}
