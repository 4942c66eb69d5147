import type { Usage } from '@questline/core/ports';

/** The columns of the usage sums, by unit. */
export const UNIT_COLUMNS: Readonly<Record<keyof Usage, string>> = {
  input: 'input',
  output: 'output',
  cachedInput: 'cached_input',
  cacheWrite: 'cache_write',
  reasoning: 'reasoning',
  images: 'images',
  seconds: 'seconds',
  characters: 'characters',
  bytes: 'bytes',
};

export const UNITS = Object.keys(UNIT_COLUMNS) as readonly (keyof Usage)[];

/** The SQL of one unit in the JSON column of a charge. */
export function toUnitText(isSqlite: boolean, usage: string, unit: keyof Usage): string {
  return isSqlite ? `json_extract(${usage}, '$.${unit}')` : `cast(${usage} ->> '${unit}' as numeric)`;
}
