import type { ModelInfo } from '@questline/core/ports';
import { videoModel } from './media-model.ts';
import { textModel } from './text-model.ts';

/*
 * Read on 2026-11-22. Each kind of model: the cheapest first.
 *
 * - Grok 4.7: https://docs.x.ai/developers/grok-4-7, as of 2026-09-29. No cap of the output is published: the one here is the
 *   vendor's default.
 * - Grok 4.3: https://docs.x.ai/developers/models/grok-4.3, as of 2026-11: the prices of grok-4.20, cached input 0.20. Its
 *   speed is measured by a reseller (159 tokens a second).
 * - Prompts of 200,000 tokens or more cost twice as much, all of their tokens.
 * - Video prices are not verified. Images, speech and transcription of the vendor are not listed: the provider cannot make
 *   those calls yet.
 */
const current: Partial<ModelInfo> = {
  checkedOn: '2026-11-22',
  inputModalities: ['text', 'image'],
  outputModalities: ['text'],
};

/** The higher prices begin at 200,000 tokens. */
const LONG_PROMPT = 199_999;

const videoOptions = {
  modes: ['text_to_video', 'image_to_video'],
  duration: { kind: 'range', min: 1, max: 15, step: 1 },
  aspectRatios: ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3'],
  defaults: { durationSeconds: 8, aspectRatio: '16:9', resolution: '480p' },
  audio: 'always',
} as const;

export const xaiModels: readonly ModelInfo[] = [
  textModel(
    'grok-4.3',
    'Grok 4.3',
    1_000_000,
    128_000,
    { input: 1.25, output: 2.5, cachedInput: 0.2 },
    'For everyday conversation and moderate reasoning.',
    {
      ...current,
      priceTiers: [{ aboveInputTokens: LONG_PROMPT, prices: { input: 2.5, output: 5, cachedInput: 0.4 } }],
      reasoningEfforts: ['none', 'low', 'medium', 'high'],
      outputTokensPerSecond: 160,
    },
  ),
  textModel(
    'grok-4.7',
    'Grok 4.7',
    500_000,
    128_000,
    { input: 2, output: 6, cachedInput: 0.5 },
    'For coding, agents and knowledge work.',
    {
      ...current,
      priceTiers: [{ aboveInputTokens: LONG_PROMPT, prices: { input: 4, output: 12, cachedInput: 1 } }],
      reasoningEfforts: ['low', 'medium', 'high', 'xhigh'],
    },
  ),
  videoModel('grok-imagine-video', 'Grok Imagine Video', { '480p': 0.05, '720p': 0.07 }, videoOptions),
  videoModel(
    'grok-imagine-video-1.5',
    'Grok Imagine Video 1.5',
    // The vendor charges one cent more with an input image.
    { '480p': 0.08, '720p': 0.14, '1080p': 0.25 },
    videoOptions,
  ),
];
