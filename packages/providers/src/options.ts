import { type GenerateOptions, type ModelInfo, ProviderError } from '@questline/core/ports';
import type { ConnectionOptions } from './http/upstream.ts';

/** Options of every provider of this package. */
export interface ProviderOptions extends ConnectionOptions {
  /** The platform's key. Without a key the provider offers no models, but calls with a user's own key work. */
  readonly apiKey?: string | undefined;
  /** The base URL of the API with its version, e.g. `https://gateway.example.com/v1`. A query is kept. */
  readonly baseUrl?: string;
  /** Distinguishes several providers of one vendor. Default: the vendor's name. */
  readonly id?: string;
  /** Additional models; one with a listed id replaces it. A function returns the whole list. */
  readonly models?: readonly ModelInfo[] | ((listed: readonly ModelInfo[]) => readonly ModelInfo[]);
  /** Sent with every request, e.g. an organization. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The models of a provider: those listed with it and those of its options. */
export function knownModels(
  id: string,
  listed: readonly ModelInfo[],
  { models = [] }: Pick<ProviderOptions, 'models'>,
): readonly ModelInfo[] {
  let chosen: readonly ModelInfo[];
  if (typeof models === 'function') {
    chosen = models(listed);
  } else {
    const own = new Set(models.map((model) => model.id));
    chosen = [...listed.filter((model) => !own.has(model.id)), ...models];
  }
  return chosen.map((model) => ({ ...model, provider: id }));
}

/** The key of a call. Throws without a key. */
export function getKey(id: string, platform: string | undefined, options: GenerateOptions): string {
  const key = options.apiKey ?? platform;
  if (key === undefined || key === '') throw new ProviderError('not_configured', `${id}: there is no key`);
  return key;
}

/**
 * The headers of a call by its key, names and values alternating. Those of the platform's key, the most common case,
 * are created once.
 */
export function headersByKey(
  { apiKey, headers = {} }: Pick<ProviderOptions, 'apiKey' | 'headers'>,
  own: (key: string) => Readonly<Record<string, string>>,
): (key: string) => readonly string[] {
  const list = (key: string) =>
    Object.entries({ 'content-type': 'application/json', ...own(key), ...headers }).flat();
  const platform = apiKey === undefined ? [] : list(apiKey);
  return (key) => (key === apiKey ? platform : list(key));
}
