import { paginationOf } from '../http/pages.ts';
import { requireAbility } from '../identity/abilities.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { Store } from '../ports/store.ts';
import type { SecretBox } from '../provider-keys/secret-box.ts';
import { defineRoute, type Route } from '../route.ts';
import { codeOfInvite } from './codes.ts';
import {
  createRegistrationInvites,
  deleteRegistrationInvites,
  listRegistrationInvites,
  type WireRegistrationInvite,
} from './contract.ts';
import { issueRegistrationInvites } from './issue.ts';
import { REGISTRATION_INVITES, type RegistrationInviteRecord } from './records.ts';

export interface RegistrationInvitesServices extends PipelineServices {
  readonly store: Store;
  /** Without one, a code is shown once. */
  readonly secretBox?: SecretBox;
}

/** `POST /api/reg-invites/create` */
export function createCreateRegistrationInvitesHandler(services: RegistrationInvitesServices): Route {
  return defineRoute(createRegistrationInvites, services, async ({ body }, { caller }) => {
    requireAbility(caller, 'manage', 'RegistrationInvite');
    const issued = await issueRegistrationInvites(services, {
      count: body.multiple,
      unlimitedUse: body.unlimitedUse === true,
      startingCredits: body.startingCredits ?? 0,
      createdBy: caller.userId,
    });
    return { invites: issued.map(({ record, code }) => ({ ...toWire(record), code })) };
  });
}

/** `GET /api/reg-invites` */
export function createListRegistrationInvitesHandler(services: RegistrationInvitesServices): Route {
  const { store, secretBox } = services;
  const invites = store.collection(REGISTRATION_INVITES);
  return defineRoute(listRegistrationInvites, services, async ({ query }, { caller }) => {
    requireAbility(caller, 'manage', 'RegistrationInvite');
    const { page, limit, order: direction = 'desc' } = query;
    const [total, rows] = await Promise.all([
      invites.count({}),
      invites.find({}, { order: { field: 'createdAt', direction }, offset: (page - 1) * limit, limit }),
    ]);
    const shown = rows.map((row) => ({ ...toWire(row), code: codeOfInvite(row, secretBox) }));
    return { invites: shown, pagination: paginationOf(query, total) };
  });
}

/** `POST /api/reg-invites/delete`: unknown ones are gone already. */
export function createDeleteRegistrationInvitesHandler(services: RegistrationInvitesServices): Route {
  const invites = services.store.collection(REGISTRATION_INVITES);
  return defineRoute(deleteRegistrationInvites, services, async ({ body }, { caller }) => {
    requireAbility(caller, 'manage', 'RegistrationInvite');
    for (const id of new Set(body.ids)) await invites.take(id);
    return { success: true, message: 'The invites are deleted' };
  });
}

function toWire({ id, usesLeft, createdAt }: RegistrationInviteRecord): Omit<WireRegistrationInvite, 'code'> {
  return { _id: id, usesLeft, createdAt: new Date(createdAt).toISOString() };
}
