import { setImmediate as turn } from 'node:timers/promises';
import type { MediaJobs, ModelInfo, ModelProvider, VideoRequest } from '@questline/core/ports';
import type { ProviderOptions } from '@questline/providers';
import { createGeminiProvider } from '@questline/providers/gemini';
import { createOpenAIProvider } from '@questline/providers/openai';
import { createXAIProvider } from '@questline/providers/xai';
import {
  createGeminiUpstream,
  createOpenAIUpstream,
  createXAIUpstream,
  type Upstream,
  type UpstreamOptions,
  type VideoScript,
} from '@questline/testing/upstreams';
import { afterEach, describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';
import { FILM_MODEL, getVideo, POLL_MS } from '../support/generations.ts';

interface Kind {
  readonly name: string;
  readonly model: string;
  readonly createUpstream: (options: UpstreamOptions) => Promise<Upstream>;
  readonly createProvider: (options: ProviderOptions) => ModelProvider;
  /** Whether the video needs a separate request after its job is done. */
  readonly delivers: boolean;
}

const OPENAI = { createUpstream: createOpenAIUpstream, createProvider: createOpenAIProvider };
const GEMINI = { createUpstream: createGeminiUpstream, createProvider: createGeminiProvider };
const XAI = { createUpstream: createXAIUpstream, createProvider: createXAIProvider };

const KINDS: readonly Kind[] = [
  { name: "OpenAI's protocol", model: 'a-video-model', delivers: true, ...OPENAI },
  { name: 'Gemini, by interactions', model: 'gemini-omni-1.2-flash', delivers: false, ...GEMINI },
  { name: 'Gemini, by operations', model: 'veo-3.1-generate-001', delivers: true, ...GEMINI },
  { name: 'xAI', model: 'grok-imagine-video-1.5', delivers: true, ...XAI },
];

const VIDEO = getVideo(200_000);
const OVER = ['succeeded', 'failed', 'blocked', 'cancelled'];

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Counts the pending calls to the provider. */
function counted(jobs: MediaJobs<VideoRequest>) {
  const count = { inFlight: 0 };
  const during = async <T>(work: () => Promise<T>): Promise<T> => {
    count.inFlight += 1;
    try {
      return await work();
    } finally {
      count.inFlight -= 1;
    }
  };
  const video: MediaJobs<VideoRequest> = {
    submit: (request, options) => during(() => jobs.submit(request, options)),
    poll: (id, options) => during(() => jobs.poll(id, options)),
    // Downloads the whole video before it returns, so that no network call is pending afterwards.
    fetch: (output, options) =>
      during(async () => {
        const { mediaType, body } = await jobs.fetch(output, options);
        const pieces: Uint8Array[] = [];
        for await (const piece of body) pieces.push(piece);
        return {
          mediaType,
          body: (async function* () {
            yield* pieces;
          })(),
        };
      }),
  };
  return { video, count };
}

async function setUp(kind: Kind, script: VideoScript = {}) {
  const upstream = await kind.createUpstream({ script: { video: { looks: 2, data: VIDEO, ...script } } });
  closers.push(() => upstream.close());
  const model: ModelInfo = { ...FILM_MODEL, providerModel: kind.model };
  const provider = kind.createProvider({
    id: 'videos',
    apiKey: 'sk-platform-secret',
    baseUrl: upstream.baseUrl,
    models: () => [model],
  });
  closers.push(async () => provider.close?.());
  if (provider.video === undefined) throw new Error('makes no videos');
  const { video, count } = counted(provider.video);
  const app = await createChatApp({
    models: [{ ...provider, video }],
    settings: { generations: { pollMs: POLL_MS } },
  });
  const path = '/api/v1/video-generations';
  const look = async (id: string) => (await app.json('GET', `${path}/${id}`)).body;
  return {
    ...app,
    upstream,
    look,
    spent: async () => 1000 - (await app.ledger.balance(app.account)).available / 1e6,
    order: async (): Promise<string> => {
      const body = { model: 'director', prompt: 'A red panda walks', duration_seconds: 4 };
      return (await app.json('POST', path, { body })).body.id;
    },
    /** Advances the clock, but never while a network call is pending, which uses real time. */
    async until(condition: () => Promise<boolean>) {
      for (let quiet = 0; !(await condition()); await turn()) {
        quiet = count.inFlight === 0 ? quiet + 1 : 0;
        if (quiet < 20) continue;
        quiet = 0;
        await app.clock.advance(1000);
      }
    },
    /** Waits for the end and for the file check. @returns the generation as its owner sees it. */
    async ended(id: string) {
      await this.until(async () => {
        const { state, output } = await look(id);
        return OVER.includes(state) && output?.availability !== 'pending_scan';
      });
      return look(id);
    },
  };
}

describe.each(KINDS)('video of $name', (kind) => {
  it('is submitted once, stored completely and charged', async () => {
    const app = await setUp(kind);
    const video = await app.ended(await app.order());
    expect(video).toMatchObject({
      state: 'succeeded',
      error: null,
      output: { availability: 'ready', content_type: 'video/mp4', duration_seconds: 4 },
      credits: { reserved: null, settled: 4 },
    });
    const bytes = await app.ask('GET', video.output?.url ?? '', { credential: null });
    expect(Buffer.from(await bytes.arrayBuffer()).equals(VIDEO)).toBe(true);
    expect(await app.spent()).toBe(4);
    expect(app.upstream.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(app.incidents).toEqual([]);
  });

  it.each([
    ['failed', 'provider_error'],
    ['blocked', 'content_blocked'],
  ] as const)('is free and hides the provider text when it is %s', async (end, code) => {
    const app = await setUp(kind, { end });
    const video = await app.ended(await app.order());
    expect(video).toMatchObject({ state: end, error: { code }, output: null, credits: { settled: 0 } });
    expect(JSON.stringify(video)).not.toContain('words of the provider');
    expect(await app.spent()).toBe(0);
  });

  it('fails free of charge after the maximum time', async () => {
    const app = await setUp(kind, { looks: Number.POSITIVE_INFINITY });
    const id = await app.order();
    await app.until(async () => (await app.look(id)).state === 'running');
    await app.clock.advance(3_600_000);
    expect(await app.ended(id)).toMatchObject({ state: 'failed', error: { code: 'provider_timeout' } });
    expect(await app.spent()).toBe(0);
  });

  it.each([
    [401, 'provider_rejected'],
    [400, 'invalid_request'],
  ])('fails free of charge without the provider text on status %i', async (status, code) => {
    const app = await setUp(kind);
    const body = { error: { message: 'words of the provider, sk-platform-secret' } };
    app.upstream.use({ refusal: { status, body } });
    const video = await app.ended(await app.order());
    expect(video).toMatchObject({ state: 'failed', error: { code } });
    expect(JSON.stringify(video)).not.toMatch(/words of the provider|sk-platform/);
    expect(await app.spent()).toBe(0);
  });

  it('survives polls that are rejected for a while', async () => {
    const app = await setUp(kind, { looks: 0 });
    const id = await app.order();
    await app.until(async () => app.upstream.requests.length === 1);
    const video = { looks: 0, data: VIDEO };
    app.upstream.use(() =>
      app.upstream.requests.length < 4 ? { refusal: { status: 503, body: 'busy' } } : { video },
    );
    expect(await app.ended(id)).toMatchObject({ state: 'succeeded', credits: { settled: 4 } });
    expect(app.upstream.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });
});

describe.each(KINDS.filter(({ delivers }) => delivers))(
  'interrupted download of a video of $name',
  (kind) => {
    it('is repeated and charged once', async () => {
      const app = await setUp(kind, { looks: 0 });
      const id = await app.order();
      let cuts = 0;
      app.upstream.use(({ path }) => {
        if (!/content|download|kept/.test(path) || cuts === 2) return { video: { looks: 0, data: VIDEO } };
        cuts += 1;
        return { truncate: { at: 100_000, by: 'disconnect' } };
      });
      const video = await app.ended(id);
      expect(video).toMatchObject({ state: 'succeeded', credits: { settled: 4 } });
      const bytes = await app.ask('GET', video.output?.url ?? '', { credential: null });
      expect(Buffer.from(await bytes.arrayBuffer()).equals(VIDEO)).toBe(true);
      expect([cuts, await app.spent()]).toEqual([2, 4]);
    });
  },
);
