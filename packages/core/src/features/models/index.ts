import type { OwnModels } from '../../models/own-models.ts';
import { PROVIDER_KEYS } from '../../models/provider-keys-records.ts';
import type { SecretBox } from '../../models/secret-box.ts';
import type { ExamplesFile, ServicesFor } from '../../operations/feature-parts.ts';
import { providerKeyAudit } from './audit.ts';
import { createApplicationModelsHandler, createModelsHandler } from './handlers.ts';
import { providerKeyRoutes } from './provider-keys-handlers.ts';

type ModelsFeatureServices = ServicesFor<typeof createModelsHandler> &
  Omit<ServicesFor<typeof providerKeyRoutes>, 'secretBox' | 'ownModels'> & {
    readonly secretBox?: SecretBox;
    readonly ownModels?: OwnModels;
  };

export const models = {
  name: 'models',
  auditSources: [providerKeyAudit],
  examples: (): Promise<ExamplesFile> => import('./examples.json', { with: { type: 'json' } }),
  collections: [PROVIDER_KEYS],
  routes: (services: ModelsFeatureServices) => [
    createModelsHandler(services),
    createApplicationModelsHandler(services),
    ...ownKeyRoutes(services),
  ],
};

/** Without an encryption key no provider keys are stored, and those paths belong to the host. */
function ownKeyRoutes(services: ModelsFeatureServices) {
  const { secretBox, ownModels } = services;
  if (secretBox === undefined || ownModels === undefined) return [];
  return providerKeyRoutes({ ...services, secretBox, ownModels });
}
