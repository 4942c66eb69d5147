import { limitCatalogues } from '../models/allowed-models.ts';
import { createCircuitBreaker } from '../models/breaker.ts';
import { type CatalogueOptions, createCatalogue } from '../models/catalogue.ts';
import { createSecretBox } from '../models/secret-box.ts';
import { deriveTextKey, getOwnKeys } from './secrets.ts';
import type { BaseServices } from './services.ts';
import type { Settings } from './settings.ts';

type Wiring = Pick<BaseServices, 'store' | 'clock' | 'ids' | 'providers' | 'onError'> & {
  /** Encrypts texts of requests where no key for secrets is set. */
  readonly secret: Uint8Array;
};

/** Creates the catalogues of models, with those of users' own keys. */
export function wireModels(
  { secret, onError, providers, ...wiring }: Wiring,
  settings: Pick<Settings, 'models' | 'hideModel' | 'creditsPerUsd' | 'secretEncryptionKey'>,
) {
  const { clock, ids } = wiring;
  const options: CatalogueOptions = {
    providers,
    ...(settings.models !== undefined && { overrides: settings.models }),
    ...(settings.hideModel !== undefined && { hidden: settings.hideModel }),
    ...(settings.creditsPerUsd !== undefined && { creditsPerUsd: settings.creditsPerUsd }),
    clock,
  };
  const catalogue = createCatalogue(options);
  const own =
    settings.secretEncryptionKey === undefined
      ? undefined
      : getOwnKeys(settings.secretEncryptionKey, {
          ...wiring,
          catalogue,
          options,
          onError: (error) => onError({ operation: 'provider-key', requestId: '', error }),
        });
  return {
    ...own,
    catalogue,
    getCatalogue: limitCatalogues(catalogue, own?.ownModels),
    textBox: own?.secretBox ?? createSecretBox(deriveTextKey(secret), ids),
    breaker: createCircuitBreaker(clock),
    providers,
  } satisfies Partial<BaseServices>;
}
