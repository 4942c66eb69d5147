import { createMemoryObjects } from '@questline/core/memory';
import { ProviderError, type ProviderErrorKind } from '@questline/core/ports';
import { expect } from 'vitest';
import { createSoundStudio, toAudio } from '../../support/media.ts';
import type { TestAppOptions } from '../../support/test-app.ts';
import { refused, type WireCase } from './case.ts';

const app = (): TestAppOptions => ({ models: [createSoundStudio()] });

const large =
  (more: TestAppOptions = {}) =>
  (): TestAppOptions => ({ ...app(), settings: { inlineAudioMaxBytes: 99 }, ...more });

const failing = (kind: ProviderErrorKind) => (): TestAppOptions => ({
  models: [createSoundStudio({ onSound: (call) => call.fail(new ProviderError(kind, 'secret words')) })],
});

const LINK = expect.stringMatching(/^\/api\/v1\/objects\?/);
const FILE_ID = expect.stringMatching(/^[0-9a-f]{24}$/);

const fileHeaders = (name: string) => ({
  'x-audio-saved': 'true',
  'x-audio-file-id': FILE_ID,
  'x-audio-file-name': expect.stringMatching(new RegExp(`^${name}-.{6}\\.mp3$`)),
  'x-audio-file-url': LINK,
});

const SPOKEN = { 'x-tts-provider': 'media' };

/** The cases that all three operations share. */
function getCases(
  input: object,
  name: string,
  reported: Readonly<Record<string, string>>,
  notConfigured: number,
): WireCase[] {
  const sound = toAudio(100);
  return [
    {
      title: 'returns the audio',
      app,
      ask: { body: input },
      status: 200,
      headers: { 'content-type': 'audio/mpeg', ...fileHeaders(name), ...reported },
      body: expect.any(String),
    },
    {
      title: 'returns JSON and stores a file',
      app,
      ask: { body: { ...input, encoding: 'base64' } },
      status: 200,
      headers: {},
      body: {
        contentType: 'audio/mpeg',
        format: 'mp3',
        delivery: 'inline',
        audio: Buffer.from(sound.data).toString('base64'),
        saved: true,
        fileId: FILE_ID,
        fabFileId: FILE_ID,
        fileName: expect.any(String),
        fileUrl: LINK,
        provider: 'media',
      },
      everywhere: true,
    },
    {
      title: 'returns large audio at a separate address',
      app: large(),
      ask: { body: input },
      status: 303,
      headers: { location: LINK, ...fileHeaders(name), ...reported },
      body: '',
    },
    {
      title: 'answers 413 for large audio when the store cannot sign links',
      app: () => large({ objects: { ...createMemoryObjects(), signGet: async () => undefined } })(),
      ask: { body: input },
      ...refused('public', {
        status: 413,
        message: 'The audio is too large for a response, and this server cannot issue URLs.',
        extra: { provider: 'media', saved: true, fileId: FILE_ID, fabFileId: FILE_ID },
      }),
    },
    {
      title: 'rejects a server without a provider',
      ask: { body: input },
      ...(notConfigured === 401 && { headers: { 'www-authenticate': 'Bearer' } }),
      ...refused('public', {
        status: notConfigured,
        message: 'No provider for this is configured on this server.',
        errorCode: 'provider_not_configured',
      }),
    },
    {
      title: 'reports a provider that rejects its key',
      app: failing('rejected_key'),
      ask: { body: input },
      ...refused('public', {
        status: 401,
        message: 'The model provider refused the provider key in use.',
        errorCode: 'provider_rejected',
      }),
    },
    {
      title: 'reports an overloaded provider',
      app: failing('overloaded'),
      ask: { body: input },
      headers: { 'retry-after': '5' },
      ...refused('public', {
        status: 503,
        message: 'The model provider is overloaded. Try again shortly.',
        errorCode: 'provider_overloaded',
      }),
    },
    {
      title: 'reports a provider that does not answer',
      app: failing('timeout'),
      ask: { body: input },
      ...refused('public', {
        status: 502,
        message: 'The model gave no answer: the provider did not answer in time.',
        errorCode: 'provider_timeout',
      }),
    },
    {
      title: 'rejects a caller without credit',
      app: () => ({ ...app(), credits: 0 }),
      ask: { body: input },
      ...refused('public', {
        status: 422,
        message: expect.stringContaining('Insufficient credits.'),
        errorCode: 'insufficient_credits',
      }),
    },
    {
      title: 'rejects an unknown format',
      app,
      ask: { body: { ...input, format: 'midi' } },
      ...refused('public', {
        status: 422,
        message:
          'format: Invalid option: expected one of "mp3"|"wav"|"opus"|"aac"|"flac"|"pcm", got 4 characters of text',
      }),
    },
  ];
}

export const synthesizeSpeech: readonly WireCase[] = [
  ...getCases({ text: 'Hello, you' }, 'speech', SPOKEN, 401),
  {
    title: 'rejects a provider that is not configured',
    app,
    ask: { body: { text: 'Hello', provider: 'unknown' } },
    headers: { 'www-authenticate': 'Bearer' },
    ...refused('public', {
      status: 401,
      message: "The provider 'unknown' is not configured on this server.",
      errorCode: 'provider_not_configured',
    }),
  },
  {
    title: 'rejects a text that is too long for the provider',
    app,
    ask: { body: { text: 'x'.repeat(4097) } },
    ...refused('public', {
      status: 413,
      message: 'text: longer than the maximum of 4096 characters of media',
      extra: { provider: 'media' },
    }),
  },
];

/** An unknown provider is reported as an invalid field, except for speech. */
const strangerCase = (input: object): WireCase => ({
  title: 'rejects a provider that is not configured',
  app,
  ask: { body: { ...input, provider: 'unknown' } },
  ...refused('public', {
    status: 422,
    message: "provider: 'unknown' is not configured on this server, expected one of: media",
    errorCode: 'provider_not_configured',
  }),
});

export const generateMusic: readonly WireCase[] = [
  ...getCases({ prompt: 'A waltz' }, 'music', {}, 503),
  strangerCase({ prompt: 'A waltz' }),
];

export const generateSoundEffect: readonly WireCase[] = [
  ...getCases({ text: 'A door' }, 'sound', {}, 503),
  strangerCase({ text: 'A door' }),
];
