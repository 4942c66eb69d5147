import type { ModelInfo } from '@questline/core';
import { textModel } from './text-model.ts';

/*
 * As of November 2026, https://docs.x.ai/developers/pricing. The vendor's windows are larger (500,000 and 1,000,000),
 * but a prompt of 200,000 tokens or more costs twice as much: the window here is where these prices hold.
 */
const pricedWindow = 199_999;

export const xaiModels: readonly ModelInfo[] = [
  textModel(
    'grok-4.7',
    'Grok 4.7',
    pricedWindow,
    128_000,
    { input: 2, output: 6, cachedInput: 0.5 },
    'For coding, agents and knowledge work.',
  ),
  textModel(
    'grok-4.3',
    'Grok 4.3',
    pricedWindow,
    128_000,
    { input: 1.25, output: 2.5 },
    'For everyday conversation and moderate reasoning.',
  ),
];
