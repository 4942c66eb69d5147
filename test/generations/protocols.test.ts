import { setImmediate as turn } from 'node:timers/promises';
import type { MediaJobs, ModelInfo, ModelProvider, VideoRequest } from '@questline/core';
import type { ProviderOptions } from '@questline/providers';
import { createGeminiProvider } from '@questline/providers/gemini';
import { createOpenAIProvider } from '@questline/providers/openai';
import { createXAIProvider } from '@questline/providers/xai';
import {
  createGeminiUpstream,
  createOpenAIUpstream,
  createXAIUpstream,
  type FilmScript,
  type Upstream,
  type UpstreamOptions,
} from '@questline/testing/upstreams';
import { afterEach, describe, expect, it } from 'vitest';
import { createChatWorld } from '../support/chat.ts';
import { FILM_MODEL, filmOf, POLL_MS } from '../support/generations.ts';

interface Kind {
  readonly name: string;
  readonly model: string;
  readonly createUpstream: (options: UpstreamOptions) => Promise<Upstream>;
  readonly createProvider: (options: ProviderOptions) => ModelProvider;
  /** Whether the film is asked for by itself, once its job is done. */
  readonly delivers: boolean;
}

const OPENAI = { createUpstream: createOpenAIUpstream, createProvider: createOpenAIProvider };
const GEMINI = { createUpstream: createGeminiUpstream, createProvider: createGeminiProvider };
const XAI = { createUpstream: createXAIUpstream, createProvider: createXAIProvider };

const KINDS: readonly Kind[] = [
  { name: "OpenAI's protocol", model: 'a-film-model', delivers: true, ...OPENAI },
  { name: 'Gemini, by interactions', model: 'gemini-omni-1.2-flash', delivers: false, ...GEMINI },
  { name: 'Gemini, by operations', model: 'veo-3.1-generate-001', delivers: true, ...GEMINI },
  { name: 'xAI', model: 'grok-imagine-video-1.5', delivers: true, ...XAI },
];

const FILM = filmOf(200_000);
const OVER = ['succeeded', 'failed', 'blocked', 'cancelled'];

const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Knows when nothing is on its way to the provider or back. */
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
    // The film is a matter of one step here: what is seen of it afterwards is the same.
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

async function setUp(kind: Kind, film: FilmScript = {}) {
  const upstream = await kind.createUpstream({ script: { film: { looks: 2, data: FILM, ...film } } });
  closers.push(() => upstream.close());
  const model: ModelInfo = { ...FILM_MODEL, providerModel: kind.model };
  const provider = kind.createProvider({
    id: 'films',
    apiKey: 'sk-platform-secret',
    baseUrl: upstream.baseUrl,
    models: () => [model],
  });
  closers.push(async () => provider.close?.());
  if (provider.video === undefined) throw new Error('makes no films');
  const { video, count } = counted(provider.video);
  const world = await createChatWorld({
    models: [{ ...provider, video }],
    settings: { generations: { pollMs: POLL_MS } },
  });
  const path = '/api/v1/video-generations';
  const look = async (id: string) => (await world.json('GET', `${path}/${id}`)).body;
  return {
    ...world,
    upstream,
    look,
    spent: async () => 1000 - (await world.ledger.balance(world.account)).available / 1e6,
    order: async (): Promise<string> => {
      const body = { model: 'director', prompt: 'A red panda walks', duration_seconds: 4 };
      return (await world.json('POST', path, { body })).body.id;
    },
    /** Lets time pass, but never while somebody waits for the network: there it is another time. */
    async until(condition: () => Promise<boolean>) {
      for (let quiet = 0; !(await condition()); await turn()) {
        quiet = count.inFlight === 0 ? quiet + 1 : 0;
        if (quiet < 20) continue;
        quiet = 0;
        await world.clock.advance(1000);
      }
    },
    /** Waits for the end, and for the film to have been looked at. @returns it as its owner sees it. */
    async ended(id: string) {
      await this.until(async () => {
        const { state, output } = await look(id);
        return OVER.includes(state) && output?.availability !== 'pending_scan';
      });
      return look(id);
    },
  };
}

describe.each(KINDS)('a film of $name', (kind) => {
  it('is asked for once, kept whole, and charged', async () => {
    const world = await setUp(kind);
    const film = await world.ended(await world.order());
    expect(film).toMatchObject({
      state: 'succeeded',
      error: null,
      output: { availability: 'ready', content_type: 'video/mp4', duration_seconds: 4 },
      credits: { reserved: null, settled: 4 },
    });
    const bytes = await world.ask('GET', film.output.url, { credential: null });
    expect(Buffer.from(await bytes.arrayBuffer()).equals(FILM)).toBe(true);
    expect(await world.spent()).toBe(4);
    expect(world.upstream.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(world.incidents).toEqual([]);
  });

  it.each([
    ['failed', 'provider_error'],
    ['blocked', 'content_blocked'],
  ] as const)('that its provider has %s is free, and told in our words', async (end, code) => {
    const world = await setUp(kind, { end });
    const film = await world.ended(await world.order());
    expect(film).toMatchObject({ state: end, error: { code }, output: null, credits: { settled: 0 } });
    expect(JSON.stringify(film)).not.toContain('words of the provider');
    expect(await world.spent()).toBe(0);
  });

  it('that never ends is given up, and free', async () => {
    const world = await setUp(kind, { looks: Number.POSITIVE_INFINITY });
    const id = await world.order();
    await world.until(async () => (await world.look(id)).state === 'running');
    await world.clock.advance(3_600_000);
    expect(await world.ended(id)).toMatchObject({ state: 'failed', error: { code: 'provider_timeout' } });
    expect(await world.spent()).toBe(0);
  });

  it.each([
    [401, 'provider_rejected'],
    [400, 'invalid_request'],
  ])('that is refused with %i fails, free and without the words', async (status, code) => {
    const world = await setUp(kind);
    const body = { error: { message: 'words of the provider, sk-platform-secret' } };
    world.upstream.use({ refusal: { status, body } });
    const film = await world.ended(await world.order());
    expect(film).toMatchObject({ state: 'failed', error: { code } });
    expect(JSON.stringify(film)).not.toMatch(/words of the provider|sk-platform/);
    expect(await world.spent()).toBe(0);
  });

  it('survives polls that are refused for a while', async () => {
    const world = await setUp(kind, { looks: 0 });
    const id = await world.order();
    await world.until(async () => world.upstream.requests.length === 1);
    const film = { looks: 0, data: FILM };
    world.upstream.use(() =>
      world.upstream.requests.length < 4 ? { refusal: { status: 503, body: 'busy' } } : { film },
    );
    expect(await world.ended(id)).toMatchObject({ state: 'succeeded', credits: { settled: 4 } });
    expect(world.upstream.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });
});

describe.each(KINDS.filter(({ delivers }) => delivers))('a film of $name that is delivered', (kind) => {
  it('in part is fetched again, and charged once', async () => {
    const world = await setUp(kind, { looks: 0 });
    const id = await world.order();
    let cuts = 0;
    world.upstream.use(({ path }) => {
      if (!/content|download|kept/.test(path) || cuts === 2) return { film: { looks: 0, data: FILM } };
      cuts += 1;
      return { truncate: { at: 100_000, by: 'disconnect' } };
    });
    const film = await world.ended(id);
    expect(film).toMatchObject({ state: 'succeeded', credits: { settled: 4 } });
    const bytes = await world.ask('GET', film.output.url, { credential: null });
    expect(Buffer.from(await bytes.arrayBuffer()).equals(FILM)).toBe(true);
    expect([cuts, await world.spent()]).toEqual([2, 4]);
  });
});
