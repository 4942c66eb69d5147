import type { ModelOverride } from '@questline/core';
import * as z from 'zod';
import { isoDate, modelId, parseList, price, tokens } from './entry.ts';

const prices = z.strictObject({
  input: price.optional(),
  output: price.optional(),
  cachedInput: price.optional(),
  cacheWrite: price.optional(),
  reasoning: price.optional(),
});

const priceTiers = z.array(z.strictObject({ aboveInputTokens: tokens, prices }));

const effort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']);
const modality = z.enum(['text', 'image', 'document', 'audio', 'video']);
const flag = z.boolean().optional();

/** The format that the list readers write. */
const override = z.strictObject({
  name: z.string().min(1).max(200).optional(),
  type: z.enum(['text', 'embedding']).optional(),
  provider: z.string().optional(),
  contextWindow: tokens.optional(),
  maxOutputTokens: z.number().int().min(0).optional(),
  supportsStreaming: flag,
  supportsThinking: flag,
  supportsTools: flag,
  supportsVision: flag,
  reasoningEfforts: z.array(effort).optional(),
  inputModalities: z.array(modality).optional(),
  outputModalities: z.array(modality).optional(),
  minCacheTokens: tokens.optional(),
  deprecationDate: isoDate.optional(),
  checkedOn: isoDate.optional(),
  prices: prices.optional(),
  priceTiers: priceTiers.optional(),
  priceChanges: z
    .array(z.strictObject({ from: isoDate, prices, priceTiers: priceTiers.optional() }))
    .optional(),
});

const stored = z.looseObject({ models: z.record(modelId, override) });

/**
 * Reads models that were stored as JSON: `{models: {id: override}}`.
 * @throws Error that names the first issue.
 */
export function readStoredModels(json: unknown): Readonly<Record<string, ModelOverride>> {
  const read = stored.safeParse(parseList(json, 'stored models'));
  if (!read.success) throw new Error(z.prettifyError(read.error));
  return read.data.models as Readonly<Record<string, ModelOverride>>;
}
