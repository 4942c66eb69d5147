import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { organizationAudit } from './audit.ts';
import { creditGrantRoutes } from './credit-grants-handlers.ts';
import { organizationRoutes } from './handlers.ts';
import { personalOrganizations } from './personal.ts';
import { ORGANIZATIONS } from './records.ts';
import { subscriptionRoutes } from './subscriptions-handlers.ts';
import { SUBSCRIPTIONS } from './subscriptions-records.ts';
import { createTransferOrganizationHandler } from './transfer-handlers.ts';
import { createChangeUserAccessHandler } from './user-access-handlers.ts';
import { userRoutes } from './users-handlers.ts';

export const organizations = {
  name: 'organizations',
  auditSources: [organizationAudit],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [ORGANIZATIONS, SUBSCRIPTIONS],
  routes: (
    services: ServicesFor<typeof userRoutes> &
      ServicesFor<typeof organizationRoutes> &
      ServicesFor<typeof subscriptionRoutes> &
      ServicesFor<typeof creditGrantRoutes>,
  ) => [
    ...userRoutes(services),
    createChangeUserAccessHandler(services),
    ...organizationRoutes(services),
    ...subscriptionRoutes(services),
    ...creditGrantRoutes(services),
    createTransferOrganizationHandler(services),
  ],
  personal: (services: ServicesFor<typeof personalOrganizations>) => personalOrganizations(services),
};
