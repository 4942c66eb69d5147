import type { MediaJobs, MediaStream, VideoRequest } from '@questline/core/ports';
import { describe, expect, test } from 'vitest';
import { type AiSdkVideoModel, createAiSdkProvider } from '../src/index.ts';
import { toFailure } from './scripted.ts';

const response = { timestamp: new Date(0), modelId: 'm', headers: undefined };
const VIDEO = Buffer.from('the bytes of a video');

const WISH: VideoRequest = {
  model: 'video',
  prompt: 'A cat plays the piano',
  durationSeconds: 4,
  aspectRatio: '16:9',
  resolution: '720p',
  audio: true,
};

type Answer = object | Error;

/** A model that returns these answers in order, then repeats the last one, and records its calls. */
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

function getVideos(model: AiSdkVideoModel, more: object = {}): MediaJobs<VideoRequest> {
  const { video } = createAiSdkProvider({
    id: 'bridge',
    models: [],
    media: [{ id: 'video', type: 'video', model, ...more }],
    async fetchFile(url, { accept }) {
      fetched.push({ url, accept });
      return { mediaType: 'application/octet-stream', data: VIDEO };
    },
  });
  if (video === undefined) throw new Error('makes no videos');
  return video;
}

const done = (video: object) => ({ status: 'completed', videos: [video] });

async function toBytes({ body }: MediaStream): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

describe('videos of an SDK model', () => {
  test('starts a video once and polls it by id from any instance', async () => {
    const first = scripted();
    const image = { mediaType: 'image/png', data: Buffer.from('x') };
    const prepare = (call: object) => ({ ...call, seed: 7 });
    const signal = new AbortController().signal;
    const id = await getVideos(first.model, { prepare }).submit({ ...WISH, image }, { signal });
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
    const videos = getVideos(second.model);
    expect(await videos.poll(id, {})).toEqual({ state: 'running' });
    const status = await videos.poll(id, {});
    expect(status).toEqual({ state: 'done', output: { url: 'https://x.test/f' } });
    expect(second.looks).toMatchObject([{ operation: { task: 't-1' } }, { operation: { task: 't-1' } }]);
    expect([first.looks, second.started]).toEqual([[], []]);
  });

  test('downloads videos from their address with the transport of the host', async () => {
    const { model } = scripted();
    fetched.length = 0;
    const video = await getVideos(model).fetch({ url: 'https://x.test/f' }, {});
    expect([video.mediaType, await toBytes(video)]).toEqual(['video/mp4', VIDEO]);
    expect(fetched).toEqual([{ url: 'https://x.test/f', accept: ['video/', 'application/octet-stream'] }]);
    for (const url of ['http://x.test/f', 'file:///etc/passwd']) {
      expect(await toFailure(getVideos(model).fetch({ url }, {}))).toMatchObject({ kind: 'failed' });
    }
    expect(fetched).toHaveLength(1);
  });

  test.each([
    ['base64', VIDEO.toString('base64')],
    ['binary', VIDEO],
  ])('leaves videos that come as %s at the vendor until they are fetched', async (type, data) => {
    const { model, looks } = scripted(done({ type, data, mediaType: 'video/webm' }));
    const videos = getVideos(model);
    const id = await videos.submit(WISH, {});
    const status = await videos.poll(id, {});
    if (status.state !== 'done') throw new Error('expected a failure');
    expect(JSON.stringify(status.output)).not.toContain(VIDEO.toString('base64'));
    const video = await videos.fetch(status.output, {});
    expect([video.mediaType, await toBytes(video)]).toEqual(['video/webm', VIDEO]);
    expect(looks).toHaveLength(2);
  });

  test.each([
    [{ status: 'error', error: 'The GPU is on fire.' }, 'failed'],
    [{ status: 'error', error: 'Blocked by our content policy.' }, 'blocked'],
    [{ status: 'completed', videos: [] }, 'failed'],
    [done({ type: 'uploaded', mediaType: 'video/mp4' }), 'failed'],
  ])('maps the end state %j to %s', async (answer, state) => {
    const videos = getVideos(scripted(answer).model);
    expect(await videos.poll(await videos.submit(WISH, {}), {})).toMatchObject({ state });
  });

  test.each([
    [429, 'overloaded'],
    [401, 'rejected_key'],
    [500, 'failed'],
  ])('maps status %i to its kind and redacts the key', async (statusCode, kind) => {
    const error = Object.assign(new Error('no, my-secret'), { statusCode });
    const { model } = scripted(error);
    const videos = getVideos(model, { withKey: () => model });
    const id = await videos.submit(WISH, { apiKey: 'my-secret' });
    const failure = (await toFailure(videos.poll(id, { apiKey: 'my-secret' }))) as Error;
    expect(failure).toMatchObject({ name: 'ProviderError', kind });
    expect(failure.message).not.toContain('my-secret');
  });

  test('rejects videos without an owner and unusable keys', async () => {
    const videos = getVideos(scripted().model);
    expect(await toFailure(videos.poll('not a job', {}))).toMatchObject({ kind: 'failed' });
    expect(await toFailure(videos.submit({ ...WISH, model: 'other' }, {}))).toMatchObject({
      kind: 'invalid_request',
    });
    expect(await toFailure(videos.submit(WISH, { apiKey: 'k' }))).toMatchObject({ kind: 'not_configured' });
    const gone = new Error('gone');
    expect(await toFailure(videos.submit(WISH, { signal: AbortSignal.abort(gone) }))).toBe(gone);
  });
});

test('rejects at startup a model without polling and videos without a downloader', () => {
  const fetchFile = async () => ({ mediaType: 'video/mp4', data: VIDEO });
  const { model } = scripted();
  const make = (one: object, more: object = { fetchFile }) =>
    createAiSdkProvider({
      id: 'bridge',
      models: [],
      media: [{ id: 'video', type: 'video', model: one as AiSdkVideoModel }],
      ...more,
    });
  expect(() => make({ ...model, doStatus: undefined })).toThrow(/doStart and doStatus/);
  expect(() => make({ ...model, specificationVersion: 'v3' })).toThrow(TypeError);
  expect(() => make(model, {})).toThrow(/fetchFile/);
  expect(make(model).models()).toMatchObject([{ id: 'video', type: 'video', provider: 'bridge' }]);
  expect(createAiSdkProvider({ id: 'bridge', models: [] }).video).toBeUndefined();
});
