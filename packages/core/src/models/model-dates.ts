import type { ModelInfo } from '../ports/models.ts';

/** Milliseconds of 00:00 UTC. @returns undefined for what is no ISO date: such a date has no effect. */
export function parseDay(day: string | undefined): number | undefined {
  if (day === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(day)) return undefined;
  const at = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(at) ? undefined : at;
}

export function isRetired({ deprecationDate }: Pick<ModelInfo, 'deprecationDate'>, at: number): boolean {
  const end = parseDay(deprecationDate);
  return end !== undefined && at >= end;
}

/** A model with the prices that hold at a moment, and only the changes that are still to come. */
export function withCurrentPrices(info: ModelInfo, at: number): ModelInfo {
  const { priceChanges = [] } = info;
  const begun = priceChanges.filter(({ from }) => getStart(from) <= at);
  const last = begun.sort((a, b) => getStart(a.from) - getStart(b.from)).at(-1);
  if (last === undefined) return info;
  const { prices: _, priceTiers: __, priceChanges: ___, ...rest } = info;
  const coming = priceChanges.filter(({ from }) => getStart(from) > at);
  return {
    ...rest,
    prices: last.prices,
    ...(last.priceTiers !== undefined && { priceTiers: last.priceTiers }),
    ...(coming.length > 0 && { priceChanges: coming }),
  };
}

/** Milliseconds: when one of its dates takes effect next. Infinite: never. */
export function findNextChange({ deprecationDate, priceChanges = [] }: ModelInfo, at: number): number {
  const dates = [deprecationDate, ...priceChanges.map(({ from }) => from)];
  return Math.min(Number.POSITIVE_INFINITY, ...dates.map(getStart).filter((start) => start > at));
}

function getStart(day: string | undefined): number {
  return parseDay(day) ?? Number.POSITIVE_INFINITY;
}
