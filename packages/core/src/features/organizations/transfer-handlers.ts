import { actingFor } from '../../operations/audit.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { Store } from '../../ports/store.ts';
import { conflict, forbidden, notFound } from '../../shared/errors.ts';
import { visibleTo } from './membership.ts';
import { getMembers, toWireOrganization } from './organizations.ts';
import { ORGANIZATIONS } from './records.ts';
import { transferTo } from './transfer.ts';
import { transferOrganization } from './transfer-contract.ts';

export interface TransferServices extends PipelineServices {
  readonly store: Store;
}

/** `POST /api/organizations/{id}/transfer` */
export function createTransferOrganizationHandler(services: TransferServices): Route {
  return defineRoute(transferOrganization, services, async ({ params: { id }, body }, call) => {
    const { caller } = call;
    const transferred = await actingFor(services, call).store.transaction(async (inner) => {
      const organizations = inner.collection(ORGANIZATIONS);
      const organization = await organizations.get(id, visibleTo(caller));
      if (organization === undefined) throw notFound('Organization');
      const { ownerId } = organization;
      if (ownerId !== caller.userId) throw forbidden('Only the owner may do this');
      const { userId } = body;
      if (userId === ownerId) return organization;
      if (!getMembers(organization).includes(userId)) throw conflict('This user is not a member');
      return transferTo(inner, organization, userId, { staysMember: true });
    });
    if (transferred === undefined) throw notFound('Organization');
    return toWireOrganization(transferred);
  });
}
