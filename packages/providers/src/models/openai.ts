import type { ModelInfo, ModelPrices, PriceTier } from '@questline/core/ports';
import { imageModel, speechModel, transcriptionModel } from './media-model.ts';
import { embeddingModel, textModel } from './text-model.ts';

/*
 * Read on 2026-11-22. Each kind of model: the cheapest first.
 *
 * - Prices, windows, tiers: https://developers.openai.com/api/docs/models/gpt-6.2-sol and the pages of its sisters, as of
 *   2026-11-18. Cached input of gpt-6.2-astra: https://developers.openai.com/api/docs/pricing.
 * - Dates of retirement and successors: https://developers.openai.com/api/docs/deprecations, as of 2026-11-17.
 * - Images: prices by token of https://developers.openai.com/api/docs/pricing, as of 2026-11-05.
 * - Speed of gpt-6-luna: the median of artificialanalysis.ai, November 2026, rounded up. The others are not published.
 * - Smallest cached prompt: https://developers.openai.com/api/docs/guides/prompt-caching.
 */
const checked: Partial<ModelInfo> = { checkedOn: '2026-11-22' };

const current: Partial<ModelInfo> = {
  ...checked,
  inputModalities: ['text', 'image', 'document'],
  outputModalities: ['text'],
  minCacheTokens: 1024,
};

/** Above 272,000 input tokens: input and cache cost twice as much, output one and a half times. */
function longPrompts({ input = 0, cachedInput = 0, cacheWrite = 0, output = 0 }: ModelPrices): PriceTier[] {
  const prices = {
    input: input * 2,
    cachedInput: cachedInput * 2,
    cacheWrite: cacheWrite * 2,
    output: output * 1.5,
  };
  return [{ aboveInputTokens: 272_000, prices }];
}

const luna = { input: 0.1, output: 0.5, cachedInput: 0.01, cacheWrite: 0.125 };
const terra = { input: 1, output: 5, cachedInput: 0.05, cacheWrite: 1.25 };
const sol = { input: 2, output: 10, cachedInput: 0.1, cacheWrite: 2.5 };
const astra = { input: 8, output: 40, cachedInput: 0.4, cacheWrite: 10 };

const imageAbilities = {
  sizing: { kind: 'presets', sizes: ['1024x1024', '1536x1024', '1024x1536', 'auto'] },
  supports: {
    transparent_background: true,
    seed: false,
    // We do not request the vendor's `xhigh` and `max`: `max` costs four times as much as `high`.
    qualities: ['low', 'medium', 'high', 'auto'],
    max_images: 10,
    max_reference_images: 15,
    edit: true,
    requires_input_image: false,
  },
} as const;

/** USD per million tokens. Text input costs 5, image input 8; the higher price counts for both. */
const imageTokens = { input: 8, output: 30 };

const voices = { formats: ['mp3', 'wav', 'opus', 'aac', 'flac', 'pcm'], maxCharacters: 4096 } as const;

export const openAIModels: readonly ModelInfo[] = [
  textModel('gpt-6-luna', 'GPT-6 Luna', 1_050_000, 128_000, luna, 'For well-defined work in large volume.', {
    ...current,
    priceTiers: longPrompts(luna),
    reasoningEfforts: ['none', 'low', 'medium', 'high', 'xhigh'],
    outputTokensPerSecond: 140,
  }),
  textModel(
    'gpt-6.1-terra',
    'GPT-6.1 Terra',
    1_050_000,
    128_000,
    terra,
    'Fast and efficient, strong at images and clear writing.',
    {
      ...current,
      priceTiers: longPrompts(terra),
      reasoningEfforts: ['none', 'low', 'medium', 'high', 'xhigh'],
    },
  ),
  textModel(
    'gpt-6.2-sol',
    'GPT-6.2 Sol',
    1_050_000,
    128_000,
    sol,
    'For everyday work: close to Astra at a fraction of its price.',
    { ...current, priceTiers: longPrompts(sol), reasoningEfforts: ['low', 'medium', 'high', 'xhigh'] },
  ),
  textModel(
    'gpt-6.2-astra',
    'GPT-6.2 Astra',
    1_050_000,
    128_000,
    astra,
    'The most capable one, for the hardest reasoning, research and coding.',
    { ...current, priceTiers: longPrompts(astra), reasoningEfforts: ['low', 'medium', 'high', 'xhigh'] },
  ),
  textModel(
    'gpt-4o-mini',
    'GPT-4o mini',
    128_000,
    16_384,
    { input: 0.15, output: 0.6, cachedInput: 0.075 },
    'Small and quick, without reasoning; takes a temperature.',
    { ...current, supportsThinking: false, deprecationDate: '2027-01-14', replacedBy: 'gpt-6-luna' },
  ),
  textModel(
    'gpt-4.1',
    'GPT-4.1',
    1_047_576,
    32_768,
    { input: 2, output: 8, cachedInput: 0.5 },
    'Answers without reasoning first; takes a temperature.',
    { ...current, supportsThinking: false, deprecationDate: '2027-01-14', replacedBy: 'gpt-6-luna' },
  ),
  embeddingModel('text-embedding-3-small', 'Text Embedding 3 small', {
    contextWindow: 8191,
    dimensions: 1536,
    input: 0.02,
  }),
  embeddingModel('text-embedding-3-large', 'Text Embedding 3 large', {
    contextWindow: 8191,
    dimensions: 3072,
    input: 0.13,
  }),
  {
    ...imageModel('gpt-image-2.6-flare', 'GPT Image 2.6 Flare', imageTokens, imageAbilities),
    ...checked,
    description: 'Fast. 1024 x 1024 costs about 0.6, 1.3 and 5.3 cents of low, medium and high quality.',
  },
  {
    ...imageModel('gpt-image-2.6-sunburst', 'GPT Image 2.6 Sunburst', imageTokens, imageAbilities),
    ...checked,
    description: 'Slower, with finer detail and steadier edits.',
  },
  {
    ...imageModel('gpt-image-1', 'GPT Image 1', { image: 0.167 }, imageAbilities),
    ...checked,
    deprecationDate: '2026-10-23',
    replacedBy: 'gpt-image-2.6-flare',
  },
  // Neither has a successor that this API serves: the vendor names one of its realtime API.
  {
    ...speechModel('gpt-4o-mini-tts', 'GPT-4o mini TTS', 0.018, voices),
    ...checked,
    deprecationDate: '2027-01-06',
  },
  { ...speechModel('tts-1-hd', 'TTS 1 HD', 0.03, voices), ...checked, deprecationDate: '2027-01-06' },
  { ...transcriptionModel('gpt-transcribe', 'GPT Transcribe', 0.0045), ...checked },
  {
    ...transcriptionModel('gpt-4o-transcribe', 'GPT-4o Transcribe', 0.006),
    ...checked,
    deprecationDate: '2027-02-26',
    replacedBy: 'gpt-transcribe',
  },
  {
    ...transcriptionModel('whisper-1', 'Whisper', 0.006),
    ...checked,
    deprecationDate: '2027-02-26',
    replacedBy: 'gpt-transcribe',
  },
];
