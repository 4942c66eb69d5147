import { defaultCreditsPerUsd } from '../credits/amounts.ts';
import { type Prices, priceModel } from '../credits/pricing.ts';
import type { ModelInfo, ModelPrices, ModelProvider } from '../ports/models.ts';

/** Changes to a model that a provider offers, or a whole model of the host's own. */
export type ModelOverride = Partial<Omit<ModelInfo, 'id'>> & {
  /** True: the model cannot be used, whoever offers it. */
  readonly disabled?: boolean;
};

export interface CatalogueOptions {
  /** In order of preference: where several offer a model of one id, the first one serves it. */
  readonly providers: readonly ModelProvider[];
  /**
   * By model id. Named fields replace those of the provider, prices one by one. An id that no provider offers adds a
   * model: it must then name at least `name`, `type`, `provider`, `contextWindow` and `maxOutputTokens`, and is there
   * while its provider offers any model at all.
   */
  readonly overrides?: Readonly<Record<string, ModelOverride>>;
  /** Models that are not to be seen or used, e.g. those of a managed runtime on self-host. */
  readonly hidden?: (model: ModelInfo) => boolean;
  /** Default 100. */
  readonly creditsPerUsd?: number;
  /** Ids of the providers that are called with the caller's own key: what they serve is paid there, and costs nothing here. */
  readonly ownKeys?: ReadonlySet<string>;
}

/** A model that can be used now. Entries never change; a later look may find another one. */
export interface CatalogueEntry {
  readonly info: ModelInfo;
  readonly provider: ModelProvider;
  /** What to call the model by when asking its provider. */
  readonly providerModel: string;
  /** Whole micro-credits. Absent: the model must not be used while metering is on. */
  readonly prices: Prices | undefined;
  /** Asked with the caller's own key. */
  readonly ownKey?: true;
}

/** What a call costs that the caller's own key pays for. */
const NOTHING: ModelPrices = {
  input: 0,
  output: 0,
  image: 0,
  second: 0,
  thousandCharacters: 0,
  megabyte: 0,
};

/** Which models exist now. */
export interface ModelCatalogue {
  /** @returns undefined for a model that is unknown, hidden, disabled, or whose provider has no key. */
  find(id: string): CatalogueEntry | undefined;
  /** Providers in their order, each one's models in its own, the host's additions last. The same array until something changes. */
  list(): readonly CatalogueEntry[];
  /** Tells a model the host has switched off from one that never was. */
  isDisabled(id: string): boolean;
  readonly creditsPerUsd: number;
}

/**
 * Puts providers, and what the host says about their models, together. What was put together is used until a provider's
 * `models()` answers another array.
 * @throws RangeError when `creditsPerUsd` is not above 0, or two providers have the same id.
 */
export function createCatalogue(options: CatalogueOptions): ModelCatalogue {
  const { providers, creditsPerUsd = defaultCreditsPerUsd } = options;
  if (!(creditsPerUsd > 0 && creditsPerUsd < Number.POSITIVE_INFINITY)) {
    throw new RangeError('creditsPerUsd must be a number above 0');
  }
  if (new Set(providers.map((provider) => provider.id)).size < providers.length) {
    throw new RangeError('Two model providers have the same id');
  }
  const overrides = new Map(Object.entries(options.overrides ?? {}));

  let sources: readonly (readonly ModelInfo[])[] = [];
  let entries: ReadonlyMap<string, CatalogueEntry> = new Map();
  let listed: readonly CatalogueEntry[] = [];

  function current(): ReadonlyMap<string, CatalogueEntry> {
    let changed = sources.length !== providers.length;
    for (let index = 0; index < providers.length && !changed; index++) {
      changed = providers[index]?.models() !== sources[index];
    }
    if (changed) rebuild();
    return entries;
  }

  function rebuild(): void {
    sources = providers.map((provider) => provider.models());
    const next = new Map<string, CatalogueEntry>();
    const add = (info: ModelInfo, provider: ModelProvider): void => {
      if (next.has(info.id) || overrides.get(info.id)?.disabled || options.hidden?.(info)) return;
      next.set(info.id, {
        info,
        provider,
        providerModel: info.providerModel ?? info.id,
        ...(options.ownKeys?.has(provider.id)
          ? { prices: priceModel(info.type, NOTHING, creditsPerUsd), ownKey: true }
          : { prices: priceModel(info.type, info.prices, creditsPerUsd) }),
      });
    };
    const offered = new Set<string>();
    providers.forEach((provider, index) => {
      for (const info of sources[index] ?? []) {
        offered.add(info.id);
        add(altered(info, overrides.get(info.id)), provider);
      }
    });
    for (const [id, override] of overrides) {
      if (offered.has(id)) continue;
      const index = providers.findIndex((provider) => provider.id === override.provider);
      const provider = providers[index];
      const info = addition(id, override);
      if (provider !== undefined && info !== undefined && sources[index]?.length) add(info, provider);
    }
    entries = next;
    listed = [...next.values()];
  }

  return {
    find: (id) => current().get(id),
    list() {
      current();
      return listed;
    },
    isDisabled: (id) => overrides.get(id)?.disabled === true,
    creditsPerUsd,
  };
}

/** A provider's model as the host wants it. Who serves it is not for an override to change. */
function altered(info: ModelInfo, override: ModelOverride | undefined): ModelInfo {
  if (override === undefined) return info;
  const { disabled: _, provider: __, prices, ...fields } = override;
  return { ...info, ...fields, ...(prices && { prices: repriced(info.prices, prices) }) };
}

/** One price of a second for all films replaces those by resolution. */
function repriced(own: ModelPrices = {}, named: ModelPrices): ModelPrices {
  const { secondByResolution, ...flat } = own;
  return named.second === undefined && secondByResolution !== undefined
    ? { ...flat, secondByResolution, ...named }
    : { ...flat, ...named };
}

/** The host's own model, or nothing when the override only means to alter one that is not offered now. */
function addition(id: string, override: ModelOverride): ModelInfo | undefined {
  const { disabled: _, name, type, provider, contextWindow, maxOutputTokens, ...fields } = override;
  if (name === undefined || type === undefined || provider === undefined) return undefined;
  if (contextWindow === undefined || maxOutputTokens === undefined) return undefined;
  return { ...fields, id, name, type, provider, contextWindow, maxOutputTokens };
}
