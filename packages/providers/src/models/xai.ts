import type { ModelInfo } from '@questline/core';
import { videoModel } from './media-model.ts';
import { textModel } from './text-model.ts';

/*
 * As of November 2026, https://docs.x.ai/developers/pricing. The vendor's windows are larger (500,000 and 1,000,000),
 * but a prompt of 200,000 tokens or more costs twice as much: the window here is where these prices hold.
 */
const pricedWindow = 199_999;

const films = {
  modes: ['text_to_video', 'image_to_video'],
  duration: { kind: 'range', min: 1, max: 15, step: 1 },
  aspectRatios: ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3'],
  defaults: { durationSeconds: 8, aspectRatio: '16:9', resolution: '480p' },
  audio: 'always',
} as const;

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
  videoModel(
    'grok-imagine-video-1.5',
    'Grok Imagine Video 1.5',
    // The vendor takes a cent more for a picture to begin with.
    { '480p': 0.08, '720p': 0.14, '1080p': 0.25 },
    films,
  ),
  videoModel('grok-imagine-video', 'Grok Imagine Video', { '480p': 0.05, '720p': 0.07 }, films),
];
