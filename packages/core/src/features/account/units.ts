import type { Usage } from '../../ports/ledger.ts';

const NAMES: Readonly<Record<keyof Usage, string>> = {
  input: 'input_tokens',
  output: 'output_tokens',
  cachedInput: 'cached_input_tokens',
  cacheWrite: 'cache_write_tokens',
  reasoning: 'reasoning_tokens',
  images: 'images',
  seconds: 'seconds',
  characters: 'characters',
  bytes: 'bytes',
};

/** The units of the API, in a fixed order. */
export const UNIT_NAMES: readonly string[] = Object.values(NAMES);

/** Usage by the names of the API. */
export function toUnits(usage: Usage): Record<string, number> {
  return Object.fromEntries(
    Object.entries(usage).map(([name, count]) => [NAMES[name as keyof Usage] ?? name, Number(count)]),
  );
}
