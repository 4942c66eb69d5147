import type { ModelOverride } from '@questline/core';
import type { ModelPrices, PriceTier } from '@questline/core/ports';
import * as z from 'zod';
import {
  cleanName,
  isoDate,
  modelId,
  parseList,
  price,
  type ReadList,
  type ReadListOptions,
  roundPrice,
  shortFault,
  tokens,
} from './entry.ts';

const FORMAT = 'LiteLLM';
const PROVIDERS = { openai: 'openai', anthropic: 'anthropic', gemini: 'gemini', xai: 'xai' };
const MILLION = 1_000_000;

/** The list's prices are for one token. */
const perToken = z
  .number()
  .min(0)
  .transform((usd) => roundPrice(usd * MILLION))
  .pipe(price);

const flag = z.boolean().optional();

const model = z.looseObject({
  mode: z.string(),
  max_input_tokens: tokens.optional(),
  max_output_tokens: tokens.optional(),
  deprecation_date: isoDate.optional(),
  input_cost_per_token: perToken.optional(),
  output_cost_per_token: perToken.optional(),
  output_cost_per_reasoning_token: perToken.optional(),
  cache_read_input_token_cost: perToken.optional(),
  cache_creation_input_token_cost: perToken.optional(),
  supports_function_calling: flag,
  supports_reasoning: flag,
  supports_vision: flag,
  prompt_cache_min_tokens: tokens.optional(),
});

type Listed = z.output<typeof model>;

/** `input_cost_per_token_above_272k_tokens` */
const ABOVE = /^(.{1,64})_above_(\d{1,6})k_tokens$/;

const PRICES: Readonly<Record<string, keyof ModelPrices>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cachedInput',
  cache_creation_input_token_cost: 'cacheWrite',
};

/**
 * Reads LiteLLM's `model_prices_and_context_window.json`: chat models and embeddings, with windows, prices and their tiers,
 * and the days on which models retire, also of other kinds, whose prices are left out: they have other units here.
 * @param json text, or what it was parsed to.
 * @throws Error when it is no list of this format.
 */
export function readLiteLLM(json: unknown, { providers = PROVIDERS }: ReadListOptions = {}): ReadList {
  const list = parseList(json, FORMAT);
  const models = new Map<string, ModelOverride>();
  const skipped: { id: string; reason: string }[] = [];
  let found = false;
  for (const [key, value] of Object.entries(list)) {
    const named = z.object({ litellm_provider: z.string() }).safeParse(value);
    const vendor = named.success ? named.data.litellm_provider : '';
    if (!Object.hasOwn(providers, vendor)) continue;
    found = true;
    const id = key.startsWith(`${vendor}/`) ? key.slice(vendor.length + 1) : key;
    const read = model.safeParse(value);
    if (!modelId.safeParse(id).success)
      skipped.push({ id: cleanName(id), reason: 'the id has other characters' });
    else if (!read.success) skipped.push({ id, reason: shortFault(read.error) });
    else {
      const override = toOverride(id, providers[vendor] ?? vendor, read.data);
      if (override !== undefined) models.set(id, override);
    }
  }
  if (!found) throw new Error(`${FORMAT}: none of ${Object.keys(providers).join(', ')} is in the list`);
  return { models: Object.fromEntries(models), skipped };
}

function toOverride(id: string, provider: string, listed: Listed): ModelOverride | undefined {
  const { mode, deprecation_date: deprecationDate } = listed;
  const dated = deprecationDate === undefined ? {} : { deprecationDate };
  const isText = mode === 'chat' || mode === 'responses';
  if (!isText && mode !== 'embedding') return deprecationDate === undefined ? undefined : dated;
  const { max_input_tokens: contextWindow, max_output_tokens: maxOutputTokens } = listed;
  const prices = toPrices(listed);
  const tiers = toTiers(listed, prices);
  const known: ModelOverride = {
    name: id,
    provider,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(Object.keys(prices).length > 0 && { prices }),
    ...dated,
  };
  if (!isText) return { ...known, type: 'embedding', maxOutputTokens: 0 };
  return {
    ...known,
    type: 'text',
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    supportsStreaming: true,
    supportsThinking: listed.supports_reasoning ?? false,
    supportsTools: listed.supports_function_calling ?? false,
    supportsVision: listed.supports_vision ?? false,
    ...(listed.prompt_cache_min_tokens !== undefined && { minCacheTokens: listed.prompt_cache_min_tokens }),
    ...(tiers.length > 0 && { priceTiers: tiers }),
  };
}

function toPrices(listed: Listed): ModelPrices {
  const prices: Partial<Record<keyof ModelPrices, number>> = {};
  for (const [field, name] of Object.entries(PRICES)) {
    const usd = listed[field];
    if (typeof usd === 'number') prices[name] = usd;
  }
  if (listed.mode === 'embedding') delete prices.output;
  const reasoning = listed.output_cost_per_reasoning_token;
  return { ...(prices as ModelPrices), ...(reasoning !== undefined && { reasoning }) };
}

/** A price that a tier omits is unchanged. */
function toTiers(listed: Listed, base: ModelPrices): PriceTier[] {
  const tiers = new Map<number, Partial<Record<keyof ModelPrices, number>>>();
  for (const [field, value] of Object.entries(listed)) {
    const [, name = '', thousands = ''] = ABOVE.exec(field) ?? [];
    const kind = Object.hasOwn(PRICES, name) ? PRICES[name] : undefined;
    const usd = perToken.safeParse(value);
    if (kind === undefined || !usd.success) continue;
    const above = Number(thousands) * 1000;
    tiers.set(above, { ...tiers.get(above), [kind]: usd.data });
  }
  return [...tiers]
    .sort(([a], [b]) => a - b)
    .map(([aboveInputTokens, prices]) => ({
      aboveInputTokens,
      prices: { ...base, ...prices } as ModelPrices,
    }));
}
