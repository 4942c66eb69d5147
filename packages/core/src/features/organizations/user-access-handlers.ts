import { USERS } from '../../identity/records.ts';
import { actingFor } from '../../operations/audit.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Store } from '../../ports/store.ts';
import { conflict, forbidden, notFound } from '../../shared/errors.ts';
import { changeUserAccess } from './user-access-contract.ts';
import { toWireUser } from './wire.ts';

export interface UserAccessServices extends PipelineServices {
  readonly store: Store;
  readonly defaultTheme: string;
}

/** `PUT /api/users/{id}/access` */
export function createChangeUserAccessHandler(services: UserAccessServices): Route {
  return defineRoute(changeUserAccess, services, async ({ params: { id }, body }, call) => {
    const { caller } = call;
    const users = actingFor(services, call).store.collection(USERS);
    if (caller.kind !== 'token' || !caller.isAdmin) throw forbidden('Only administrators may do this');
    const before = await users.get(id);
    if (before === undefined) throw notFound('User');
    if (id === caller.userId) throw conflict('You cannot change the access of your own account');
    const { isAdmin = before.isAdmin, disabled = before.disabled } = body;
    // Access tokens issued so far stay invalid after the account is enabled again.
    if (disabled && !before.disabled) await users.add(id, { tokenVersion: 1 });
    const user = await users.update(id, { isAdmin, disabled });
    if (user === undefined) throw notFound('User');
    services.authenticator.forgetUser(id);
    return { ...toWireUser(user, services.defaultTheme), ...(user.disabled && { disabled: true }) };
  });
}
