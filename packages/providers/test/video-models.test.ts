import type {
  MediaJobStatus,
  MediaJobs,
  ModelProvider,
  ProviderErrorKind,
  VideoRequest,
} from '@questline/core/ports';
import { createGeminiProvider } from '@questline/providers/gemini';
import { createOpenAIProvider } from '@questline/providers/openai';
import { createXAIProvider } from '@questline/providers/xai';
import {
  createGeminiUpstream,
  createOpenAIUpstream,
  createXAIUpstream,
  type Script,
  type ScriptSource,
  type Upstream,
  type UpstreamRequest,
  type VideoScript,
} from '@questline/testing/upstreams';
import { describe, expect, test } from 'vitest';
import { each, failure } from './collect.ts';
import { connect, never, rawServer } from './set-up.ts';

const PICTURE = { mediaType: 'image/png', data: Buffer.from('a picture') };
const WISH: VideoRequest = {
  model: 'm',
  prompt: 'A cat plays the piano',
  durationSeconds: 4,
  aspectRatio: '16:9',
  resolution: '720p',
};

type Connected = Promise<{ upstream: Upstream; provider: ModelProvider }>;

interface Kind {
  readonly name: string;
  readonly model: string;
  readonly connect: (
    script?: ScriptSource,
    options?: { firstByteTimeoutMs?: number; idleTimeoutMs?: number },
  ) => Connected;
  /** Path and body of the submission. */
  readonly order: readonly [string, unknown];
  /** How the request contains the first frame. */
  readonly picture: (request: UpstreamRequest) => Promise<unknown>;
  /** The answer to a rejected prompt. */
  readonly refused: { readonly status: number; readonly body: unknown };
  readonly cancels: boolean;
}

const base64 = PICTURE.data.toString('base64');

async function getForm({ bytes, headers }: UpstreamRequest): Promise<FormData> {
  const type = String(headers['content-type']);
  return new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
}

const KINDS: readonly Kind[] = [
  {
    name: 'OpenAI',
    model: 'sora-2',
    connect: (script = {}, options = {}) =>
      connect(createOpenAIUpstream, createOpenAIProvider, script, options),
    order: ['/v1/videos', { model: 'sora-2', prompt: WISH.prompt, seconds: '4', size: '1280x720' }],
    picture: async (request) => ((await getForm(request)).get('input_reference') as File).text(),
    refused: { status: 400, body: { error: { message: 'no', code: 'moderation_blocked' } } },
    cancels: true,
  },
  {
    name: 'Gemini, by interactions',
    model: 'gemini-omni-1.2-flash',
    connect: (script = {}, options = {}) =>
      connect(createGeminiUpstream, createGeminiProvider, script, options),
    order: [
      '/v1beta/interactions',
      {
        model: 'gemini-omni-1.2-flash',
        input: WISH.prompt,
        background: true,
        store: true,
        response_format: {
          type: 'video',
          aspect_ratio: '16:9',
          resolution: '720p',
          duration: '4s',
          delivery: 'uri',
        },
        generation_config: { video_config: { task: 'text_to_video' } },
      },
    ],
    picture: async ({ body }) =>
      Buffer.from((body as { input: [{ data: string }] }).input[0].data, 'base64').toString(),
    refused: {
      status: 400,
      body: {
        error: { code: 400, status: 'INVALID_ARGUMENT', message: 'It violates our usage guidelines.' },
      },
    },
    cancels: true,
  },
  {
    name: 'Gemini, by operations',
    model: 'veo-3.1-generate-001',
    connect: (script = {}, options = {}) =>
      connect(createGeminiUpstream, createGeminiProvider, script, options),
    order: [
      '/v1beta/models/veo-3.1-generate-001:predictLongRunning',
      {
        instances: [{ prompt: WISH.prompt }],
        parameters: { aspectRatio: '16:9', resolution: '720p', durationSeconds: 4 },
      },
    ],
    picture: async ({ body }) => {
      const [instance] = (body as { instances: [{ image: { bytesBase64Encoded: string } }] }).instances;
      return Buffer.from(instance.image.bytesBase64Encoded, 'base64').toString();
    },
    refused: {
      status: 400,
      body: {
        error: { code: 400, status: 'INVALID_ARGUMENT', message: 'It violates our usage guidelines.' },
      },
    },
    cancels: false,
  },
  {
    name: 'xAI',
    model: 'grok-imagine-video-1.5',
    connect: (script = {}, options = {}) => connect(createXAIUpstream, createXAIProvider, script, options),
    order: [
      '/v1/videos/generations',
      {
        model: 'grok-imagine-video-1.5',
        prompt: WISH.prompt,
        duration: 4,
        aspect_ratio: '16:9',
        resolution: '720p',
      },
    ],
    picture: async ({ body }) => {
      const { image } = body as { image: { url: string } };
      expect(image.url).toBe(`data:image/png;base64,${base64}`);
      return 'a picture';
    },
    refused: { status: 403, body: { code: 'forbidden', error: 'It violates our usage guidelines.' } },
    cancels: false,
  },
];

const getJobs = ({ video }: ModelProvider): MediaJobs<VideoRequest> => {
  if (video === undefined) throw new Error('makes no videos');
  return video;
};

async function toBytes(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Polls until the job ends. */
async function follow(jobs: MediaJobs<VideoRequest>, id: string): Promise<MediaJobStatus[]> {
  const seen: MediaJobStatus[] = [];
  for (;;) {
    const status = await jobs.poll(id, {});
    seen.push(status);
    if (status.state !== 'waiting' && status.state !== 'running') return seen;
  }
}

const recorded = (video: VideoScript): Script => ({ video });

describe.each(KINDS)('videos of $name', (kind) => {
  const input = { ...WISH, model: kind.model };

  async function order(video: VideoScript = {}) {
    const { provider, upstream } = await kind.connect(recorded(video));
    const jobs = getJobs(provider);
    return { jobs, upstream, id: await jobs.submit(input, {}) };
  }

  test('are submitted once, polled and fetched, with the key only in a header', async () => {
    const data = Buffer.from('the bytes of a video'.repeat(10_000));
    const { jobs, upstream, id } = await order({ looks: 3, data });
    const [path, body] = kind.order;
    const request = await upstream.request(0);
    expect(request).toMatchObject({ method: 'POST', path });
    const sent = kind.name === 'OpenAI' ? Object.fromEntries(await getForm(request)) : request.body;
    expect(sent).toEqual(body);

    const seen = await follow(jobs, id);
    expect(seen).toHaveLength(4);
    const last = seen.at(-1);
    if (last?.state !== 'done') throw new Error('expected a failure');
    expect(JSON.stringify(last.output).length).toBeLessThan(200);
    if (kind.name !== 'Gemini, by operations' && kind.name !== 'Gemini, by interactions') {
      expect(last).toMatchObject({ durationSeconds: 4 });
    }
    const { mediaType, body: video } = await jobs.fetch(last.output, {});
    expect(mediaType).toBe('video/mp4');
    expect((await toBytes(video)).equals(data)).toBe(true);
    expect(upstream.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    for (const { path: asked, headers } of upstream.requests) {
      expect(asked).not.toContain('sk-platform');
      expect(JSON.stringify(headers)).toContain('sk-platform-secret');
    }
  });

  test('report known progress', async () => {
    const { jobs, id } = await order({ looks: 4 });
    const seen = await follow(jobs, id);
    for (const status of seen.slice(0, -1)) {
      if (status.state === 'waiting' || status.state === 'running') {
        expect(status.progress ?? 0).toBeGreaterThanOrEqual(0);
        expect(status.progress ?? 0).toBeLessThan(1);
      }
    }
  });

  test('start from an image', async () => {
    const { provider, upstream } = await kind.connect();
    await getJobs(provider).submit({ ...input, image: PICTURE }, {});
    expect(await kind.picture(await upstream.request(0))).toBe('a picture');
  });

  test.each(['failed', 'blocked'] as const)('report the end state %s to operators', async (end) => {
    const { jobs, id } = await order({ end });
    expect((await follow(jobs, id)).at(-1)).toMatchObject({ state: end, message: expect.any(String) });
  });

  test('remain running when they never finish', async () => {
    const { jobs, id } = await order({ looks: Number.POSITIVE_INFINITY });
    for (let look = 0; look < 20; look += 1) {
      expect(['waiting', 'running']).toContain((await jobs.poll(id, {})).state);
    }
  });

  test('can be polled by another instance', async () => {
    const { upstream, id } = await order();
    const { provider } = await kind.connect();
    expect((await failure(getJobs(provider).poll(id, {}))).kind).toBe('invalid_request');
    expect(upstream.requests).toHaveLength(1);
  });

  test('are cancelled where the provider supports it', async () => {
    const { jobs, upstream, id } = await order();
    await jobs.cancel?.(id, {});
    expect(upstream.requests).toHaveLength(kind.cancels ? 2 : 1);
    if (kind.cancels) expect((await failure(jobs.poll(id, {}))).kind).toBe('invalid_request');
  });

  test.each<[number, ProviderErrorKind]>([
    [401, 'rejected_key'],
    [403, 'rejected_key'],
    [429, 'overloaded'],
    [503, 'overloaded'],
    [500, 'failed'],
    [504, 'timeout'],
  ])('report status %i at every step without the key', async (status, expected) => {
    const { provider, upstream } = await kind.connect();
    const jobs = getJobs(provider);
    const id = await jobs.submit(input, {});
    const done = (await follow(jobs, id)).at(-1);
    upstream.use({ refusal: { status, body: { error: { message: 'no, sk-platform-secret' } } } });
    const calls = [jobs.submit(input, {}), jobs.poll(id, {})];
    if (done?.state === 'done') calls.push(jobs.fetch(done.output, {}) as never);
    for (const call of calls) {
      const error = await failure(call);
      expect(error.kind).toBe(expected);
      expect(error.message).not.toContain('sk-platform');
    }
  });

  test('are blocked when the prompt is rejected', async () => {
    const { provider } = await kind.connect({ refusal: kind.refused });
    expect((await failure(getJobs(provider).submit(input, {}))).kind).toBe('content_blocked');
  });

  test.each([
    ['nothing', '', 'failed'],
    ['no object', '[1,2]', 'failed'],
    ['no JSON', '{"id":', 'malformed_answer'],
    ['a page', '<html>', 'malformed_answer'],
  ])('fail when the response is %s', async (_name, said, expected) => {
    const type = said.startsWith('<') ? 'text/html' : 'application/json';
    const address = await rawServer((socket) => {
      socket.once('data', () =>
        socket.end(
          `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${said.length}\r\nconnection: close\r\n\r\n${said}`,
        ),
      );
    });
    const { provider } = await kind.connect();
    const jobs = getJobs(provider);
    const id = await jobs.submit(input, {});
    const { provider: broken } = await connectAt(kind, `http://${address}/v1`);
    expect((await failure(getJobs(broken).submit(input, {}))).kind).toBe(expected);
    expect((await failure(getJobs(broken).poll(id, {}))).kind).toBe(expected);
  });

  test('fail wherever their download breaks off', async () => {
    const data = Buffer.from('a short video');
    const { jobs, upstream, id } = await order({ looks: 0, data });
    const done = await jobs.poll(id, {});
    if (done.state !== 'done') throw new Error('expected a failure');
    // A video in the answer of the job breaks off with it, which the tests of broken answers cover.
    if (JSON.stringify(done.output).includes('interaction')) return;
    for (const at of data.keys()) {
      upstream.use({ truncate: { at, by: 'disconnect' } });
      const taking = async () => toBytes((await jobs.fetch(done.output, {})).body);
      expect((await failure(taking())).kind).toBe('failed');
    }
  });

  test('are not submitted without a key', async () => {
    const { provider, upstream } = await kind.connect({}, { apiKey: '' } as never);
    expect((await failure(getJobs(provider).submit(input, {}))).kind).toBe('not_configured');
    expect(upstream.requests).toHaveLength(0);
  });

  test('stop polling when the caller aborts', async () => {
    const { provider, upstream } = await kind.connect({ wait: never });
    const abort = new AbortController();
    const asking = getJobs(provider)
      .submit(input, { signal: abort.signal })
      .catch((error: unknown) => error);
    const request = await upstream.request(0);
    abort.abort(new Error('gone'));
    expect(await asking).toMatchObject({ message: 'gone' });
    await request.disconnected;
  });

  test('time out when the provider is slow', async () => {
    const { provider } = await kind.connect({ wait: never }, { firstByteTimeoutMs: 50 });
    const jobs = getJobs(provider);
    await each(2, async (step) => {
      const call = step === 0 ? jobs.submit(input, {}) : jobs.poll('a/operations/b', {});
      expect((await failure(call)).kind).toBe('timeout');
    });
  });
});

async function connectAt(kind: Kind, baseUrl: string): Connected {
  return kind.connect({}, { baseUrl } as never);
}

describe('video catalogue', () => {
  test.each([
    ['gemini', createGeminiProvider],
    ['xai', createXAIProvider],
  ] as const)('has videos of %s with a price for every resolution', (_name, create) => {
    const videos = create({ apiKey: 'k' })
      .models()
      .filter(({ type }) => type === 'video');
    expect(videos.length).toBeGreaterThan(0);
    for (const { video, prices } of videos) {
      expect(Object.keys(prices?.secondByResolution ?? {})).toEqual(video?.resolutions);
      expect(prices?.second).toBe(Math.max(...Object.values(prices?.secondByResolution ?? {})));
      expect(video?.resolutions).toContain(video?.defaults.resolution);
      expect(video?.aspectRatios).toContain(video?.defaults.aspectRatio);
    }
  });

  test('has no videos of OpenAI, which retired them', () => {
    const types = createOpenAIProvider({ apiKey: 'k' })
      .models()
      .map(({ type }) => type);
    expect(types).not.toContain('video');
  });
});

test.each([
  ['16:9', '720p', '1280x720'],
  ['9:16', '1080p', '1080x1920'],
  ['1:1', '480p', '480x480'],
  ['16:9', '480p', '854x480'],
  ['21:9', '4k', '5040x2160'],
])('makes a video of %s at %s with %s pixels', async (aspectRatio, resolution, size) => {
  const { provider, upstream } = await connect(createOpenAIUpstream, createOpenAIProvider, {}, {});
  await getJobs(provider).submit({ ...WISH, aspectRatio, resolution }, {});
  expect((await getForm(await upstream.request(0))).get('size')).toBe(size);
});

test('rejects an unknown aspect ratio before any call', async () => {
  const { provider, upstream } = await connect(createOpenAIUpstream, createOpenAIProvider, {}, {});
  expect((await failure(getJobs(provider).submit({ ...WISH, resolution: '8k' }, {}))).kind).toBe(
    'invalid_request',
  );
  expect((await failure(getJobs(provider).submit({ ...WISH, aspectRatio: 'wide' }, {}))).kind).toBe(
    'invalid_request',
  );
  expect(upstream.requests).toHaveLength(0);
});
