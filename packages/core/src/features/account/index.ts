import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { userAudit } from './audit.ts';
import { userEvents } from './events.ts';
import { exportRoutes } from './export-handlers.ts';
import { createCreditsHandler, createMeHandler, createUsageHandler } from './handlers.ts';
import { createOrganizationCreditsHandler } from './organization-credits-handlers.ts';
import { reportRoutes } from './reports-handlers.ts';
import { createListCreditTransactionsHandler } from './transactions-handlers.ts';

export const account = {
  name: 'account',
  eventSources: [userEvents],
  auditSources: [userAudit],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  routes: (services: ServicesFor<typeof reportRoutes>) => [
    createMeHandler(services),
    createCreditsHandler(services),
    createUsageHandler(services),
    createListCreditTransactionsHandler(services),
    ...reportRoutes(services),
    ...exportRoutes(services),
    createOrganizationCreditsHandler(services),
  ],
};
