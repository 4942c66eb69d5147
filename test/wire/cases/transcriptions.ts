import { setImmediate as turn } from 'node:timers/promises';
import { ProviderError } from '@questline/core/ports';
import { expect } from 'vitest';
import { refusalBody } from '../../support/expected.ts';
import { createSoundStudio, type SoundStudio } from '../../support/media.ts';
import { NOW, type TestApp, type TestAppOptions } from '../../support/test-app.ts';
import { ID, refused, type WireCase } from './case.ts';
import { AN_ID } from './chat.ts';

const app = (): TestAppOptions => ({ models: [createSoundStudio()] });

const failing = (): TestAppOptions => ({
  models: [createSoundStudio({ onRecording: (call) => call.fail(new ProviderError('failed', 'secret')) })],
});

const silent = (): TestAppOptions => ({ models: [createSoundStudio({ onRecording: () => undefined })] });

const FAILED = {
  status: 502,
  message: 'The model gave no answer: the provider failed.',
  errorCode: 'provider_error',
};
const MISSING = {
  status: 503,
  message: 'No provider for transcriptions is configured on this server.',
  errorCode: 'provider_not_configured',
};
const LATE = {
  status: 504,
  message: 'The transcription exceeded the request timeout.',
  errorCode: 'request_timeout',
};

const announced = { mime_type: 'audio/wav', file_size: 4 };

export const createTranscriptionUpload: readonly WireCase[] = [
  {
    title: 'returns an upload address',
    app,
    ask: { body: announced },
    status: 201,
    body: {
      upload_url: expect.stringMatching(/^\/api\/v1\/objects/),
      upload_fields: expect.any(Object),
      file_key: AN_ID,
      expires_at: '2026-11-21T12:05:00.000Z',
    },
    everywhere: true,
  },
  {
    title: 'rejects a type that is not audio or video',
    app,
    ask: { body: { ...announced, mime_type: 'video/mp4' } },
    ...refused('public', {
      status: 422,
      message: expect.stringMatching(/^mime_type: Invalid option: expected one of "audio\/mpeg"/),
    }),
  },
  {
    title: 'rejects a recording that is too large',
    app,
    ask: { body: { ...announced, file_size: 26_214_401 } },
    ...refused('public', {
      status: 422,
      message: 'file_size: Too big: expected number to be <=26214400, got 26214401',
    }),
  },
  {
    title: 'rejects an unknown field',
    app,
    ask: { body: { ...announced, language: 'en' } },
    ...refused('public', { status: 422, message: 'Unrecognized key: "language"' }),
  },
];

/** A completed upload. */
async function sent(one: TestApp): Promise<{ body: { file_key: string } }> {
  const { key } = await one.issue({ scopes: ['ai:generate'] });
  const answer = await one.ask('POST', '/api/v1/transcriptions/uploads', {
    body: announced,
    credential: key,
  });
  const { file_key } = (await answer.json()) as { file_key: string };
  const content = Buffer.from('wave');
  await one.services.objects.put(`transcriptions/${file_key}`, content, { contentType: 'audio/wav' });
  return { body: { file_key } };
}

/** Advances the clock by a minute once the provider was called, while the client waits. */
async function waitTooLong(one: TestApp): Promise<void> {
  const [studio] = one.services.providers as readonly SoundStudio[];
  while (studio?.recordings.length === 0) await turn();
  await one.clock.advance(60_000);
}

export const createTranscription: readonly WireCase[] = [
  { title: 'transcribes a recording', app, ask: sent, status: 200, body: { text: 'Hello.' } },
  {
    title: 'answers 404 for an unknown recording',
    app,
    ask: { body: { file_key: '0'.repeat(24) } },
    ...refused('public', { status: 404, message: 'Upload not found' }),
    everywhere: true,
  },
  { title: 'reports a provider that fails', app: failing, ask: sent, ...refused('public', FAILED) },
  {
    title: 'rejects a server without a provider',
    app: () => ({ models: [] }),
    ask: sent,
    ...refused('public', MISSING),
  },
  {
    title: 'reports a transcription that takes too long',
    app: silent,
    ask: async (one) => {
      const asked = await sent(one);
      void waitTooLong(one);
      return asked;
    },
    ...refused('public', LATE),
  },
];

const form = (name = 'file', type = 'audio/wav') => ({
  headers: { 'Content-Type': 'multipart/form-data; boundary=xyz' },
  body: `--xyz\r\nContent-Disposition: form-data; name="${name}"; filename="a.wav"\r\nContent-Type: ${type}\r\n\r\nwave\r\n--xyz--\r\n`,
});

export const transcribeAtOnce: readonly WireCase[] = [
  {
    title: 'transcribes a recording',
    app,
    ask: form(),
    status: 200,
    body: { text: 'Hello.' },
    everywhere: true,
  },
  {
    title: 'rejects a form without a file',
    app,
    ask: form('sound'),
    ...refused('application', { status: 400, message: 'the form has no part named file' }),
  },
  {
    title: 'rejects a form whose declared length is too large',
    app,
    ask: {
      ...form(),
      headers: { ...form().headers, 'Content-Length': String(26_214_400 + 2 ** 16 + 1) },
    },
    ...refused('application', {
      status: 413,
      message: 'the recording is larger than 26214400 bytes',
      extra: { maxSize: 26_214_400 },
    }),
  },
  {
    title: 'accepts a form with many other fields',
    app,
    ask: {
      ...form(),
      body: `--xyz\r\nContent-Disposition: form-data; name="note"\r\n\r\n${'x'.repeat(4097)}\r\n${form().body}`,
    },
    ...refused('application', {
      status: 400,
      message: 'the form is malformed: the field note is longer than 4096 bytes',
    }),
  },
  {
    title: 'rejects a file that is not a recording',
    app,
    ask: form('file', 'image/png'),
    ...refused('application', {
      status: 422,
      message: expect.stringMatching(/^file: expected a recording, one of audio\/mpeg/),
    }),
  },
  {
    title: 'reports a provider that fails',
    app: failing,
    ask: form(),
    ...refused('application', { status: 502, message: FAILED.message, code: 'PROVIDER_ERROR' }),
  },
  {
    title: 'rejects a server without a provider',
    app: () => ({ models: [] }),
    ask: form(),
    ...refused('application', { status: 503, message: MISSING.message, code: 'PROVIDER_ERROR' }),
  },
  {
    title: 'reports a transcription that takes too long',
    app: silent,
    ask: async (one) => {
      void waitTooLong(one);
      return form();
    },
    status: 504,
    body: refusalBody(
      { family: 'application' },
      { status: 504, message: LATE.message, code: 'PROVIDER_ERROR' },
      { requestId: ID, now: NOW + 60_000 },
    ),
  },
];
