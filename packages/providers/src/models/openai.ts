import type { ModelInfo } from '@questline/core';
import { imageModel, speechModel, transcriptionModel } from './media-model.ts';
import { embeddingModel, textModel } from './text-model.ts';

/*
 * As of November 2026, https://developers.openai.com/api/docs/pricing. The vendor's windows are larger (1,050,000), but
 * a prompt above 272,000 tokens costs twice as much: the window here is where these prices hold.
 */
const pricedWindow = 272_000;

export const openAIModels: readonly ModelInfo[] = [
  textModel(
    'gpt-6.2-astra',
    'GPT-6.2 Astra',
    pricedWindow,
    128_000,
    { input: 8, output: 40, cachedInput: 0.4, cacheWrite: 10 },
    'The most capable one, for the hardest reasoning, research and coding.',
  ),
  textModel(
    'gpt-6.2-sol',
    'GPT-6.2 Sol',
    pricedWindow,
    128_000,
    { input: 2, output: 10, cachedInput: 0.1, cacheWrite: 2.5 },
    'For everyday work: close to Astra at a fraction of its price.',
  ),
  textModel(
    'gpt-6.1-terra',
    'GPT-6.1 Terra',
    pricedWindow,
    128_000,
    { input: 1, output: 5, cachedInput: 0.05, cacheWrite: 1.25 },
    'Fast and efficient, strong at images and clear writing.',
  ),
  textModel(
    'gpt-6-luna',
    'GPT-6 Luna',
    pricedWindow,
    128_000,
    { input: 0.1, output: 0.5, cachedInput: 0.01, cacheWrite: 0.125 },
    'For well-defined work in large volume.',
  ),
  textModel(
    'gpt-4.1',
    'GPT-4.1',
    1_047_576,
    32_768,
    { input: 2, output: 8, cachedInput: 0.5 },
    'Answers without reasoning first; takes a temperature.',
    { supportsThinking: false },
  ),
  textModel(
    'gpt-4o-mini',
    'GPT-4o mini',
    128_000,
    16_384,
    { input: 0.15, output: 0.6, cachedInput: 0.075 },
    'Small and quick, without reasoning; takes a temperature.',
    { supportsThinking: false },
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
  imageModel('gpt-image-1', 'GPT Image 1', 0.167, {
    sizing: { kind: 'presets', sizes: ['1024x1024', '1536x1024', '1024x1536', 'auto'] },
    supports: {
      transparent_background: true,
      seed: false,
      qualities: ['low', 'medium', 'high', 'auto'],
      max_images: 10,
      max_reference_images: 15,
      edit: true,
      requires_input_image: false,
    },
  }),
  speechModel('gpt-4o-mini-tts', 'GPT-4o mini TTS', 0.018, {
    formats: ['mp3', 'wav', 'opus', 'aac', 'flac', 'pcm'],
    maxCharacters: 4096,
  }),
  speechModel('tts-1-hd', 'TTS 1 HD', 0.03, {
    formats: ['mp3', 'wav', 'opus', 'aac', 'flac', 'pcm'],
    maxCharacters: 4096,
  }),
  // 0.006 USD a minute; a megabyte of speech is rarely more than two.
  transcriptionModel('gpt-4o-transcribe', 'GPT-4o Transcribe', 0.012),
  transcriptionModel('whisper-1', 'Whisper', 0.012),
];
