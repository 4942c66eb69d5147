import type { ModelInfo, ReasoningEffort } from '@questline/core/ports';
import { imageModel, videoModel } from './media-model.ts';
import { embeddingModel, textModel } from './text-model.ts';

/*
 * Read on 2026-11-22. Each kind of model: the cheapest first.
 *
 * - Prices, introductory ones and their last days: https://ai.google.dev/gemini-api/docs/pricing, as of 2026-11. Carbon and
 *   Argon cost half until 2026-11-30, 3.8 Flash until 2026-12-31.
 * - Thinking levels, windows: the models' pages below https://ai.google.dev/gemini-api/docs/models, as of 2026-11-14.
 * - Smallest cached prompt: https://ai.google.dev/gemini-api/docs/caching.
 * - Retirement: https://ai.google.dev/gemini-api/docs/deprecations, as of 2026-09. It names gemini-2.5-flash-image with
 *   2026-10-02; a page of a later day was not seen.
 * - Image of 3.1 Flash Image: 1120 tokens at 60 USD per million, of one of 1024 x 1024.
 * - The video model's prices and the output speeds are not verified; speeds are not listed.
 */
const current: Partial<ModelInfo> = {
  checkedOn: '2026-11-22',
  inputModalities: ['text', 'image', 'document', 'audio', 'video'],
  outputModalities: ['text'],
  minCacheTokens: 4096,
};

const efforts: readonly ReasoningEffort[] = ['low', 'medium', 'high'];

/** Of Carbon and Argon alike. */
const introductory = { input: 2, output: 10, cachedInput: 0.1 };
const fromDecember = [{ from: '2026-12-01', prices: { input: 4, output: 20, cachedInput: 0.2 } }];

const imageAbilities = {
  sizing: {
    kind: 'aspect_ratio',
    ratios: ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'],
  },
  supports: {
    transparent_background: false,
    seed: true,
    qualities: [],
    max_images: 4,
    max_reference_images: 3,
    edit: true,
    requires_input_image: false,
  },
} as const;

export const geminiModels: readonly ModelInfo[] = [
  textModel(
    'gemini-3.5-flash-lite',
    'Gemini 3.5 Flash-Lite',
    1_048_576,
    65_536,
    { input: 0.3, output: 2.5, cachedInput: 0.03 },
    'Fast and inexpensive, for large volume.',
    { ...current, reasoningEfforts: ['minimal', 'low', 'medium', 'high'] },
  ),
  textModel(
    'gemini-3.8-flash',
    'Gemini 3.8 Flash',
    1_048_576,
    65_536,
    { input: 0.75, output: 3.75, cachedInput: 0.075 },
    'For agents, coding and everyday work.',
    {
      ...current,
      reasoningEfforts: efforts,
      priceChanges: [{ from: '2027-01-01', prices: { input: 1.5, output: 7.5, cachedInput: 0.15 } }],
    },
  ),
  textModel(
    'gemini-4-hydrogen',
    'Gemini 4 Hydrogen',
    1_048_576,
    65_536,
    { input: 1.5, output: 7.5, cachedInput: 0.075 },
    'Quick and strong at everyday coding and work of agents.',
    { ...current, reasoningEfforts: efforts },
  ),
  textModel(
    'gemini-4-argon',
    'Gemini 4 Argon',
    1_048_576,
    65_536,
    introductory,
    'For deep work on complex tasks.',
    { ...current, reasoningEfforts: efforts, priceChanges: fromDecember },
  ),
  textModel(
    'gemini-4-carbon',
    'Gemini 4 Carbon',
    1_048_576,
    65_536,
    introductory,
    'The most capable one, for hard coding, debugging and science.',
    { ...current, reasoningEfforts: efforts, priceChanges: fromDecember },
  ),
  embeddingModel('gemini-embedding-001', 'Gemini Embedding', {
    contextWindow: 2048,
    dimensions: 3072,
    input: 0.15,
  }),
  embeddingModel('gemini-embedding-2', 'Gemini Embedding 2', {
    contextWindow: 8192,
    dimensions: 3072,
    input: 0.2,
  }),
  {
    ...imageModel('gemini-3.1-flash-image', 'Gemini 3.1 Flash Image', { image: 0.0672 }, imageAbilities),
    checkedOn: '2026-11-22',
  },
  {
    ...imageModel('gemini-2.5-flash-image', 'Gemini 2.5 Flash Image', { image: 0.039 }, imageAbilities),
    checkedOn: '2026-11-22',
    deprecationDate: '2026-10-02',
    replacedBy: 'gemini-3.1-flash-image',
  },
  // Veo is no longer available with a key of this API.
  videoModel(
    'gemini-omni-1.2-flash',
    'Gemini Omni 1.2 Flash',
    { '360p': 0.023, '720p': 0.07, '1080p': 0.105, '4k': 0.21 },
    {
      modes: ['text_to_video', 'image_to_video'],
      // Documented: up to 15 without an input image; 10 work with and without.
      duration: { kind: 'range', min: 3, max: 10, step: 1 },
      aspectRatios: ['16:9', '9:16'],
      defaults: { durationSeconds: 5, aspectRatio: '16:9', resolution: '720p' },
      audio: 'always',
    },
  ),
];
