import type { ModelInfo } from '@questline/core/ports';
import { FORMATS } from '../elevenlabs/formats.ts';
import { speechModel } from './media-model.ts';

/*
 * Each kind of model: the cheapest first. https://elevenlabs.io/pricing/api, speech as of 2026-05-19: prices of paying by
 * use. Sound effects and music are not verified since; newer models of music exist, whose prices are not known.
 */
export const elevenLabsModels: readonly ModelInfo[] = [
  speechModel('eleven_flash_v2_5', 'Eleven Flash v2.5', 0.05, {
    formats: FORMATS,
    maxCharacters: 10_000,
    options: ['stability', 'similarityBoost', 'languageCode'],
  }),
  speechModel('eleven_multilingual_v2', 'Eleven Multilingual v2', 0.1, {
    formats: FORMATS,
    maxCharacters: 10_000,
    options: ['stability', 'similarityBoost'],
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
