import type { ModelOverride } from '@questline/core';
import type { ModelPrices, PriceTier, ReasoningEffort } from '@questline/core/ports';
import * as z from 'zod';
import {
  cleanName,
  modelId,
  parseList,
  price,
  type ReadList,
  type ReadListOptions,
  roundPrice,
  shortFault,
  tokens,
  toModalities,
} from './entry.ts';

const FORMAT = 'models.dev';
const PROVIDERS = { openai: 'openai', anthropic: 'anthropic', google: 'gemini', xai: 'xai' };
const EFFORTS: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];

const prices = z.object({
  input: price.optional(),
  output: price.optional(),
  reasoning: price.optional(),
  cache_read: price.optional(),
  cache_write: price.optional(),
});

const model = z.object({
  name: z.string().min(1),
  reasoning: z.boolean().optional(),
  tool_call: z.boolean().optional(),
  modalities: z.object({ input: z.array(z.string()), output: z.array(z.string()) }),
  reasoning_options: z
    .array(z.object({ type: z.string(), values: z.array(z.unknown()).optional() }))
    .optional(),
  limit: z.object({ context: tokens, output: z.number().int().min(0).max(1_000_000_000) }),
  cost: prices
    .extend({
      tiers: z.array(prices.extend({ tier: z.object({ size: tokens }) })).optional(),
      context_over_200k: prices.optional(),
    })
    .optional(),
});

type Listed = z.output<typeof model>;

/**
 * Reads the list of https://models.dev/api.json: chat models and embeddings, with windows, prices and their tiers, reasoning
 * efforts and modalities. Other kinds of models are priced by other units here and are left out.
 * @param json text, or what it was parsed to.
 * @throws Error when it is no list of this format.
 */
export function readModelsDev(json: unknown, { providers = PROVIDERS }: ReadListOptions = {}): ReadList {
  const list = parseList(json, FORMAT);
  const models = new Map<string, ModelOverride>();
  const skipped: { id: string; reason: string }[] = [];
  let found = false;
  for (const [vendor, provider] of Object.entries(providers)) {
    const entry = Object.hasOwn(list, vendor) ? list[vendor] : undefined;
    const listed = z.object({ models: z.record(z.string(), z.unknown()) }).safeParse(entry);
    if (!listed.success) continue;
    found = true;
    for (const [id, value] of Object.entries(listed.data.models)) {
      const known = modelId.safeParse(id);
      const read = model.safeParse(value);
      if (!known.success) skipped.push({ id: cleanName(id), reason: 'the id has other characters' });
      else if (!read.success) skipped.push({ id, reason: shortFault(read.error) });
      else {
        const override = toOverride(id, provider, read.data);
        if (override !== undefined) models.set(id, override);
      }
    }
  }
  if (!found) throw new Error(`${FORMAT}: none of ${Object.keys(providers).join(', ')} is in the list`);
  return { models: Object.fromEntries(models), skipped };
}

function toOverride(id: string, provider: string, listed: Listed): ModelOverride | undefined {
  const { name, modalities, limit, cost, reasoning, tool_call: tools } = listed;
  if (!modalities.output.includes('text') || modalities.output.length > 1) return undefined;
  const isEmbedding = /embed/.test(id);
  const inputModalities = toModalities(modalities.input);
  const tiers = cost === undefined ? [] : toTiers(cost);
  const efforts = toEfforts(listed);
  const known: ModelOverride = {
    name: cleanName(name),
    provider,
    contextWindow: limit.context,
    ...(cost !== undefined && { prices: toPrices(cost, isEmbedding) }),
  };
  if (isEmbedding) return { ...known, type: 'embedding', maxOutputTokens: 0 };
  return {
    ...known,
    type: 'text',
    maxOutputTokens: limit.output,
    supportsStreaming: true,
    supportsThinking: reasoning ?? false,
    supportsTools: tools ?? false,
    supportsVision: inputModalities.includes('image'),
    inputModalities,
    outputModalities: ['text'],
    ...(efforts.length > 0 && { reasoningEfforts: efforts }),
    ...(tiers.length > 0 && { priceTiers: tiers }),
  };
}

function toPrices(cost: z.output<typeof prices>, isEmbedding = false): ModelPrices {
  const { input, output, reasoning, cache_read: cachedInput, cache_write: cacheWrite } = cost;
  return {
    ...(input !== undefined && { input: roundPrice(input) }),
    ...(output !== undefined && !isEmbedding && { output: roundPrice(output) }),
    ...(reasoning !== undefined && { reasoning: roundPrice(reasoning) }),
    ...(cachedInput !== undefined && { cachedInput: roundPrice(cachedInput) }),
    ...(cacheWrite !== undefined && { cacheWrite: roundPrice(cacheWrite) }),
  };
}

/** A price that a tier omits is unchanged. */
function toTiers(cost: NonNullable<Listed['cost']>): PriceTier[] {
  const base = toPrices(cost);
  const tiers = (cost.tiers ?? []).map(({ tier, ...named }) => ({
    aboveInputTokens: tier.size,
    prices: { ...base, ...toPrices(named) },
  }));
  if (tiers.length === 0 && cost.context_over_200k !== undefined) {
    tiers.push({ aboveInputTokens: 200_000, prices: { ...base, ...toPrices(cost.context_over_200k) } });
  }
  return tiers.sort((a, b) => a.aboveInputTokens - b.aboveInputTokens);
}

function toEfforts({ reasoning_options: options = [] }: Listed): ReasoningEffort[] {
  const values = options.find(({ type }) => type === 'effort')?.values ?? [];
  return values.filter((value): value is ReasoningEffort => EFFORTS.includes(value as string));
}
