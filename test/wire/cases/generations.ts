import { GENERATIONS, type GenerationRecord } from '@questline/core';
import { expect } from 'vitest';
import { createFilmStudio, done, FILM_MODEL, SONG_MODEL } from '../../support/generations.ts';
import { PICTURE } from '../../support/media.ts';
import type { Asked } from '../../support/wire.ts';
import type { World, WorldOptions } from '../../support/world.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID, AT_NOON } from './chat.ts';

/** Makes everything as soon as it is asked how far it is. */
const world = (): WorldOptions => ({
  models: [createFilmStudio({ onJob: (job) => done(job) }, { onJob: (job) => done(job) })],
});

const FILM = {
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
  readonly accepted: typeof FILM | typeof SONG;
  readonly contentType: string;
}

const FILMS: KindOfCase = {
  path: '/api/v1/video-generations',
  noun: 'Video generation',
  kind: 'video',
  body: { model: 'director', prompt: 'A red panda' },
  accepted: FILM,
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

/** One that was asked for. */
async function start({ path, body }: KindOfCase, world: World): Promise<string> {
  const { key } = await world.issue({ scopes: ['ai:generate'] });
  const answer = await world.ask('POST', path, { body, credential: key });
  return ((await answer.json()) as { id: string }).id;
}

/** One that has come so far, without time passing. */
const ofOne =
  (of: KindOfCase, suffix: string, patch: Partial<GenerationRecord> = {}) =>
  async (world: World): Promise<Partial<Asked>> => {
    const id = await start(of, world);
    await world.services.store.collection(GENERATIONS).update(id, patch);
    return { path: `${of.path}/${id}${suffix}` };
  };

const finished =
  (of: KindOfCase, suffix: string) =>
  async (world: World): Promise<Partial<Asked>> => {
    const made = {
      name: `it.${of.kind}`,
      mimeType: of.contentType,
      content: Buffer.from('12345'),
    };
    const { file } = await world.services.library.save(world.user.id, made);
    const asked = await ofOne(of, suffix, {
      state: 'succeeded',
      file: { id: file?.id ?? '', mimeType: of.contentType },
      settled: 8_000_000,
    })(world);
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
  told: { readonly status?: number; readonly message: string; readonly errorCode?: string },
  options: Partial<WireCase> = {},
): WireCase {
  return {
    title,
    world,
    ask: { body: { ...of.body, ...more } },
    ...refused('public', { status: 422, ...told }),
    ...options,
  };
}

function createCases(of: KindOfCase): readonly WireCase[] {
  const { model } = of.accepted;
  return [
    { title: 'accepts', world, ask: { body: of.body }, status: 202, body: of.accepted, everywhere: true },
    refusal(
      of,
      'a model that is not there',
      { model: 'nobody' },
      {
        message: `model: there is no ${of.kind} model 'nobody'`,
        errorCode: 'model_unavailable',
      },
    ),
    refusal(
      of,
      'a model that is switched off',
      {},
      { message: `model: '${model}' is switched off`, errorCode: 'model_disabled' },
      { world: () => ({ ...world(), settings: { models: { [model]: { disabled: true } } } }) },
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
        world: () => {
          const free = [FILM_MODEL, SONG_MODEL].map(({ prices: _, ...info }) => info);
          return { models: [createFilmStudio({}, {}, free)] };
        },
      },
    ),
    refusal(
      of,
      'a caller without credit',
      {},
      { message: expect.stringContaining('Insufficient credits.'), errorCode: 'insufficient_credits' },
      { world: () => ({ ...world(), credits: 0 }) },
    ),
    refusal(
      of,
      'a key that may not spend so much',
      {},
      { message: expect.stringContaining('Spend cap reached.'), errorCode: 'spend_cap_exceeded' },
      {
        world: () => ({
          ...world(),
          key: { spendCap: { amount: 1_000_000, period: 'day' } },
        }),
      },
    ),
    refusal(of, 'a field that is not known', { seed: 1 }, { message: 'Unrecognized key: "seed"' }),
    refusal(
      of,
      'a prompt of nothing',
      { prompt: '' },
      {
        message: 'prompt: expected at least 1 character, got 0 characters of text',
      },
    ),
    refusal(
      of,
      'a length of nothing',
      { duration_seconds: 0 },
      {
        message: 'duration_seconds: Too small: expected number to be >0, got 0',
      },
    ),
    {
      title: 'a key that cannot be one',
      world,
      ask: { body: of.body, headers: { 'Idempotency-Key': 'x'.repeat(256) } },
      ...refused('public', {
        status: 422,
        message: 'Idempotency-Key: expected 1 to 255 printable ASCII characters',
        errorCode: 'invalid_idempotency_key',
      }),
    },
    {
      title: 'a key that was used for something else',
      world,
      ask: async (world) => {
        const headers = { 'Idempotency-Key': 'one' };
        await world.ask('POST', of.path, { body: { ...of.body, prompt: 'Another' }, headers });
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
      title: 'a server that is about to stop',
      world,
      ask: async (world) => {
        await world.api.drain(0);
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
      title: 'shows one that waits',
      world,
      ask: ofOne(of, ''),
      status: 200,
      body: of.accepted,
      everywhere: true,
    },
    {
      title: 'shows one that is under way, to its user however signed in',
      world,
      caller: 'token',
      ask: ofOne(of, '', { state: 'running', progress: 0.5 }),
      status: 200,
      body: { ...of.accepted, state: 'running', progress: 0.5 },
    },
    { title: 'shows what was made', world, ask: finished(of, ''), status: 200, body: succeeded(of) },
    {
      title: 'shows why one has failed',
      world,
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
      title: 'an unknown one',
      world,
      ...refused('public', { status: 404, message: `${of.noun} not found` }),
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
      title: 'ends one that waits',
      world,
      ask: ofOne(of, suffix),
      status: 200,
      body: cancelled,
      everywhere: true,
    },
    {
      title: 'ends one that is under way',
      world,
      ask: ofOne(of, suffix, { state: 'running' }),
      status: 200,
      body: cancelled,
    },
    {
      title: 'leaves one alone that is being stored',
      world,
      ask: ofOne(of, suffix, { state: 'storing' }),
      status: 200,
      body: { ...of.accepted, state: 'storing', progress: 1 },
    },
    {
      title: 'leaves one alone that has ended',
      world,
      ask: finished(of, suffix),
      status: 200,
      body: succeeded(of),
    },
    {
      title: 'an unknown one',
      world,
      ...refused('public', { status: 404, message: `${of.noun} not found` }),
    },
  ];
}

function listCases(of: KindOfCase): readonly WireCase[] {
  const ask = async (world: World): Promise<Partial<Asked>> => {
    await start(of, world);
    return {};
  };
  const bad = (query: string, message: unknown): WireCase => ({
    title: `with ${query}`,
    world,
    ask: { path: `${of.path}?${query}` },
    ...refused('public', { status: 422, message: message as string }),
  });
  return [
    {
      title: 'holds what was asked for',
      world,
      ask,
      status: 200,
      body: { data: [of.accepted], next_cursor: null },
      everywhere: true,
    },
    {
      title: 'holds what is filtered for',
      world,
      ask: async (world) => ({ ...(await ask(world)), path: `${of.path}?state=failed` }),
      status: 200,
      body: { data: [], next_cursor: null },
    },
    bad('state=done', expect.stringMatching(/^state: Invalid option/)),
    bad('source=me', expect.stringMatching(/^source: Invalid option/)),
    bad('limit=0', expect.stringMatching(/^limit: /)),
    bad('cursor=x', expect.stringMatching(/^cursor: /)),
  ];
}

const image = async (world: World, mimeType = 'image/png'): Promise<string | undefined> =>
  (await world.services.library.save(world.user.id, { name: 'x', mimeType, content: PICTURE.data })).file?.id;

const textOnly = (): WorldOptions => ({
  models: [
    createFilmStudio({}, {}, [
      {
        ...FILM_MODEL,
        ...(FILM_MODEL.video !== undefined && {
          video: { ...FILM_MODEL.video, modes: ['text_to_video'], audio: 'none' },
        }),
      },
    ]),
  ],
});

const filmRefusals: readonly WireCase[] = [
  {
    title: 'an image that is not there',
    world,
    ask: { body: { ...FILMS.body, input_image_file_id: '0'.repeat(24) } },
    ...refused('public', {
      status: 404,
      message: 'input_image_file_id: there is no such file',
      errorCode: 'input_image_not_found',
    }),
    everywhere: true,
  },
  {
    title: 'an image that is none',
    world,
    ask: async (world) => ({
      body: { ...FILMS.body, input_image_file_id: await image(world, 'text/plain') },
    }),
    ...refused('public', {
      status: 422,
      message: 'input_image_file_id: this file is no image',
      errorCode: 'unsupported_input',
    }),
  },
  {
    title: 'an image that is not checked yet',
    world,
    ask: async (world) => {
      const { key } = await world.issue({ scopes: ['files:write'] });
      const body = { file_name: 'x.png', mime_type: 'image/png', file_size: 9 };
      const answer = await world.ask('POST', '/api/v1/files', { body, credential: key });
      const { id } = (await answer.json()) as { id: string };
      return { body: { ...FILMS.body, input_image_file_id: id } };
    },
    ...refused('public', {
      status: 422,
      message: 'input_image_file_id: this file is still being checked, or was blocked',
      errorCode: 'unsupported_input',
    }),
  },
  refusal(
    FILMS,
    'an image for a film from text',
    { mode: 'text_to_video', input_image_file_id: '0' },
    {
      message: 'input_image_file_id: a film from text alone takes none',
      errorCode: 'unexpected_input_image',
    },
  ),
  refusal(
    FILMS,
    'no image for a film from an image',
    { mode: 'image_to_video' },
    {
      message: 'input_image_file_id: a film from an image needs one',
      errorCode: 'missing_input_image',
    },
  ),
  refusal(
    FILMS,
    'a way the model does not work',
    { mode: 'image_to_video', input_image_file_id: '0' },
    { message: 'mode: Director does text_to_video', errorCode: 'unsupported_mode' },
    { world: textOnly },
  ),
  refusal(
    FILMS,
    'sound of a model that is silent',
    { audio: true },
    { message: 'audio: Director makes films with sound: none', errorCode: 'unsupported_audio_option' },
    { world: textOnly },
  ),
  refusal(
    FILMS,
    'a length the model does not make',
    { duration_seconds: 5 },
    {
      message: 'duration_seconds: Director makes 4, 8 seconds',
      errorCode: 'unsupported_duration',
    },
  ),
  refusal(
    FILMS,
    'a shape the model does not make',
    { aspect_ratio: '1:1' },
    {
      message: 'aspect_ratio: Director does 16:9, 9:16',
      errorCode: 'unsupported_aspect_ratio',
    },
  ),
  refusal(
    FILMS,
    'a sharpness the model does not make',
    { resolution: '4k' },
    {
      message: 'resolution: Director does 720p, 1080p',
      errorCode: 'unsupported_resolution',
    },
  ),
];

const singing = (): WorldOptions => ({
  models: [
    createFilmStudio({}, {}, [
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
    'a length the model does not make',
    { duration_seconds: 61 },
    {
      message: 'duration_seconds: Composer makes 5 to 60 seconds in steps of 1',
      errorCode: 'unsupported_duration',
    },
  ),
  refusal(
    SONGS,
    'a format the model does not make',
    { format: 'flac' },
    {
      message: 'format: Composer makes mp3, wav',
      errorCode: 'unsupported_audio_option',
    },
  ),
  refusal(
    SONGS,
    'a prompt longer than the model reads',
    { prompt: 'x'.repeat(1001) },
    {
      message: 'prompt: Composer reads at most 1000 characters',
      errorCode: 'limit_exceeded',
    },
  ),
  refusal(
    SONGS,
    'silence of a model that sings',
    { instrumental: true },
    { message: 'instrumental: Composer always sings', errorCode: 'unsupported_audio_option' },
    { world: singing },
  ),
];

const models = (one: object): readonly WireCase[] => [
  {
    title: 'lists them',
    world,
    status: 200,
    body: { models: [expect.objectContaining(one)] },
    everywhere: true,
  },
  { title: 'lists none where there are none', status: 200, body: { models: [] } },
];

export const GENERATION_CASES: Readonly<Record<string, readonly WireCase[]>> = {
  listVideoModels: models({ id: 'director', object: 'video_model' }),
  createVideoGeneration: [...createCases(FILMS), ...filmRefusals],
  listVideoGenerations: listCases(FILMS),
  getVideoGeneration: lookCases(FILMS),
  cancelVideoGeneration: cancelCases(FILMS),
  listMusicModels: models({ id: 'composer', object: 'music_model' }),
  createMusicGeneration: [...createCases(SONGS), ...songRefusals],
  listMusicGenerations: listCases(SONGS),
  getMusicGeneration: lookCases(SONGS),
  cancelMusicGeneration: cancelCases(SONGS),
};
