import { GENERATIONS, type GenerationRecord } from '@questline/core/internal';
import { expect } from 'vitest';
import { createVideoStudio, done, FILM_MODEL, SONG_MODEL } from '../../support/generations.ts';
import { PICTURE } from '../../support/media.ts';
import type { TestApp, TestAppOptions } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID, AT_NOON } from './chat.ts';

/** Completes every job at its first poll. */
const app = (): TestAppOptions => ({
  models: [createVideoStudio({ onJob: (job) => done(job) }, { onJob: (job) => done(job) })],
});

const VIDEO = {
  id: AN_ID,
  object: 'video_generation',
  state: 'pending',
  model: 'director',
  mode: 'text_to_video',
  prompt: 'A red panda',
  duration_seconds: 8,
  aspect_ratio: '16:9',
  resolution: '720p',
  source: 'api',
  progress: null,
  error: null,
  output: null,
  credits: { reserved: 8, settled: null },
  created_at: AT_NOON,
  updated_at: AT_NOON,
};

const SONG = {
  id: AN_ID,
  object: 'music_generation',
  state: 'pending',
  model: 'composer',
  prompt: 'A waltz',
  duration_seconds: 10,
  instrumental: false,
  format: 'mp3',
  source: 'api',
  progress: null,
  error: null,
  output: null,
  credits: { reserved: 10, settled: null },
  created_at: AT_NOON,
  updated_at: AT_NOON,
};

interface KindOfCase {
  readonly path: string;
  readonly noun: string;
  readonly kind: 'video' | 'music';
  readonly body: object;
  readonly accepted: typeof VIDEO | typeof SONG;
  readonly contentType: string;
}

const VIDEOS: KindOfCase = {
  path: '/api/v1/video-generations',
  noun: 'Video generation',
  kind: 'video',
  body: { model: 'director', prompt: 'A red panda' },
  accepted: VIDEO,
  contentType: 'video/mp4',
};

const SONGS: KindOfCase = {
  path: '/api/v1/music-generations',
  noun: 'Music generation',
  kind: 'music',
  body: { model: 'composer', prompt: 'A waltz' },
  accepted: SONG,
  contentType: 'audio/mpeg',
};

/** Starts a generation. */
async function start({ path, body }: KindOfCase, app: TestApp): Promise<string> {
  const { key } = await app.issue({ scopes: ['ai:generate'] });
  const answer = await app.ask('POST', path, { body, credential: key });
  return ((await answer.json()) as { id: string }).id;
}

/** A generation in the given state. */
const ofOne =
  (of: KindOfCase, suffix: string, patch: Partial<GenerationRecord> = {}) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const id = await start(of, app);
    await app.services.store.collection(GENERATIONS).update(id, patch);
    return { path: `${of.path}/${id}${suffix}` };
  };

const finished =
  (of: KindOfCase, suffix: string) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const made = {
      name: `it.${of.kind}`,
      mimeType: of.contentType,
      content: Buffer.from('12345'),
    };
    const { file } = await app.services.library.save(app.user.id, made);
    const asked = await ofOne(of, suffix, {
      state: 'succeeded',
      file: { id: file?.id ?? '', mimeType: of.contentType },
      settled: 8_000_000,
    })(app);
    return asked;
  };

const succeeded = ({ accepted, contentType }: KindOfCase) => ({
  ...accepted,
  state: 'succeeded',
  progress: 1,
  output: {
    availability: 'ready',
    url: expect.stringMatching(/^\/api\/v1\/objects\?/),
    expires_at: '2026-11-21T12:15:00.000Z',
    content_type: contentType,
    duration_seconds: accepted.duration_seconds,
    file_id: AN_ID,
  },
  credits: { reserved: null, settled: 8 },
});

function refusal(
  of: KindOfCase,
  title: string,
  more: object,
  reported: { readonly status?: number; readonly message: string; readonly errorCode?: string },
  options: Partial<WireCase> = {},
): WireCase {
  return {
    title,
    app,
    ask: { body: { ...of.body, ...more } },
    ...refused('public', { status: 422, ...reported }),
    ...options,
  };
}

function createCases(of: KindOfCase): readonly WireCase[] {
  const { model } = of.accepted;
  return [
    {
      title: 'accepts a generation',
      app,
      ask: { body: of.body },
      status: 202,
      body: of.accepted,
      everywhere: true,
    },
    refusal(
      of,
      'an unknown model',
      { model: 'unknown' },
      {
        message: `model: unknown ${of.kind} model 'unknown'`,
        errorCode: 'model_unavailable',
      },
    ),
    refusal(
      of,
      'a disabled model',
      {},
      { message: `model: '${model}' is switched off`, errorCode: 'model_disabled' },
      { app: () => ({ ...app(), settings: { models: { [model]: { disabled: true } } } }) },
    ),
    refusal(
      of,
      'a model without a price',
      {},
      {
        message: `model: '${model}' has no price, so it cannot be used while credits are metered`,
        errorCode: 'model_unavailable',
      },
      {
        app: () => {
          const free = [FILM_MODEL, SONG_MODEL].map(({ prices: _, ...info }) => info);
          return { models: [createVideoStudio({}, {}, free)] };
        },
      },
    ),
    refusal(
      of,
      'a caller without credit',
      {},
      { message: expect.stringContaining('Insufficient credits.'), errorCode: 'insufficient_credits' },
      { app: () => ({ ...app(), credits: 0 }) },
    ),
    refusal(
      of,
      'a key whose spend cap is too low',
      {},
      { message: expect.stringContaining('Spend cap reached.'), errorCode: 'spend_cap_exceeded' },
      {
        app: () => ({
          ...app(),
          key: { spendCap: { amount: 1_000_000, period: 'day' } },
        }),
      },
    ),
    refusal(of, 'an unknown field', { seed: 1 }, { message: 'Unrecognized key: "seed"' }),
    refusal(
      of,
      'an empty prompt',
      { prompt: '' },
      {
        message: 'prompt: expected at least 1 character, got 0 characters of text',
      },
    ),
    refusal(
      of,
      'a duration of zero',
      { duration_seconds: 0 },
      {
        message: 'duration_seconds: Too small: expected number to be >0, got 0',
      },
    ),
    {
      title: 'rejects an invalid idempotency key',
      app,
      ask: { body: of.body, headers: { 'Idempotency-Key': 'x'.repeat(256) } },
      ...refused('public', {
        status: 422,
        message: 'Idempotency-Key: expected 1 to 255 printable ASCII characters',
        errorCode: 'invalid_idempotency_key',
      }),
    },
    {
      title: 'rejects a key that was used for another request',
      app,
      ask: async (app) => {
        const headers = { 'Idempotency-Key': 'one' };
        await app.ask('POST', of.path, { body: { ...of.body, prompt: 'Another' }, headers });
        return { body: of.body, headers };
      },
      headers: { 'x-ratelimit-remaining-minute': '58', 'x-ratelimit-remaining-day': '998' },
      ...refused('public', {
        status: 422,
        message: 'Idempotency-Key: this key was used with another body',
        errorCode: 'idempotency_key_reused',
      }),
    },
    {
      title: 'rejects during shutdown',
      app,
      ask: async (app) => {
        await app.api.drain(0);
        return { body: of.body };
      },
      headers: { 'retry-after': '5' },
      ...refused('public', { status: 503, message: 'The service is about to restart. Try again shortly.' }),
    },
  ];
}

function lookCases(of: KindOfCase): readonly WireCase[] {
  return [
    {
      title: 'returns a waiting generation',
      app,
      ask: ofOne(of, ''),
      status: 200,
      body: of.accepted,
      everywhere: true,
    },
    {
      title: 'returns a running generation to its user with any credential',
      app,
      caller: 'token',
      ask: ofOne(of, '', { state: 'running', progress: 0.5 }),
      status: 200,
      body: { ...of.accepted, state: 'running', progress: 0.5 },
    },
    { title: 'returns the result', app, ask: finished(of, ''), status: 200, body: succeeded(of) },
    {
      title: 'returns the reason of a failure',
      app,
      ask: ofOne(of, '', { state: 'failed', error: { code: 'provider_error', message: 'It failed.' } }),
      status: 200,
      body: {
        ...of.accepted,
        state: 'failed',
        error: { code: 'provider_error', message: 'It failed.' },
        credits: { reserved: null, settled: 0 },
      },
    },
    {
      title: 'answers 404 for an unknown generation',
      app,
      ...refused('public', { status: 404, message: `${of.noun} not found` }),
    },
  ];
}

function eventsCases(of: KindOfCase): readonly WireCase[] {
  const { path, noun } = of;
  const stream = {
    status: 200,
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    },
  } as const;
  const reading = (id: string) => async (app: TestApp) => ({
    ...(await finished(of, '/events')(app)),
    headers: { 'Last-Event-ID': id },
  });
  return [
    {
      title: 'sends a new reader a snapshot and the end',
      app,
      ask: finished(of, '/events'),
      ...stream,
      body: expect.stringMatching(
        /^: keep-alive\n\nid: \d+\ndata: \{"type":"snapshot","state":\{.*\}\}\n\nid: end\ndata: \{"type":"end","state":\{.*"state":"succeeded".*\}\}\n\n$/,
      ),
      everywhere: true,
    },
    {
      title: 'sends the end to a reader that lacks only that',
      app,
      ask: reading('5'),
      ...stream,
      body: expect.stringMatching(/^: keep-alive\n\nid: end\ndata: \{"type":"end",/),
    },
    {
      title: 'has nothing for a reader that has the end',
      app,
      ask: reading('end'),
      status: 204,
      body: '',
    },
    {
      title: 'answers 404 for an unknown generation',
      app,
      ask: { path: `${path}/${'0'.repeat(24)}/events` },
      ...refused('public', { status: 404, message: `${noun} not found` }),
      everywhere: true,
    },
  ];
}

function cancelCases(of: KindOfCase): readonly WireCase[] {
  const suffix = '/cancel';
  const cancelled = {
    ...of.accepted,
    state: 'cancelled',
    error: { code: 'cancelled', message: 'This generation was cancelled.' },
    credits: { reserved: null, settled: 0 },
  };
  return [
    {
      title: 'cancels a waiting generation',
      app,
      ask: ofOne(of, suffix),
      status: 200,
      body: cancelled,
      everywhere: true,
    },
    {
      title: 'cancels a running generation',
      app,
      ask: ofOne(of, suffix, { state: 'running' }),
      status: 200,
      body: cancelled,
    },
    {
      title: 'does not change a generation that is being stored',
      app,
      ask: ofOne(of, suffix, { state: 'storing' }),
      status: 200,
      body: { ...of.accepted, state: 'storing', progress: 1 },
    },
    {
      title: 'does not change a finished generation',
      app,
      ask: finished(of, suffix),
      status: 200,
      body: succeeded(of),
    },
    {
      title: 'answers 404 for an unknown generation',
      app,
      ...refused('public', { status: 404, message: `${of.noun} not found` }),
    },
  ];
}

function listCases(of: KindOfCase): readonly WireCase[] {
  const ask = async (app: TestApp): Promise<Partial<Asked>> => {
    await start(of, app);
    return {};
  };
  const bad = (query: string, message: unknown): WireCase => ({
    title: `rejects ${query}`,
    app,
    ask: { path: `${of.path}?${query}` },
    ...refused('public', { status: 422, message: message as string }),
  });
  return [
    {
      title: 'lists the requested generations',
      app,
      ask,
      status: 200,
      body: { data: [of.accepted], next_cursor: null },
      everywhere: true,
    },
    {
      title: 'lists the generations that match a filter',
      app,
      ask: async (app) => ({ ...(await ask(app)), path: `${of.path}?state=failed` }),
      status: 200,
      body: { data: [], next_cursor: null },
    },
    bad('state=done', expect.stringMatching(/^state: Invalid option/)),
    bad('source=me', expect.stringMatching(/^source: Invalid option/)),
    bad('limit=0', expect.stringMatching(/^limit: /)),
    bad('cursor=x', expect.stringMatching(/^cursor: /)),
  ];
}

const image = async (app: TestApp, mimeType = 'image/png'): Promise<string | undefined> =>
  (await app.services.library.save(app.user.id, { name: 'x', mimeType, content: PICTURE.data })).file?.id;

const textOnly = (): TestAppOptions => ({
  models: [
    createVideoStudio({}, {}, [
      {
        ...FILM_MODEL,
        ...(FILM_MODEL.video !== undefined && {
          video: { ...FILM_MODEL.video, modes: ['text_to_video'], audio: 'none' },
        }),
      },
    ]),
  ],
});

const videoRefusals: readonly WireCase[] = [
  {
    title: 'answers 404 for an unknown image',
    app,
    ask: { body: { ...VIDEOS.body, input_image_file_id: '0'.repeat(24) } },
    ...refused('public', {
      status: 404,
      message: 'input_image_file_id: file not found',
      errorCode: 'input_image_not_found',
    }),
    everywhere: true,
  },
  {
    title: 'rejects a file that is not an image',
    app,
    ask: async (app) => ({
      body: { ...VIDEOS.body, input_image_file_id: await image(app, 'text/plain') },
    }),
    ...refused('public', {
      status: 422,
      message: 'input_image_file_id: the file is not an image',
      errorCode: 'unsupported_input',
    }),
  },
  {
    title: 'rejects an image that is not checked yet',
    app,
    ask: async (app) => {
      const { key } = await app.issue({ scopes: ['files:write'] });
      const body = { file_name: 'x.png', mime_type: 'image/png', file_size: 9 };
      const answer = await app.ask('POST', '/api/v1/files', { body, credential: key });
      const { id } = (await answer.json()) as { id: string };
      return { body: { ...VIDEOS.body, input_image_file_id: id } };
    },
    ...refused('public', {
      status: 422,
      message: 'input_image_file_id: the file is in moderation or blocked',
      errorCode: 'unsupported_input',
    }),
  },
  refusal(
    VIDEOS,
    'an image for text-to-video',
    { mode: 'text_to_video', input_image_file_id: '0' },
    {
      message: 'input_image_file_id: not allowed for text-to-video',
      errorCode: 'unexpected_input_image',
    },
  ),
  refusal(
    VIDEOS,
    'image-to-video without an image',
    { mode: 'image_to_video' },
    {
      message: 'input_image_file_id: required for image-to-video',
      errorCode: 'missing_input_image',
    },
  ),
  refusal(
    VIDEOS,
    'an unsupported mode',
    { mode: 'image_to_video', input_image_file_id: '0' },
    { message: 'mode: Director supports text_to_video', errorCode: 'unsupported_mode' },
    { app: textOnly },
  ),
  refusal(
    VIDEOS,
    'audio of a model without audio',
    { audio: true },
    { message: 'audio: Director generates video with audio: none', errorCode: 'unsupported_audio_option' },
    { app: textOnly },
  ),
  refusal(
    VIDEOS,
    'an unsupported duration',
    { duration_seconds: 5 },
    {
      message: 'duration_seconds: Director supports 4, 8 seconds',
      errorCode: 'unsupported_duration',
    },
  ),
  refusal(
    VIDEOS,
    'an unsupported aspect ratio',
    { aspect_ratio: '1:1' },
    {
      message: 'aspect_ratio: Director supports 16:9, 9:16',
      errorCode: 'unsupported_aspect_ratio',
    },
  ),
  refusal(
    VIDEOS,
    'an unsupported resolution',
    { resolution: '4k' },
    {
      message: 'resolution: Director supports 720p, 1080p',
      errorCode: 'unsupported_resolution',
    },
  ),
];

const singing = (): TestAppOptions => ({
  models: [
    createVideoStudio({}, {}, [
      {
        ...SONG_MODEL,
        ...(SONG_MODEL.audio !== undefined && { audio: { ...SONG_MODEL.audio, instrumental: 'none' } }),
      },
    ]),
  ],
});

const songRefusals: readonly WireCase[] = [
  refusal(
    SONGS,
    'an unsupported duration',
    { duration_seconds: 61 },
    {
      message: 'duration_seconds: Composer supports 5 to 60 seconds in steps of 1',
      errorCode: 'unsupported_duration',
    },
  ),
  refusal(
    SONGS,
    'an unsupported format',
    { format: 'flac' },
    {
      message: 'format: Composer supports mp3, wav',
      errorCode: 'unsupported_audio_option',
    },
  ),
  refusal(
    SONGS,
    'a prompt that is too long for the model',
    { prompt: 'x'.repeat(1001) },
    {
      message: 'prompt: Composer accepts at most 1000 characters',
      errorCode: 'limit_exceeded',
    },
  ),
  refusal(
    SONGS,
    'instrumental music of a model with vocals',
    { instrumental: true },
    { message: 'instrumental: Composer always generates vocals', errorCode: 'unsupported_audio_option' },
    { app: singing },
  ),
];

const models = (one: object): readonly WireCase[] => [
  {
    title: 'lists the models',
    app,
    status: 200,
    body: { models: [expect.objectContaining(one)] },
    everywhere: true,
  },
  { title: 'lists no models when none is available', status: 200, body: { models: [] } },
];

export const GENERATION_CASES: Readonly<Record<string, readonly WireCase[]>> = {
  listVideoModels: models({ id: 'director', object: 'video_model' }),
  createVideoGeneration: [...createCases(VIDEOS), ...videoRefusals],
  listVideoGenerations: listCases(VIDEOS),
  getVideoGeneration: lookCases(VIDEOS),
  getVideoGenerationEvents: eventsCases(VIDEOS),
  cancelVideoGeneration: cancelCases(VIDEOS),
  listMusicModels: models({ id: 'composer', object: 'music_model' }),
  createMusicGeneration: [...createCases(SONGS), ...songRefusals],
  listMusicGenerations: listCases(SONGS),
  getMusicGeneration: lookCases(SONGS),
  getMusicGenerationEvents: eventsCases(SONGS),
  cancelMusicGeneration: cancelCases(SONGS),
};
