import type { ModelOverride } from '@questline/core';
import type { ModelInfo, ModelPrices } from '@questline/core/ports';

export interface ModelChange {
  readonly id: string;
  /** A field of the model, or a price: `prices.input`. */
  readonly field: string;
  readonly from: string;
  readonly to: string;
}

/** What a list may change of a model that is known here. */
const FIELDS = ['contextWindow', 'maxOutputTokens', 'priceTiers', 'deprecationDate'] as const;

/**
 * What of a list differs from the built-in catalogue. A price that changes on an announced day keeps doing so.
 * @param add also those that are not known here.
 */
export function selectChanges(
  listed: Readonly<Record<string, ModelOverride>>,
  builtIn: readonly ModelInfo[],
  add: boolean,
): Record<string, ModelOverride> {
  const known = new Map(builtIn.map((info) => [info.id, info]));
  const selected = new Map<string, ModelOverride>();
  for (const [id, override] of Object.entries(listed)) {
    const info = known.get(id);
    if (info === undefined) {
      if (add && isComplete(override)) selected.set(id, override);
      continue;
    }
    const change = getDiffer(info, override);
    if (Object.keys(change).length > 0) selected.set(id, change);
  }
  return Object.fromEntries(selected);
}

function isComplete({ name, type, provider, contextWindow, maxOutputTokens }: ModelOverride): boolean {
  return [name, type, provider, contextWindow, maxOutputTokens].every((value) => value !== undefined);
}

function getDiffer(info: ModelInfo, override: ModelOverride): ModelOverride {
  const fields = FIELDS.filter(
    (name) => override[name] !== undefined && !isSame(info[name], override[name]),
  ).map((name) => [name, override[name]]);
  const prices = Object.entries(override.prices ?? {}).filter(
    ([name, usd]) => info.prices?.[name as keyof ModelPrices] !== usd,
  );
  return {
    ...Object.fromEntries(fields),
    ...(prices.length > 0 && {
      prices: Object.fromEntries(prices),
      ...(info.priceChanges !== undefined && { priceChanges: info.priceChanges }),
    }),
  };
}

/** Every field that is another one afterwards. */
export function compareModels(
  before: readonly ModelInfo[],
  after: readonly ModelInfo[],
): readonly ModelChange[] {
  const old = new Map(before.map((info) => [info.id, flatten(info)]));
  const now = new Map(after.map((info) => [info.id, flatten(info)]));
  const gone = before.filter(({ id }) => !now.has(id));
  return [
    ...after.flatMap(({ id }) => {
      const was = old.get(id);
      if (was === undefined) return [{ id, field: 'model', from: 'none', to: 'added' }];
      return getChanges(id, was, now.get(id) ?? {});
    }),
    ...gone.map(({ id }) => ({ id, field: 'model', from: 'listed', to: 'retired or removed' })),
  ];
}

type Flat = Readonly<Record<string, unknown>>;

function getChanges(id: string, was: Flat, is: Flat): ModelChange[] {
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  return names
    .filter((field) => !isSame(was[field], is[field]))
    .map((field) => ({ id, field, from: formatValue(was[field]), to: formatValue(is[field]) }));
}

function flatten({ prices = {}, ...info }: ModelInfo): Flat {
  const named = Object.entries(prices).map(([name, usd]) => [`prices.${name}`, usd]);
  return { ...info, ...Object.fromEntries(named) };
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
}

/** Two lists may name the same prices in another order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, item]) => [name, sorted(item)] as const)
      .sort(([a], [b]) => a.localeCompare(b)),
  );
}

function formatValue(value: unknown): string {
  if (value === undefined) return 'none';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
