import type { ModelInfo } from '../ports/models.ts';
import type { CatalogueEntry, ModelCatalogue } from './catalogue.ts';

/** Output tokens of one image, of a model that is priced by tokens and names no maximum. */
const TOKENS_PER_IMAGE = 8192;
/** A turn reads more than it writes. */
const INPUT_WEIGHT = 3;

/** Why there is no model, in words for callers. */
export const NO_CHAT_MODEL =
  'There is no chat model on this server: no model provider has a key. Its operator has to add one.';

/** Answers chats. */
export function isChatModel({ info }: CatalogueEntry): boolean {
  return info.type === 'text';
}

/** Makes images of a prompt alone. */
export function isImageMaker({ info, provider }: CatalogueEntry): boolean {
  return (
    info.type === 'image' &&
    provider.image !== undefined &&
    info.image?.supports.requires_input_image !== true
  );
}

/**
 * The model that answers where the caller and the administrator name none: the cheapest that offers tools, of the first
 * provider that has one; where no model offers tools, the cheapest chat model.
 * @param isMetered models without a price come last.
 */
export function findDefaultChatModel(
  catalogue: ModelCatalogue,
  isMetered: boolean,
): CatalogueEntry | undefined {
  const entries = preferPriced(catalogue.list().filter(isChatModel), isMetered);
  return (
    cheapestOfFirst(entries.filter(({ info }) => info.supportsTools === true)) ?? cheapestOfFirst(entries)
  );
}

/** The cheapest model that makes images, of the first provider that has one. */
export function findDefaultImageModel(
  catalogue: ModelCatalogue,
  isMetered: boolean,
): CatalogueEntry | undefined {
  return cheapestOfFirst(preferPriced(catalogue.list().filter(isImageMaker), isMetered));
}

/** For lists: providers and kinds in their order, and of each kind the cheapest capable model first. */
export function orderByPrice(entries: readonly CatalogueEntry[]): readonly CatalogueEntry[] {
  const groups = new Map<string, Map<string, CatalogueEntry[]>>();
  for (const entry of entries) {
    const kinds = groups.get(entry.provider.id) ?? new Map<string, CatalogueEntry[]>();
    groups.set(entry.provider.id, kinds);
    kinds.set(entry.info.type, [...(kinds.get(entry.info.type) ?? []), entry]);
  }
  const kinds = [...groups.values()].flatMap((byType) => [...byType.values()]);
  return kinds.flatMap((kind) =>
    kind.sort((a, b) => Number(isCapable(b)) - Number(isCapable(a)) || compareCosts(a, b)),
  );
}

/** Only compared within a kind: all models of kinds other than chat and images are alike. */
function isCapable(entry: CatalogueEntry): boolean {
  return entry.info.type === 'text' ? entry.info.supportsTools === true : isImageMaker(entry);
}

function preferPriced(entries: readonly CatalogueEntry[], isMetered: boolean): readonly CatalogueEntry[] {
  const priced = entries.filter(({ prices }) => prices !== undefined);
  return isMetered && priced.length > 0 ? priced : entries;
}

function cheapestOfFirst(entries: readonly CatalogueEntry[]): CatalogueEntry | undefined {
  const provider = entries[0]?.provider;
  return entries.filter((entry) => entry.provider === provider).sort(compareCosts)[0];
}

/** Models without a price come last, in their order: their difference is NaN, which sorting takes for 0. */
function compareCosts(a: CatalogueEntry, b: CatalogueEntry): number {
  return estimateCost(a.info) - estimateCost(b.info);
}

/** USD, to compare models of one kind with. */
function estimateCost({ type, prices, maxOutputTokens }: ModelInfo): number {
  if (prices === undefined) return Number.POSITIVE_INFINITY;
  const { input = 0, output = 0, image = 0, second = 0, thousandCharacters = 0, megabyte = 0 } = prices;
  if (type === 'image') return image + (output * (maxOutputTokens || TOKENS_PER_IMAGE)) / 1_000_000;
  return INPUT_WEIGHT * input + output + second + thousandCharacters + megabyte;
}
