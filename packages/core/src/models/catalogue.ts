import { defaultCreditsPerUsd } from '../credits/amounts.ts';
import { type Prices, priceModel } from '../credits/pricing.ts';
import type { Clock } from '../ports/clock.ts';
import type { ModelInfo, ModelPrices, ModelProvider } from '../ports/models.ts';
import { findNextChange, isRetired, withCurrentPrices } from './model-dates.ts';

/** Changes to a provider's model, or a complete additional model. */
export type ModelOverride = Partial<Omit<ModelInfo, 'id'>> & {
  /** True: the model is disabled for all providers. */
  readonly disabled?: boolean;
};

export interface CatalogueOptions {
  /** In order of preference: if several offer the same model id, the first one serves it. */
  readonly providers: readonly ModelProvider[];
  /**
   * By model id. Given fields replace those of the provider, prices one by one. An id that no provider offers adds a
   * model: it needs at least `name`, `type`, `provider`, `contextWindow` and `maxOutputTokens`, and is available
   * while its provider offers any model.
   */
  readonly overrides?: Readonly<Record<string, ModelOverride>>;
  /**
   * Returns true for models that are not listed and cannot be used, e.g. those of a managed runtime in a self-hosted
   * installation.
   */
  readonly hidden?: (model: ModelInfo) => boolean;
  /** Default 100. */
  readonly creditsPerUsd?: number;
  /** For prices that change and models that retire on a day. Absent: dates have no effect. */
  readonly clock?: Clock;
  /**
   * Providers that are called with the user's own key; their models cost no credits. Maps the provider id to a name
   * of the key, such as a hash; never the key.
   */
  readonly ownKeys?: ReadonlyMap<string, string>;
}

/** An available model. Entries are immutable; a later lookup may return a new entry. */
export interface CatalogueEntry {
  /** With the prices of today. */
  readonly info: ModelInfo;
  readonly provider: ModelProvider;
  /** The provider's name for the model. */
  readonly providerModel: string;
  /** Prices in micro-credits. Absent: the model is unavailable while credits are enforced. */
  readonly prices: Prices | undefined;
  /** True: called with the user's own key. */
  readonly ownKey?: true;
  /** The name of the user's own key; never the key. */
  readonly credential?: string;
}

/** Prices of calls with the user's own key. */
const NOTHING: ModelPrices = {
  input: 0,
  output: 0,
  image: 0,
  second: 0,
  thousandCharacters: 0,
  megabyte: 0,
};

/** The available models. */
export interface ModelCatalogue {
  /**
   * @returns undefined for a model that is unknown, hidden or disabled, or whose provider has no key.
   * @throws ApiError 422 `model_not_allowed` for a model that a list of the caller leaves out.
   */
  find(id: string): CatalogueEntry | undefined;
  /** Lists models in the order of the providers, added models last. Returns the same array until the list changes. */
  list(): readonly CatalogueEntry[];
  /** @returns the listing of a model that was offered and is retired by now; undefined for every other id. */
  findRetired(id: string): ModelInfo | undefined;
  /** Distinguishes a disabled model from an unknown one. */
  isDisabled(id: string): boolean;
  /** Whether the lists of the caller contain a model. `find` throws for a model that they leave out. */
  isAllowed(id: string): boolean;
  readonly creditsPerUsd: number;
}

/**
 * Creates a catalogue from providers and overrides. It is cached until a provider's `models()` returns another array,
 * or until the day on which a price changes or a model retires.
 * @throws RangeError if `creditsPerUsd` is not above 0 or two providers have the same id.
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
  let retired: ReadonlyMap<string, ModelInfo> = new Map();
  /** Milliseconds: when the next date takes effect. */
  let nextChange = Number.POSITIVE_INFINITY;
  const now = (): number => options.clock?.now() ?? Number.NEGATIVE_INFINITY;

  function current(): ReadonlyMap<string, CatalogueEntry> {
    let changed = nextChange !== Number.POSITIVE_INFINITY && now() >= nextChange;
    for (let index = 0; index < providers.length && !changed; index++) {
      changed = providers[index]?.models() !== sources[index];
    }
    if (changed) rebuild();
    return entries;
  }

  function rebuild(): void {
    sources = providers.map((provider) => provider.models());
    const next = new Map<string, CatalogueEntry>();
    const gone = new Map<string, ModelInfo>();
    const at = now();
    nextChange = Number.POSITIVE_INFINITY;
    const add = (listing: ModelInfo, provider: ModelProvider): void => {
      if (next.has(listing.id) || overrides.get(listing.id)?.disabled || options.hidden?.(listing)) return;
      if (isRetired(listing, at)) {
        gone.set(listing.id, listing);
        return;
      }
      nextChange = Math.min(nextChange, findNextChange(listing, at));
      const info = withCurrentPrices(listing, at);
      const credential = options.ownKeys?.get(provider.id);
      next.set(info.id, {
        info,
        provider,
        providerModel: info.providerModel ?? info.id,
        ...(credential !== undefined
          ? { prices: priceModel(info.type, NOTHING, creditsPerUsd), ownKey: true, credential }
          : { prices: priceModel(info.type, info.prices, creditsPerUsd, info.priceTiers) }),
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
    retired = gone;
    listed = [...next.values()];
  }

  return {
    find: (id) => current().get(id),
    list() {
      current();
      return listed;
    },
    findRetired: (id) => (current().has(id) ? undefined : retired.get(id)),
    isDisabled: (id) => overrides.get(id)?.disabled === true,
    isAllowed: () => true,
    creditsPerUsd,
  };
}

/** Applies an override to a provider's model. An override cannot change the provider. */
function altered(info: ModelInfo, override: ModelOverride | undefined): ModelInfo {
  if (override === undefined) return info;
  const { disabled: _, provider: __, prices, ...fields } = override;
  if (prices === undefined) return { ...info, ...fields };
  // Prices that the host names are not changed by dates of the vendor.
  const { priceChanges: ___, ...listing } = info;
  return { ...listing, ...fields, prices: repriced(info.prices, prices) };
}

/** An override of `second` replaces the prices by resolution. */
function repriced(own: ModelPrices = {}, named: ModelPrices): ModelPrices {
  const { secondByResolution, ...flat } = own;
  return named.second === undefined && secondByResolution !== undefined
    ? { ...flat, secondByResolution, ...named }
    : { ...flat, ...named };
}

/** Returns the added model, or undefined if the override changes a model that is not offered now. */
function addition(id: string, override: ModelOverride): ModelInfo | undefined {
  const { disabled: _, name, type, provider, contextWindow, maxOutputTokens, ...fields } = override;
  if (name === undefined || type === undefined || provider === undefined) return undefined;
  if (contextWindow === undefined || maxOutputTokens === undefined) return undefined;
  return { ...fields, id, name, type, provider, contextWindow, maxOutputTokens };
}
