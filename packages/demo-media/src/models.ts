import type { ModelInfo } from '@questline/core/ports';

const common = { provider: 'demo', contextWindow: 0, maxOutputTokens: 0 };

/** Invented prices, high enough that one call changes the balance visibly. */
export const demoMediaModels: readonly ModelInfo[] = [
  {
    ...common,
    id: 'demo-image',
    name: 'Demo image (offline)',
    type: 'image',
    description: 'No AI: a gradient whose colours the prompt decides.',
    image: {
      sizing: { kind: 'dimensions', min: 64, max: 2048 },
      supports: {
        transparent_background: false,
        seed: true,
        qualities: [],
        max_images: 10,
        max_reference_images: 15,
        edit: true,
        requires_input_image: false,
      },
    },
    prices: { image: 0.01 },
  },
  {
    ...common,
    id: 'demo-speech',
    name: 'Demo speech (offline)',
    type: 'text-to-speech',
    description: 'No AI: a beep for every word.',
    audio: { formats: ['mp3', 'wav', 'pcm'], maxCharacters: 4096 },
    prices: { thousandCharacters: 0.01 },
  },
  {
    ...common,
    id: 'demo-sound-effect',
    name: 'Demo sound effect (offline)',
    type: 'sound-effect',
    description: 'No AI: beeps.',
    audio: { formats: ['mp3', 'wav', 'pcm'], maxCharacters: 1000 },
    prices: { second: 0.001 },
  },
  {
    ...common,
    id: 'demo-music',
    name: 'Demo music (offline)',
    type: 'music',
    description: 'No AI: a tune of beeps.',
    audio: {
      formats: ['mp3', 'wav', 'pcm'],
      maxCharacters: 2000,
      duration: { min: 3, max: 30 },
      instrumental: 'always',
    },
    prices: { second: 0.001 },
  },
  {
    ...common,
    id: 'demo-video',
    name: 'Demo video (offline)',
    type: 'video',
    description: 'No AI: a small video of two colours that depend on the prompt, without audio.',
    video: {
      modes: ['text_to_video', 'image_to_video'],
      duration: { kind: 'range', min: 1, max: 10, step: 1 },
      aspectRatios: ['16:9', '9:16', '1:1', '4:3', '3:4'],
      resolutions: ['360p', '720p'],
      defaults: { durationSeconds: 4, aspectRatio: '16:9', resolution: '360p' },
      audio: 'none',
    },
    prices: { second: 0.002, secondByResolution: { '360p': 0.001 } },
  },
  {
    ...common,
    id: 'demo-transcription',
    name: 'Demo transcription (offline)',
    type: 'speech-to-text',
    description: 'No AI: reports the size of the recording in bytes.',
    prices: { megabyte: 0.01 },
  },
];
