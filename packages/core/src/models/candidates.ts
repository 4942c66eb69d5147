import { ApiError } from '../shared/errors.ts';
import type { Answering, CallMoney } from './answering.ts';
import type { CatalogueEntry, ModelCatalogue } from './catalogue.ts';
import { refuseRetired } from './retired.ts';

/** The requested model and its fallbacks. */
export type Candidates = readonly [CatalogueEntry, ...CatalogueEntry[]];

/** A fallback model answered. */
export interface FallbackInfo {
  readonly primaryModel: string;
  readonly primaryModelName: string;
  readonly fallbackModel: string;
  readonly fallbackModelName: string;
  /** The failure of the requested model, in a message for clients. */
  readonly reason: string;
}

interface CandidateServices {
  readonly catalogue: ModelCatalogue;
  /** Fallback models by model id, in order. */
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
}

const NONE: readonly CatalogueEntry[] = [];

/** Returns the fallback models that are available now. */
export function fallbackModels(
  { catalogue, fallbacks }: CandidateServices,
  model: string,
): readonly CatalogueEntry[] {
  const ids = Object.hasOwn(fallbacks, model) ? fallbacks[model] : undefined;
  return ids === undefined ? NONE : usable(catalogue, ids.filter(catalogue.isAllowed));
}

/** @throws ApiError 422 `model_unavailable` if none of them is available. */
export function candidatesFor(services: CandidateServices, model: string): Candidates {
  const [first, ...others] = [...usable(services.catalogue, [model]), ...fallbackModels(services, model)];
  if (first === undefined) {
    refuseRetired(services.catalogue, model);
    throw new ApiError(422, `The model '${model}' is no longer available.`, { code: 'model_unavailable' });
  }
  return [first, ...others];
}

function usable(catalogue: ModelCatalogue, ids: readonly string[]): readonly CatalogueEntry[] {
  return ids.flatMap((id) => {
    const entry = catalogue.find(id);
    return entry?.info.type === 'text' ? [entry] : [];
  });
}

/** Describes the fallback for the client. */
export function toFallback(
  catalogue: ModelCatalogue,
  model: string,
  { entry, firstFailure }: Pick<Answering<CallMoney>, 'entry' | 'firstFailure'>,
): { readonly fallbackInfo?: FallbackInfo } {
  if (entry.info.id === model) return {};
  return {
    fallbackInfo: {
      primaryModel: model,
      primaryModelName: catalogue.find(model)?.info.name ?? model,
      fallbackModel: entry.info.id,
      fallbackModelName: entry.info.name,
      reason: firstFailure?.message ?? 'The model can no longer be used.',
    },
  };
}
