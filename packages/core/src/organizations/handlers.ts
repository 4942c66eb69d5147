import { paginationOf } from '../http/pages.ts';
import { USERS } from '../identity/records.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { Filter, Store } from '../ports/store.ts';
import { defineRoute, type Route } from '../route.ts';
import { SUBSCRIPTIONS } from '../subscriptions/records.ts';
import { createOrganization, listOrganizations } from './contract.ts';
import { visibleTo } from './membership.ts';
import { anotherSlug, slugOf, toWireOrganization } from './organizations.ts';
import { ORGANIZATIONS, type OrganizationRecord } from './records.ts';

export interface OrganizationsServices extends PipelineServices {
  readonly store: Store;
}

export function organizationRoutes(services: OrganizationsServices): Route[] {
  return [createListOrganizationsHandler(services), createCreateOrganizationHandler(services)];
}

/** `GET /api/organizations` */
function createListOrganizationsHandler(services: OrganizationsServices): Route {
  const organizations = services.store.collection(ORGANIZATIONS);
  return defineRoute(listOrganizations, services, async ({ query }, { caller }) => {
    const { page, limit, sort, order: direction = 'desc', search = '' } = query;
    const filter: Filter<OrganizationRecord> = {
      ...(search !== '' && { name: { contains: search } }),
      ...visibleTo(caller),
    };
    const [total, rows] = await Promise.all([
      organizations.count(filter),
      organizations.find(filter, {
        order: { field: sort, direction },
        offset: (page - 1) * limit,
        limit,
      }),
    ]);
    return { organizations: rows.map(toWireOrganization), pagination: paginationOf(query, total) };
  });
}

/** `POST /api/organizations` */
function createCreateOrganizationHandler(services: OrganizationsServices): Route {
  const { store, ids, clock } = services;
  return defineRoute(createOrganization, services, async ({ body }, { caller }) => {
    const organization = await store.transaction(async (inner) => {
      const organizations = inner.collection(ORGANIZATIONS);
      const slug = slugOf(body.name);
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
      if (!(await organizations.insert(record))) throw new Error('a new slug was taken already');
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
