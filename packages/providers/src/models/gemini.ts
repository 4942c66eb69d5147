import type { ModelInfo } from '@questline/core';
import { imageModel, videoModel } from './media-model.ts';
import { embeddingModel, textModel } from './text-model.ts';

/*
 * As of November 2026, https://ai.google.dev/gemini-api/docs/pricing. Standard prices: Argon costs half until the end of
 * November 2026, 3.8 Flash until the end of the year.
 */
export const geminiModels: readonly ModelInfo[] = [
  textModel(
    'gemini-4-argon',
    'Gemini 4 Argon',
    1_048_576,
    65_536,
    { input: 4, output: 20, cachedInput: 0.2 },
    'The most capable one, for deep work on complex tasks.',
  ),
  textModel(
    'gemini-3.8-flash',
    'Gemini 3.8 Flash',
    1_048_576,
    65_536,
    { input: 1.5, output: 7.5, cachedInput: 0.15 },
    'For agents, coding and everyday work.',
  ),
  textModel(
    'gemini-3.5-flash-lite',
    'Gemini 3.5 Flash-Lite',
    1_048_576,
    65_536,
    { input: 0.3, output: 2.5, cachedInput: 0.03 },
    'Fast and inexpensive, for large volume.',
  ),
  embeddingModel('gemini-embedding-001', 'Gemini Embedding', {
    contextWindow: 2048,
    dimensions: 3072,
    input: 0.15,
  }),
  imageModel('gemini-2.5-flash-image', 'Gemini 2.5 Flash Image', 0.039, {
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
  }),
  // The vendor's Veo is no longer to be had with a key of this API.
  videoModel(
    'gemini-omni-1.2-flash',
    'Gemini Omni 1.2 Flash',
    { '360p': 0.023, '720p': 0.07, '1080p': 0.105, '4k': 0.21 },
    {
      modes: ['text_to_video', 'image_to_video'],
      // Up to 15 are told of where no picture is given; 10 hold for both.
      duration: { kind: 'range', min: 3, max: 10, step: 1 },
      aspectRatios: ['16:9', '9:16'],
      defaults: { durationSeconds: 5, aspectRatio: '16:9', resolution: '720p' },
      audio: 'always',
    },
  ),
];
