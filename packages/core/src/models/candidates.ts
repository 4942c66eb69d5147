import { ApiError } from '../errors.ts';
import type { QuestProgress } from '../quests/records.ts';
import type { Answering, CallMoney } from './answering.ts';
import type { CatalogueEntry, ModelCatalogue } from './catalogue.ts';

/** The requested model, and those that may stand in for it. */
export type Candidates = readonly [CatalogueEntry, ...CatalogueEntry[]];

interface CandidateServices {
  readonly catalogue: ModelCatalogue;
  /** By model id: which models to ask when it fails, in order. */
  readonly fallbacks: Readonly<Record<string, readonly string[]>>;
}

const NONE: readonly CatalogueEntry[] = [];

/** The models that may answer in the place of another, as far as they can be used now. */
export function standInsFor(
  { catalogue, fallbacks }: CandidateServices,
  model: string,
): readonly CatalogueEntry[] {
  const ids = Object.hasOwn(fallbacks, model) ? fallbacks[model] : undefined;
  return ids === undefined ? NONE : usable(catalogue, ids);
}

/** @throws ApiError 422 `model_unavailable` when none of them can be used any more. */
export function candidatesFor(services: CandidateServices, model: string): Candidates {
  const [first, ...others] = [...usable(services.catalogue, [model]), ...standInsFor(services, model)];
  if (first === undefined) {
    throw new ApiError(422, `The model '${model}' can no longer be used.`, { code: 'model_unavailable' });
  }
  return [first, ...others];
}

function usable(catalogue: ModelCatalogue, ids: readonly string[]): readonly CatalogueEntry[] {
  return ids.flatMap((id) => {
    const entry = catalogue.find(id);
    return entry?.info.type === 'text' ? [entry] : [];
  });
}

/** What is told when another model than the requested one has answered. */
export function fallbackOf(
  catalogue: ModelCatalogue,
  model: string,
  { entry, firstFailure }: Pick<Answering<CallMoney>, 'entry' | 'firstFailure'>,
): Pick<QuestProgress, 'fallbackInfo'> {
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
