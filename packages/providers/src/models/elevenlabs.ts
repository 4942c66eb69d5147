import type { ModelInfo } from '@questline/core';
import { FORMATS } from '../elevenlabs/formats.ts';
import { speechModel } from './media-model.ts';

/** As of November 2026, https://elevenlabs.io/pricing/api: prices of the smallest plan that is paid by use. */
export const elevenLabsModels: readonly ModelInfo[] = [
  speechModel('eleven_multilingual_v2', 'Eleven Multilingual v2', 0.3, {
    formats: FORMATS,
    maxCharacters: 10_000,
    options: ['stability', 'similarityBoost'],
  }),
  speechModel('eleven_flash_v2_5', 'Eleven Flash v2.5', 0.15, {
    formats: FORMATS,
    maxCharacters: 10_000,
    options: ['stability', 'similarityBoost', 'languageCode'],
  }),
  {
    ...speechModel('eleven_text_to_sound_v2', 'Eleven Sound Effects v2', 0, {
      formats: FORMATS,
      maxCharacters: 1000,
      options: ['promptInfluence'],
      duration: { min: 0.5, max: 30 },
    }),
    type: 'sound-effect',
    prices: { second: 0.01 },
  },
  {
    ...speechModel('music_v1', 'Eleven Music', 0, {
      formats: FORMATS,
      maxCharacters: 2000,
      duration: { min: 3, max: 300 },
      instrumental: 'optional',
    }),
    type: 'music',
    prices: { second: 0.014 },
  },
];
