import { ADMIN_SETTINGS } from '../../operations/admin-settings.ts';
import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { settingAudit } from './audit.ts';
import { settingsRoutes } from './handlers.ts';

export const settings = {
  name: 'settings',
  auditSources: [settingAudit],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [ADMIN_SETTINGS],
  routes: (services: ServicesFor<typeof settingsRoutes>) => settingsRoutes(services),
};
