import type { ModelInfo } from '@questline/core';
import { textModel } from './text-model.ts';

/* As of November 2026, https://platform.claude.com/docs/en/about-claude/pricing. Cache writes: those kept for 5 minutes. */
export const anthropicModels: readonly ModelInfo[] = [
  textModel(
    'claude-fable-5-2',
    'Claude Fable 5.2',
    1_000_000,
    128_000,
    { input: 8, output: 40, cachedInput: 0.2, cacheWrite: 10 },
    'The most capable one, for demanding reasoning and long runs of an agent.',
  ),
  textModel(
    'claude-opus-5-5',
    'Claude Opus 5.5',
    1_000_000,
    128_000,
    { input: 4, output: 20, cachedInput: 0.2, cacheWrite: 5 },
    'For long coding and knowledge work.',
  ),
  textModel(
    'claude-sonnet-5-5',
    'Claude Sonnet 5.5',
    1_000_000,
    128_000,
    { input: 2, output: 10, cachedInput: 0.1, cacheWrite: 2.5 },
    'Speed and intelligence in balance.',
  ),
  textModel(
    'claude-haiku-5-5',
    'Claude Haiku 5.5',
    // The vendor's window is 1,000,000, but a prompt above this costs five times as much.
    100_000,
    64_000,
    { input: 0.1, output: 0.5, cachedInput: 0.01, cacheWrite: 0.125 },
    'Fast and inexpensive.',
  ),
  textModel(
    'claude-haiku-4-5',
    'Claude Haiku 4.5',
    200_000,
    64_000,
    { input: 1, output: 5, cachedInput: 0.1, cacheWrite: 1.25 },
    'Thinks only when asked to; takes a temperature.',
  ),
];
