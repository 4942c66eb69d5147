import { may } from '../../identity/abilities.ts';
import { USERS, type UserRecord } from '../../identity/records.ts';
import { actingFor } from '../../operations/audit.ts';
import { findNumberedPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { createTotals } from '../../operations/totals.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { forbidden, notFound } from '../../shared/errors.ts';
import { getUser, listUsers, updateUser } from './users-contract.ts';
import { getVisibility, membersSeen } from './visibility.ts';
import { toSeenUser } from './wire.ts';

export interface UsersServices extends PipelineServices {
  readonly store: Store;
  readonly defaultTheme: string;
}

export function userRoutes(services: UsersServices): Route[] {
  return [
    createListUsersHandler(services),
    createGetUserHandler(services),
    createUpdateUserHandler(services),
  ];
}

/** `GET /api/users` */
function createListUsersHandler(services: UsersServices): Route {
  const { store } = services;
  const users = store.collection(USERS);
  const count = createTotals<UserRecord>(services);
  return defineRoute(listUsers, services, async ({ query }, { caller }) => {
    const { sort, order: direction = 'desc', search = '', organizationId, role } = query;
    const sight = await getVisibility(store, caller);
    const filter: Filter<UserRecord> = {
      ...(organizationId === undefined ? sight.filter : await membersSeen(store, sight, organizationId)),
      ...(role !== undefined && { isAdmin: role === 'admin' }),
      ...(search !== '' && named(search, sight.seesAll)),
    };
    const { rows, pagination } = await findNumberedPage(
      users,
      filter,
      query,
      { field: sort, direction },
      count,
    );
    const shown = rows.map((row) => toSeenUser(row, sight, services.defaultTheme));
    return { users: shown, pagination };
  });
}

/** `GET /api/users/{id}` */
function createGetUserHandler(services: UsersServices): Route {
  const { store } = services;
  return defineRoute(getUser, services, async ({ params }, { caller }) => {
    const sight = await getVisibility(store, caller);
    const user = await store.collection(USERS).get(params.id, sight.filter);
    if (user === undefined) throw notFound('User');
    return toSeenUser(user, sight, services.defaultTheme);
  });
}

/** `PATCH /api/users/{id}` */
function createUpdateUserHandler(services: UsersServices): Route {
  const { store } = services;
  return defineRoute(updateUser, services, async ({ params, body }, call) => {
    const { caller } = call;
    const sight = await getVisibility(store, caller);
    const users = actingFor(services, call).store.collection(USERS);
    if ((await users.get(params.id, sight.filter)) === undefined) throw notFound('User');
    if (params.id !== caller.userId && !may(caller, 'administer', 'User')) {
      throw forbidden('You may change only your own user');
    }
    const { username, firstName, lastName } = body;
    const user = await users.update(params.id, {
      ...(username !== undefined && { username }),
      ...(firstName !== undefined && { firstName }),
      ...(lastName !== undefined && { lastName }),
    });
    if (user === undefined) throw notFound('User');
    return toSeenUser(user, sight, services.defaultTheme);
  });
}

/** A hidden e-mail address must not be discoverable by search either. */
function named(search: string, withEmail: boolean): Filter<UserRecord> {
  const contains = { contains: search };
  return withEmail ? { anyOf: [{ username: contains }, { email: contains }] } : { username: contains };
}
