import type { ModelInfo, ReasoningEffort } from '@questline/core/ports';
import { textModel } from './text-model.ts';

/*
 * Read on 2026-11-22. The cheapest first. Cache writes: those kept for 5 minutes.
 *
 * - Windows, caps, prices: https://platform.claude.com/docs/en/models/haiku-5-5/overview and the pages of its sisters, as of
 *   2026-11. Fable 5.2: https://platform.claude.com/docs/en/about-claude/pricing.
 * - Long prompts of Haiku 5.5, and the cut of Sonnet 5.5's cache reads from 0.20 to 0.10 on 2026-10-07: the same page as of
 *   2026-10-24. Older copies of it still name 0.20.
 * - Efforts: https://platform.claude.com/docs/en/build-with-claude/effort, as of 2026-11. The vendor's `max` is not asked for.
 * - Minimum cached prompts of the 5.5 models, output speeds: not verified, so not listed.
 * - No retirement is announced for these (https://platform.claude.com/docs/en/about-claude/model-deprecations).
 */
const current: Partial<ModelInfo> = {
  checkedOn: '2026-11-22',
  inputModalities: ['text', 'image', 'document'],
  outputModalities: ['text'],
};

const efforts: readonly ReasoningEffort[] = ['low', 'medium', 'high', 'xhigh'];

export const anthropicModels: readonly ModelInfo[] = [
  textModel(
    'claude-haiku-5-5',
    'Claude Haiku 5.5',
    1_000_000,
    128_000,
    { input: 0.1, output: 0.5, cachedInput: 0.01, cacheWrite: 0.125 },
    'Fast and inexpensive, up to prompts of 100,000 tokens; longer ones cost five times as much.',
    {
      ...current,
      priceTiers: [
        {
          aboveInputTokens: 100_000,
          prices: { input: 0.5, output: 2.5, cachedInput: 0.05, cacheWrite: 0.625 },
        },
      ],
    },
  ),
  textModel(
    'claude-haiku-4-5',
    'Claude Haiku 4.5',
    200_000,
    64_000,
    { input: 1, output: 5, cachedInput: 0.1, cacheWrite: 1.25 },
    'Thinks only when asked to; takes a temperature.',
    { ...current, minCacheTokens: 4096 },
  ),
  textModel(
    'claude-sonnet-5-5',
    'Claude Sonnet 5.5',
    1_000_000,
    128_000,
    { input: 2, output: 10, cachedInput: 0.1, cacheWrite: 2.5 },
    'Speed and intelligence in balance.',
    current,
  ),
  textModel(
    'claude-opus-5-5',
    'Claude Opus 5.5',
    1_000_000,
    128_000,
    { input: 4, output: 20, cachedInput: 0.2, cacheWrite: 5 },
    'For long coding and knowledge work.',
    current,
  ),
  textModel(
    'claude-fable-5-2',
    'Claude Fable 5.2',
    1_000_000,
    128_000,
    { input: 8, output: 40, cachedInput: 0.2, cacheWrite: 10 },
    'The most capable one, for demanding reasoning and long runs of an agent.',
    { ...current, reasoningEfforts: efforts },
  ),
];
