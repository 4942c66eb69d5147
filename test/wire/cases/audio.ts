import { ProviderError, type ProviderErrorKind } from '@questline/core';
import { createMemoryObjects } from '@questline/core/memory';
import { expect } from 'vitest';
import { createSoundStudio, soundOf } from '../../support/media.ts';
import type { WorldOptions } from '../../support/world.ts';
import { refused, type WireCase } from './case.ts';

const world = (): WorldOptions => ({ models: [createSoundStudio()] });

const large =
  (more: WorldOptions = {}) =>
  (): WorldOptions => ({ ...world(), settings: { inlineAudioMaxBytes: 99 }, ...more });

const failing = (kind: ProviderErrorKind) => (): WorldOptions => ({
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

/** What all three have in common. */
function casesOf(
  wish: object,
  name: string,
  told: Readonly<Record<string, string>>,
  notConfigured: number,
): WireCase[] {
  const sound = soundOf(100);
  return [
    {
      title: 'is the sound itself',
      world,
      ask: { body: wish },
      status: 200,
      headers: { 'content-type': 'audio/mpeg', ...fileHeaders(name), ...told },
      body: expect.any(String),
    },
    {
      title: 'is told as JSON, and kept as a file',
      world,
      ask: { body: { ...wish, encoding: 'base64' } },
      status: 200,
      headers: {},
      body: {
        contentType: 'audio/mpeg',
        format: 'mp3',
        delivery: 'inline',
        audio: Buffer.from(sound.data).toString('base64'),
        saved: true,
        fileId: FILE_ID,
        fileName: expect.any(String),
        fileUrl: LINK,
        provider: 'media',
      },
      everywhere: true,
    },
    {
      title: 'is at another address when it is large',
      world: large(),
      ask: { body: wish },
      status: 303,
      headers: { location: LINK, ...fileHeaders(name), ...told },
      body: '',
    },
    {
      title: 'is too large where no address can be signed',
      world: () => large({ objects: { ...createMemoryObjects(), signGet: async () => undefined } })(),
      ask: { body: wish },
      ...refused('public', {
        status: 413,
        message: 'The sound is too large for an answer, and this server cannot hand out addresses.',
        extra: { provider: 'media', saved: true, fileId: FILE_ID },
      }),
    },
    {
      title: 'a server where nobody can',
      ask: { body: wish },
      ...(notConfigured === 401 && { headers: { 'www-authenticate': 'Bearer' } }),
      ...refused('public', {
        status: notConfigured,
        message: 'No provider for this is configured on this server.',
        errorCode: 'provider_not_configured',
      }),
    },
    {
      title: 'a provider that refuses its key',
      world: failing('rejected_key'),
      ask: { body: wish },
      ...refused('public', {
        status: 401,
        message: 'The model provider refused the provider key in use.',
        errorCode: 'provider_rejected',
      }),
    },
    {
      title: 'a provider that has too much to do',
      world: failing('overloaded'),
      ask: { body: wish },
      headers: { 'retry-after': '5' },
      ...refused('public', {
        status: 503,
        message: 'The model provider is overloaded. Try again shortly.',
        errorCode: 'provider_overloaded',
      }),
    },
    {
      title: 'a provider that is silent',
      world: failing('timeout'),
      ask: { body: wish },
      ...refused('public', {
        status: 502,
        message: 'The model gave no answer: the provider did not answer in time.',
        errorCode: 'provider_timeout',
      }),
    },
    {
      title: 'a caller without credit',
      world: () => ({ ...world(), credits: 0 }),
      ask: { body: wish },
      ...refused('public', {
        status: 422,
        message: expect.stringContaining('Insufficient credits.'),
        errorCode: 'insufficient_credits',
      }),
    },
    {
      title: 'a format that is none',
      world,
      ask: { body: { ...wish, format: 'midi' } },
      ...refused('public', {
        status: 422,
        message:
          'format: Invalid option: expected one of "mp3"|"wav"|"opus"|"aac"|"flac"|"pcm", got 4 characters of text',
      }),
    },
  ];
}

export const synthesizeSpeech: readonly WireCase[] = [
  ...casesOf({ text: 'Hello, you' }, 'speech', SPOKEN, 401),
  {
    title: 'a provider that is not configured',
    world,
    ask: { body: { text: 'Hello', provider: 'nobody' } },
    headers: { 'www-authenticate': 'Bearer' },
    ...refused('public', {
      status: 401,
      message: "The provider 'nobody' is not configured on this server.",
      errorCode: 'provider_not_configured',
    }),
  },
  {
    title: 'a text longer than the provider reads',
    world,
    ask: { body: { text: 'x'.repeat(4097) } },
    ...refused('public', {
      status: 413,
      message: 'text: longer than the 4096 characters that media reads',
      extra: { provider: 'media' },
    }),
  },
];

/** Who is named must be there: elsewhere than in speech, that is a field like any other. */
const strangerCase = (wish: object): WireCase => ({
  title: 'a provider that is not configured',
  world,
  ask: { body: { ...wish, provider: 'nobody' } },
  ...refused('public', {
    status: 422,
    message: "provider: 'nobody' is not configured on this server, expected one of: media",
    errorCode: 'provider_not_configured',
  }),
});

export const generateMusic: readonly WireCase[] = [
  ...casesOf({ prompt: 'A waltz' }, 'music', {}, 503),
  strangerCase({ prompt: 'A waltz' }),
];

export const generateSoundEffect: readonly WireCase[] = [
  ...casesOf({ text: 'A door' }, 'sound', {}, 503),
  strangerCase({ text: 'A door' }),
];
