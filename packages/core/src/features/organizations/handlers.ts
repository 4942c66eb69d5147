import { canWrite } from '../../access/access.ts';
import { USERS } from '../../identity/records.ts';
import { type GetCatalogue, requireKnownModels } from '../../models/allowed-models.ts';
import { actingFor } from '../../operations/audit.ts';
import type { DeletionCleanup } from '../../operations/deletion.ts';
import { findNumberedPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import { createTotals } from '../../operations/totals.ts';
import type { CreditLedger } from '../../ports/ledger.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { forbidden, notFound } from '../../shared/errors.ts';
import { createOrganization, deleteOrganization, listOrganizations, updateOrganization } from './contract.ts';
import { disband, requireEmpty } from './deletion.ts';
import { visibleTo } from './membership.ts';
import { anotherSlug, toSlug, toWireOrganization } from './organizations.ts';
import { ORGANIZATIONS, type OrganizationRecord } from './records.ts';
import { SUBSCRIPTIONS } from './subscriptions-records.ts';

export interface OrganizationsServices extends PipelineServices {
  readonly store: Store;
  readonly ledger: CreditLedger;
  readonly deletion: DeletionCleanup;
  readonly getCatalogue: GetCatalogue;
}

export function organizationRoutes(services: OrganizationsServices): Route[] {
  return [
    createListOrganizationsHandler(services),
    createCreateOrganizationHandler(services),
    createUpdateOrganizationHandler(services),
    createDeleteOrganizationHandler(services),
  ];
}

/** `GET /api/organizations` */
function createListOrganizationsHandler(services: OrganizationsServices): Route {
  const organizations = services.store.collection(ORGANIZATIONS);
  const count = createTotals<OrganizationRecord>(services);
  return defineRoute(listOrganizations, services, async ({ query }, { caller }) => {
    const { sort, order: direction = 'desc', search = '' } = query;
    const filter: Filter<OrganizationRecord> = {
      ...(search !== '' && { name: { contains: search } }),
      ...visibleTo(caller),
    };
    const { rows, pagination } = await findNumberedPage(
      organizations,
      filter,
      query,
      { field: sort, direction },
      count,
    );
    return { organizations: rows.map(toWireOrganization), pagination };
  });
}

/** `POST /api/organizations` */
function createCreateOrganizationHandler(services: OrganizationsServices): Route {
  const { ids, clock } = services;
  return defineRoute(createOrganization, services, async ({ body }, call) => {
    const { caller } = call;
    const organization = await actingFor(services, call).store.transaction(async (inner) => {
      const organizations = inner.collection(ORGANIZATIONS);
      const slug = toSlug(body.name);
      const isTaken = (await organizations.count({ slug })) > 0;
      const record: OrganizationRecord = {
        id: ids.next(),
        ownerId: caller.userId,
        name: body.name,
        slug: isTaken ? anotherSlug(slug, ids) : slug,
        description: body.description ?? null,
        subscriptionTier: 'free',
        subscriptionStatus: 'trial',
        createdAt: clock.now(),
      };
      if (!(await organizations.insert(record))) throw new Error('duplicate slug');
      await inner.collection(SUBSCRIPTIONS).insert({
        id: ids.next(),
        organizationId: record.id,
        tier: record.subscriptionTier,
        status: record.subscriptionStatus,
        currentPeriodEnd: null,
        createdAt: record.createdAt,
      });
      await inner
        .collection(USERS)
        .update(caller.userId, { organizationId: record.id }, { organizationId: null });
      return record;
    });
    return toWireOrganization(organization);
  });
}

/** `PATCH /api/organizations/{id}` */
function createUpdateOrganizationHandler(services: OrganizationsServices): Route {
  const organizations = services.store.collection(ORGANIZATIONS);
  return defineRoute(updateOrganization, services, async ({ params, body }, call) => {
    const { caller } = call;
    const { name, description, models } = body;
    if (models) await requireKnownModels(services.getCatalogue, caller, models);
    const change = {
      ...(name !== undefined && { name }),
      ...(description !== undefined && { description }),
      ...(models !== undefined && { models }),
    };
    const acting = actingFor(services, call).store.collection(ORGANIZATIONS);
    const organization = await acting.update(params.id, change, canWrite(caller.userId));
    if (organization !== undefined) return toWireOrganization(organization);
    if ((await organizations.get(params.id, visibleTo(caller))) === undefined) throw notFound('Organization');
    throw forbidden('You do not administer this organization');
  });
}

/** `DELETE /api/organizations/{id}` */
function createDeleteOrganizationHandler(services: OrganizationsServices): Route {
  const { store } = services;
  return defineRoute(deleteOrganization, services, async ({ params: { id } }, call) => {
    const { caller } = call;
    const owned = { ownerId: caller.userId };
    const organizations = store.collection(ORGANIZATIONS);
    if ((await organizations.get(id, owned)) === undefined) {
      if ((await organizations.get(id, visibleTo(caller))) === undefined) throw notFound('Organization');
      throw forbidden('Only the owner may do this');
    }
    await requireEmpty(services, id);
    const changed = await actingFor(services, call).store.transaction(async (inner) => {
      const organization = await inner.collection(ORGANIZATIONS).take(id, owned);
      if (organization === undefined) throw notFound('Organization');
      return disband(inner, organization);
    });
    // API keys that it paid for end at once.
    for (const userId of changed) services.authenticator.forgetUser(userId);
    await services.deletion.organization(id);
    return undefined;
  });
}
