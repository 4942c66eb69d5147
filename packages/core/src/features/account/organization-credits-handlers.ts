import { toCredits } from '../../credits/amounts.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { getOrganizationCredits } from './organization-credits-contract.ts';
import { type ReportServices, requireOrganization } from './reports-handlers.ts';

/** `GET /api/organizations/{id}/credits` */
export function createOrganizationCreditsHandler(services: ReportServices): Route {
  return defineRoute(getOrganizationCredits, services, async ({ params: { id } }, { caller }) => {
    await requireOrganization(services, caller, id);
    const { available, held } = await services.ledger.balance(`organization:${id}`);
    return { balance: toCredits(available), reserved: toCredits(held) };
  });
}
