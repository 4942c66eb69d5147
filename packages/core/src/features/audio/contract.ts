import * as z from 'zod';
import { deprecatedName } from '../../contract/fields.ts';
import { defineOperation } from '../../contract/operation.ts';
import { text } from '../../contract/text.ts';

const format = z.enum(['mp3', 'wav', 'opus', 'aac', 'flac', 'pcm']).default('mp3');
const share = z.number().min(0).max(1).optional();

const delivery = {
  provider: z
    .string()
    .optional()
    .meta({ description: 'A configured provider. Default: the first one that supports the request.' }),
  encoding: z
    .enum(['binary', 'base64'])
    .default('binary')
    .describe('`binary`: the answer is the audio itself. `base64`: the answer is JSON with the audio in it.'),
  preview: z.boolean().default(false).meta({ description: 'The audio is not stored as a file.' }),
};

const speech = z.object({
  text: text({ min: 1 }).describe('The text to speak.'),
  model: z.string().optional().describe('The id of a speech model. Default: that of the provider.'),
  voice: z.string().min(1).max(200).optional().meta({ description: "The provider's name of the voice." }),
  format: format.describe('The audio format.'),
  stability: share.describe('How even the voice sounds, for providers that have the choice.'),
  similarityBoost: share.describe(
    'How close the voice stays to its original, for providers that have the choice.',
  ),
  languageCode: z
    .string()
    .regex(/^[A-Za-z]{2}$/, 'expected two letters')
    .transform((code) => code.toLowerCase())
    .optional()
    .describe('The language of the text, as two letters. Default: recognized from the text.'),
  ...delivery,
});

const music = z.object({
  prompt: text({ min: 1, max: 2000 }).describe('How the music sounds.'),
  lengthMs: z
    .number()
    .int()
    .min(3000)
    .max(120_000)
    .default(10_000)
    .describe('The length of the music, in milliseconds.'),
  forceInstrumental: z.boolean().optional().describe('Whether the music is without vocals.'),
  modelId: z.string().optional().describe('The id of a music model. Default: that of the provider.'),
  format: format.describe('The audio format.'),
  ...delivery,
});

const soundEffect = z.object({
  text: text({ min: 1, max: 1000 }).describe('What the sound is.'),
  durationSeconds: z
    .number()
    .min(0.5)
    .max(30)
    .optional()
    .describe('The duration, in seconds. Default: chosen by the model.'),
  promptInfluence: share.describe('How closely the sound follows the text.'),
  format: format.describe('The audio format.'),
  ...delivery,
});

const inline = z.object({
  contentType: z.string().describe('The media type of the audio.'),
  format: z.string().describe('The audio format.'),
  delivery: z.enum(['inline', 'url']).describe('Whether the audio is in this answer or behind a URL.'),
  audio: z.string().optional().meta({ description: 'Base64, with `delivery: inline`.' }),
  url: z.string().optional().meta({ description: 'Valid for 15 minutes, with `delivery: url`.' }),
  bytes: z.number().int().optional().describe('The size of the audio in bytes.'),
  saved: z.boolean().optional().describe('Whether the audio is stored as a file of the caller.'),
  fileId: z.string().optional().describe('The id of the stored file.'),
  fabFileId: z.string().optional().meta({ description: 'The same as `fileId`, for older clients.' }),
  fileName: z.string().optional().describe('The name of the stored file.'),
  fileUrl: z.string().optional().describe('The URL of the stored file; it expires.'),
  saveSkippedReason: z
    .enum(['storage_limit', 'file_too_large', 'error'])
    .optional()
    .describe('Why the audio was not stored.'),
  provider: z.string().optional().describe('The provider that made the audio.'),
  fallbackFrom: z.string().optional().describe('The provider that failed before this one answered.'),
});

export type InlineAudio = z.input<typeof inline>;

const common = {
  method: 'POST',
  tag: 'Audio',
  auth: 'key-or-token',
  scopes: ['ai:generate'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'caller',
  family: 'public',
} as const;

const fileHeaders = {
  'X-Audio-Saved': 'Whether the audio was stored as a file: `true` or `false`.',
  'X-Audio-File-Id': 'The id of the file.',
  'X-Audio-File-Name': 'The name of the file.',
  'X-Audio-File-Url': 'The URL of the file, valid for 15 minutes.',
};

const speechHeaders = {
  ...fileHeaders,
  'X-Tts-Provider': 'The provider that generated the audio.',
  'X-Tts-Provider-Fallback-From': 'The first provider, when a fallback generated the audio.',
};

const toOutput = (headers: Readonly<Record<string, string>>) => ({
  200: {
    description: 'With `encoding: base64` JSON; else the audio itself.',
    schema: inline,
    binary: 'audio/*',
    headers,
  },
  303: {
    description: 'The audio exceeds the maximum response size: follow the redirect.',
    headers: { ...headers, Location: 'The URL of the audio, valid for 15 minutes.' },
  },
});

const failures = [
  { status: 502, description: 'The provider failed, or did not answer in time.' },
  { status: 503, description: 'No such provider is configured, or it is overloaded.' },
] as const;

const tooLarge = {
  status: 413,
  description: 'The audio is too large for a response, and this server cannot issue URLs.',
};

const tooLong = z.object({
  error: z.string().describe('The problem, for people. Never branch on it.'),
  provider: z.string().optional().describe('The provider that made the audio.'),
  saved: z.boolean().optional().describe('Whether the audio is stored as a file of the caller.'),
  fileId: z.string().optional().describe('The id of the stored file.'),
  fabFileId: z.string().optional().meta({ description: 'The same as `fileId`, for older clients.' }),
  fileUrl: z.string().optional().describe('The URL of the stored file; it expires.'),
  request_id: z.string().describe('Equals the `X-Request-ID` header.'),
  name: deprecatedName,
  maxSize: z
    .number()
    .int()
    .optional()
    .describe('The maximum size of the body in bytes, when the body is too large.'),
});

export const synthesizeSpeech = defineOperation({
  ...common,
  id: 'synthesizeSpeech',
  paid: true,
  path: '/api/ai/tts',
  summary: 'Convert text to speech',
  description:
    '`X-Tts-Provider` names the provider, and `X-Tts-Provider-Fallback-From` the first one when a fallback was used. ' +
    'A fallback is used only when the request names no provider, no model and no voice.',
  input: { body: speech },
  output: toOutput(speechHeaders),
  refusals: [
    {
      status: 401,
      description:
        'The provider refused its key (`provider_rejected`), or has none (`provider_not_configured`).',
    },
    {
      status: 413,
      description: 'The text exceeds the maximum of the provider, or the audio the maximum of a response.',
      schema: tooLong,
    },
    ...failures,
  ],
});

export const generateMusic = defineOperation({
  ...common,
  id: 'generateMusic',
  paid: true,
  path: '/api/ai/music',
  summary: 'Generate music synchronously',
  description:
    'Waits for the music and answers with the audio itself, with JSON, or with 303 and the URL of the stored file.',
  input: { body: music },
  output: toOutput(fileHeaders),
  refusals: [tooLarge, ...failures],
});

export const generateSoundEffect = defineOperation({
  ...common,
  id: 'generateSoundEffect',
  paid: true,
  path: '/api/ai/sound-effects',
  summary: 'Generate a sound effect',
  description:
    'Waits for the sound and answers with the audio itself, with JSON, or with 303 and the URL of the stored file.',
  input: { body: soundEffect },
  output: toOutput(fileHeaders),
  refusals: [tooLarge, ...failures],
});
