import type { MediaJobs, MediaStream, VideoRequest } from '@questline/core';
import { describe, expect, test } from 'vitest';
import { type AiSdkVideoModel, createAiSdkProvider } from '../src/index.ts';
import { failureOf } from './scripted.ts';

const response = { timestamp: new Date(0), modelId: 'm', headers: undefined };
const FILM = Buffer.from('the bytes of a film');

const WISH: VideoRequest = {
  model: 'film',
  prompt: 'A cat plays the piano',
  durationSeconds: 4,
  aspectRatio: '16:9',
  resolution: '720p',
  audio: true,
};

type Answer = object | Error;

/** A model that answers these one after the other, the last one for ever, and notes what it was asked. */
function scripted(...answers: Answer[]) {
  const started: Record<string, unknown>[] = [];
  const looks: Record<string, unknown>[] = [];
  const model = {
    specificationVersion: 'v4',
    provider: 'test.video',
    modelId: 'm',
    maxVideosPerCall: 1,
    async doStart(call: Record<string, unknown>) {
      started.push(call);
      return { operation: { task: `t-${started.length}` }, warnings: [], response };
    },
    async doStatus(call: Record<string, unknown>) {
      looks.push(call);
      const answer = answers[Math.min(looks.length, answers.length) - 1] ?? { status: 'pending' };
      if (answer instanceof Error) throw answer;
      return { response, ...answer };
    },
  };
  return { model: model as unknown as AiSdkVideoModel, started, looks };
}

const fetched: { url: string; accept: readonly string[] }[] = [];

function filmsOf(model: AiSdkVideoModel, more: object = {}): MediaJobs<VideoRequest> {
  const { video } = createAiSdkProvider({
    id: 'bridge',
    models: [],
    media: [{ id: 'film', type: 'video', model, ...more }],
    async fetchFile(url, { accept }) {
      fetched.push({ url, accept });
      return { mediaType: 'application/octet-stream', data: FILM };
    },
  });
  if (video === undefined) throw new Error('makes no films');
  return video;
}

const done = (video: object) => ({ status: 'completed', videos: [video] });

async function bytesOf({ body }: MediaStream): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('films of an SDK model', () => {
  test('are started once, and asked about by whoever has their id', async () => {
    const first = scripted();
    const image = { mediaType: 'image/png', data: Buffer.from('x') };
    const prepare = (call: object) => ({ ...call, seed: 7 });
    const signal = new AbortController().signal;
    const id = await filmsOf(first.model, { prepare }).submit({ ...WISH, image }, { signal });
    expect(first.started).toMatchObject([
      {
        prompt: WISH.prompt,
        n: 1,
        aspectRatio: '16:9',
        resolution: '1280x720',
        duration: 4,
        seed: 7,
        image: { type: 'file', mediaType: 'image/png' },
        generateAudio: true,
        abortSignal: signal,
      },
    ]);

    const second = scripted(
      { status: 'pending' },
      done({ type: 'url', url: 'https://x.test/f', mediaType: 'video/mp4' }),
    );
    const films = filmsOf(second.model);
    expect(await films.poll(id, {})).toEqual({ state: 'running' });
    const status = await films.poll(id, {});
    expect(status).toEqual({ state: 'done', output: { url: 'https://x.test/f' } });
    expect(second.looks).toMatchObject([{ operation: { task: 't-1' } }, { operation: { task: 't-1' } }]);
    expect([first.looks, second.started]).toEqual([[], []]);
  });

  test('are fetched from where they are, by what the host gave', async () => {
    const { model } = scripted();
    fetched.length = 0;
    const film = await filmsOf(model).fetch({ url: 'https://x.test/f' }, {});
    expect([film.mediaType, await bytesOf(film)]).toEqual(['video/mp4', FILM]);
    expect(fetched).toEqual([{ url: 'https://x.test/f', accept: ['video/', 'application/octet-stream'] }]);
    for (const url of ['http://x.test/f', 'file:///etc/passwd']) {
      expect(await failureOf(filmsOf(model).fetch({ url }, {}))).toMatchObject({ kind: 'failed' });
    }
    expect(fetched).toHaveLength(1);
  });

  test.each([
    ['base64', FILM.toString('base64')],
    ['binary', FILM],
  ])('that come as %s stay with the vendor until they are fetched', async (type, data) => {
    const { model, looks } = scripted(done({ type, data, mediaType: 'video/webm' }));
    const films = filmsOf(model);
    const id = await films.submit(WISH, {});
    const status = await films.poll(id, {});
    if (status.state !== 'done') throw new Error('it did not end well');
    expect(JSON.stringify(status.output)).not.toContain(FILM.toString('base64'));
    const film = await films.fetch(status.output, {});
    expect([film.mediaType, await bytesOf(film)]).toEqual(['video/webm', FILM]);
    expect(looks).toHaveLength(2);
  });

  test.each([
    [{ status: 'error', error: 'The GPU is on fire.' }, 'failed'],
    [{ status: 'error', error: 'Blocked by our content policy.' }, 'blocked'],
    [{ status: 'completed', videos: [] }, 'failed'],
    [done({ type: 'uploaded', mediaType: 'video/mp4' }), 'failed'],
  ])('that end as %j are %s', async (answer, state) => {
    const films = filmsOf(scripted(answer).model);
    expect(await films.poll(await films.submit(WISH, {}), {})).toMatchObject({ state });
  });

  test.each([
    [429, 'overloaded'],
    [401, 'rejected_key'],
    [500, 'failed'],
  ])('fail with status %i as such, without the key in the text', async (statusCode, kind) => {
    const error = Object.assign(new Error('no, my-secret'), { statusCode });
    const { model } = scripted(error);
    const films = filmsOf(model, { withKey: () => model });
    const id = await films.submit(WISH, { apiKey: 'my-secret' });
    const failure = (await failureOf(films.poll(id, { apiKey: 'my-secret' }))) as Error;
    expect(failure).toMatchObject({ name: 'ProviderError', kind });
    expect(failure.message).not.toContain('my-secret');
  });

  test('are refused where nobody can tell whose they are, and to keys that cannot be used', async () => {
    const films = filmsOf(scripted().model);
    expect(await failureOf(films.poll('not a job', {}))).toMatchObject({ kind: 'failed' });
    expect(await failureOf(films.submit({ ...WISH, model: 'other' }, {}))).toMatchObject({
      kind: 'invalid_request',
    });
    expect(await failureOf(films.submit(WISH, { apiKey: 'k' }))).toMatchObject({ kind: 'not_configured' });
    const gone = new Error('gone');
    expect(await failureOf(films.submit(WISH, { signal: AbortSignal.abort(gone) }))).toBe(gone);
  });
});

test('a model that cannot be asked about, and films that nobody fetches, are told at the start', () => {
  const fetchFile = async () => ({ mediaType: 'video/mp4', data: FILM });
  const { model } = scripted();
  const make = (one: object, more: object = { fetchFile }) =>
    createAiSdkProvider({
      id: 'bridge',
      models: [],
      media: [{ id: 'film', type: 'video', model: one as AiSdkVideoModel }],
      ...more,
    });
  expect(() => make({ ...model, doStatus: undefined })).toThrow(/doStart and doStatus/);
  expect(() => make({ ...model, specificationVersion: 'v3' })).toThrow(TypeError);
  expect(() => make(model, {})).toThrow(/fetchFile/);
  expect(make(model).models()).toMatchObject([{ id: 'film', type: 'video', provider: 'bridge' }]);
  expect(createAiSdkProvider({ id: 'bridge', models: [] }).video).toBeUndefined();
});
