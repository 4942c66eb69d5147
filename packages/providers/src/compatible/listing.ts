import type { ModelInfo } from '@questline/core/ports';
import { type CompatibleModel, type ModelDefaults, readModelList, toModelInfo } from './models.ts';

/** Options of the model list. */
export interface ModelListOptions {
  /** Maximum age of the list in milliseconds before a read reloads it. Default 60,000; 0: only `refreshModels` reloads. */
  readonly refreshMs?: number;
  /** Changes the entry of a listed model; undefined omits the model. */
  readonly describe?: (model: CompatibleModel) => CompatibleModel | undefined;
  /** Called with the error of a failed background refresh; the old list stays. */
  readonly onError?: (error: unknown) => void;
  /** Milliseconds. Default: the system's clock. */
  readonly now?: () => number;
}

export interface ModelListing {
  /** Returns the same array until the list changes. Refreshes an old list in the background. */
  current(): readonly ModelInfo[];
  /** Loads the list now. Rejects with the `ProviderError`; the old list stays. */
  refresh(): Promise<readonly ModelInfo[]>;
}

export interface ListingSource {
  readonly provider: string;
  /** Models of the host: they precede listed ones and replace those with the same id. */
  readonly named: readonly CompatibleModel[];
  readonly defaults: ModelDefaults;
  /** The parsed answer to `GET /models`. */
  fetch(): Promise<unknown>;
  /** The error for a response without a list. */
  fault(): Error;
}

const DEFAULT_REFRESH_MS = 60_000;

/** The models that a server lists. The first read starts the first load. */
export function createListing(source: ListingSource, options: ModelListOptions): ModelListing {
  const { refreshMs = DEFAULT_REFRESH_MS, now = Date.now, describe = (model) => model, onError } = options;
  const { provider, named, defaults } = source;
  const own = new Set(named.map(({ id }) => id));
  let models: readonly ModelInfo[] = named.map((model) => toModelInfo(model, provider, defaults));
  let text = JSON.stringify(models);
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<readonly ModelInfo[]> | undefined;

  async function ask(): Promise<readonly ModelInfo[]> {
    askedAt = now();
    const listed = readModelList(await source.fetch());
    if (listed === undefined) throw source.fault();
    const described = listed.filter(({ id }) => !own.has(id)).flatMap((model) => describe(model) ?? []);
    const next = [...named, ...described].map((model) => toModelInfo(model, provider, defaults));
    const nextText = JSON.stringify(next);
    if (nextText !== text) {
      models = next;
      text = nextText;
    }
    return models;
  }

  function refresh(): Promise<readonly ModelInfo[]> {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  }

  return {
    current() {
      if (refreshMs > 0 && now() - askedAt >= refreshMs)
        refresh().catch((error: unknown) => onError?.(error));
      return models;
    },
    refresh,
  };
}
