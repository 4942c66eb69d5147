import { requireAbility } from '../../identity/abilities.ts';
import type { SecretBox } from '../../models/secret-box.ts';
import { actingFor } from '../../operations/audit.ts';
import { findNumberedPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { createTotals } from '../../operations/totals.ts';
import { removeWhere } from '../../ports/remove-where.ts';
import type { Store } from '../../ports/store.ts';
import { codeOfInvite } from './invite-codes.ts';
import { REGISTRATION_INVITES, type RegistrationInviteRecord } from './invite-records.ts';
import {
  createRegistrationInvites,
  deleteRegistrationInvites,
  listRegistrationInvites,
  type WireRegistrationInvite,
} from './invites-contract.ts';
import { issueRegistrationInvites } from './issue-invites.ts';

export interface RegistrationInvitesServices extends PipelineServices {
  readonly store: Store;
  /** Without it, a code is shown only once. */
  readonly secretBox?: SecretBox;
}

/** `POST /api/reg-invites/create` */
export function createCreateRegistrationInvitesHandler(services: RegistrationInvitesServices): Route {
  return defineRoute(createRegistrationInvites, services, async ({ body }, call) => {
    const { caller } = call;
    requireAbility(caller, 'manage', 'RegistrationInvite');
    const issued = await issueRegistrationInvites(actingFor(services, call), {
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
  const count = createTotals<RegistrationInviteRecord>(services);
  return defineRoute(listRegistrationInvites, services, async ({ query }, { caller }) => {
    requireAbility(caller, 'manage', 'RegistrationInvite');
    const { order: direction = 'desc' } = query;
    const { rows, pagination } = await findNumberedPage(
      invites,
      {},
      query,
      { field: 'createdAt', direction },
      count,
    );
    const shown = rows.map((row) => ({ ...toWire(row), code: codeOfInvite(row, secretBox) }));
    return { invites: shown, pagination };
  });
}

/** `POST /api/reg-invites/delete`: ignores unknown ids. */
export function createDeleteRegistrationInvitesHandler(services: RegistrationInvitesServices): Route {
  return defineRoute(deleteRegistrationInvites, services, async ({ body }, call) => {
    const invites = actingFor(services, call).store.collection(REGISTRATION_INVITES);
    requireAbility(call.caller, 'manage', 'RegistrationInvite');
    await removeWhere(invites, { id: { in: [...new Set(body.ids)] } });
    return { success: true, message: 'The invites are deleted' };
  });
}

function toWire({ id, usesLeft, createdAt }: RegistrationInviteRecord): Omit<WireRegistrationInvite, 'code'> {
  return { _id: id, usesLeft, createdAt: new Date(createdAt).toISOString() };
}
