import { createCatalogue, type ModelCatalogue } from '@questline/core/internal';
import type { Clock, ModelProvider } from '@questline/core/ports';
import type { Configuration } from './environment/configuration.ts';
import type { ImportedModels } from './imported-models.ts';
import { createProviders } from './providers.ts';

export interface OfferedModelsOptions {
  readonly configuration: Configuration;
  readonly clock: Clock;
  /** Default: none. */
  readonly imported?: ImportedModels;
  /** With those of providers without a key. */
  readonly all?: boolean;
  readonly onListingError?: (error: unknown) => void;
}

/** Looks at the models that a start with this configuration offers. */
export async function withOfferedModels<T>(
  {
    configuration,
    clock,
    imported = {},
    all = false,
    onListingError = () => undefined,
  }: OfferedModelsOptions,
  check: (catalogue: ModelCatalogue, providers: readonly ModelProvider[]) => T,
): Promise<T> {
  const made = await createProviders({ ...configuration, onListingError });
  try {
    const providers = all ? made.map(withAllModels) : made;
    const hidden = configuration.selfHost ? ({ managedRuntime = false }) => managedRuntime : () => false;
    return check(createCatalogue({ providers, overrides: imported, clock, hidden }), providers);
  } finally {
    await Promise.all(made.map((provider) => provider.close?.()));
  }
}

function withAllModels(provider: ModelProvider): ModelProvider {
  const models = provider.modelsForOwnKey?.() ?? provider.models();
  return { ...provider, models: () => models };
}
