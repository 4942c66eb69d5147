import * as z from 'zod';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';

const format = z.enum(['mp3', 'wav', 'opus', 'aac', 'flac', 'pcm']).default('mp3');
const share = z.number().min(0).max(1).optional();

const delivery = {
  provider: z
    .string()
    .optional()
    .meta({ description: 'One that is configured. Default: the first that fits.' }),
  encoding: z.enum(['binary', 'base64']).default('binary'),
  preview: z.boolean().default(false).meta({ description: 'The sound is not kept as a file.' }),
};

const speech = z.object({
  text: text({ min: 1 }),
  model: z.string().optional(),
  voice: z.string().min(1).max(200).optional().meta({ description: 'As its provider calls it.' }),
  format,
  stability: share,
  similarityBoost: share,
  languageCode: z
    .string()
    .regex(/^[A-Za-z]{2}$/, 'expected two letters')
    .transform((code) => code.toLowerCase())
    .optional(),
  ...delivery,
});

const music = z.object({
  prompt: text({ min: 1, max: 2000 }),
  lengthMs: z.number().int().min(3000).max(120_000).default(10_000),
  forceInstrumental: z.boolean().optional(),
  modelId: z.string().optional(),
  format,
  ...delivery,
});

const soundEffect = z.object({
  text: text({ min: 1, max: 1000 }),
  durationSeconds: z.number().min(0.5).max(30).optional(),
  promptInfluence: share,
  format,
  ...delivery,
});

const inline = z.object({
  contentType: z.string(),
  format: z.string(),
  delivery: z.enum(['inline', 'url']),
  audio: z.string().optional().meta({ description: 'Base64, with `delivery: inline`.' }),
  url: z.string().optional().meta({ description: 'Good for 15 minutes, with `delivery: url`.' }),
  bytes: z.number().int().optional(),
  saved: z.boolean().optional(),
  fileId: z.string().optional(),
  fileName: z.string().optional(),
  fileUrl: z.string().optional(),
  saveSkippedReason: z.enum(['storage_limit', 'file_too_large', 'error']).optional(),
  provider: z.string().optional(),
  fallbackFrom: z.string().optional(),
});

export type InlineAudio = z.input<typeof inline>;

const common = {
  method: 'POST',
  tag: 'Audio',
  auth: 'key-or-token',
  scopes: ['ai:generate'],
  rate: { key: 'standard', user: 'unlimited' },
  owner: 'caller',
  family: 'public',
} as const;

const fileHeaders = {
  'X-Audio-Saved': 'Whether the sound was kept as a file: `true` or `false`.',
  'X-Audio-File-Id': 'The file.',
  'X-Audio-File-Name': 'What it is called.',
  'X-Audio-File-Url': 'Where it is, for 15 minutes.',
};

const speechHeaders = {
  ...fileHeaders,
  'X-Tts-Provider': 'Who read.',
  'X-Tts-Provider-Fallback-From': 'Who should have.',
};

const outputOf = (headers: Readonly<Record<string, string>>) => ({
  200: {
    description: 'With `encoding: base64` JSON; else the sound itself.',
    schema: inline,
    binary: 'audio/*',
    headers,
  },
  303: {
    description: 'The sound is larger than an answer may be: it is elsewhere.',
    headers: { ...headers, Location: 'Where it is, for 15 minutes.' },
  },
});

const failures = [
  { status: 502, description: 'The provider failed, or did not answer in time.' },
  { status: 503, description: 'No such provider is configured, or it is overloaded.' },
] as const;

const tooLarge = {
  status: 413,
  description: 'The sound is too large, and this server cannot hand out addresses.',
};

const tooLong = z.object({
  error: z.string(),
  provider: z.string().optional(),
  saved: z.boolean().optional(),
  fileId: z.string().optional(),
  fileUrl: z.string().optional(),
  request_id: z.string(),
  name: z.string().optional(),
  maxSize: z.number().int().optional(),
});

export const synthesizeSpeech = defineOperation({
  ...common,
  id: 'synthesizeSpeech',
  path: '/api/ai/tts',
  summary: 'Read a text out',
  description:
    '`X-Tts-Provider` tells who read, `X-Tts-Provider-Fallback-From` who should have. Another provider is only asked ' +
    'when the request names none, no model and no voice.',
  input: { body: speech },
  output: outputOf(speechHeaders),
  refusals: [
    {
      status: 401,
      description:
        'The provider refused its key (`provider_rejected`), or has none (`provider_not_configured`).',
    },
    {
      status: 413,
      description: 'The text is longer than the provider reads, or the sound larger than can be handed out.',
      schema: tooLong,
    },
    ...failures,
  ],
});

export const generateMusic = defineOperation({
  ...common,
  id: 'generateMusic',
  path: '/api/ai/music',
  summary: 'Make music, at once',
  input: { body: music },
  output: outputOf(fileHeaders),
  refusals: [tooLarge, ...failures],
});

export const generateSoundEffect = defineOperation({
  ...common,
  id: 'generateSoundEffect',
  path: '/api/ai/sound-effects',
  summary: 'Make a sound',
  input: { body: soundEffect },
  output: outputOf(fileHeaders),
  refusals: [tooLarge, ...failures],
});
