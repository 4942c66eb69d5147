import { FILES, GENERATIONS } from '@questline/core/internal';
import { createMemoryObjects } from '@questline/core/memory';
import { ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import {
  createGenerationApp,
  createVideoStudio,
  done,
  FILM_MODEL,
  type GenerationApp,
  getVideo,
  POLL_MS,
  SONG_MODEL,
} from '../support/generations.ts';
import { createSoundStudio, PICTURE, toAudio } from '../support/media.ts';

const AN_ID = expect.stringMatching(/^[0-9a-f]{24}$/);

async function charges(app: GenerationApp): Promise<readonly number[]> {
  const entries = await app.ledger.entries(app.account, { limit: 500 });
  return entries.filter(({ kind }) => kind === 'charge').map(({ amount }) => -amount / 1e6);
}

describe('video generation', () => {
  it('is neither made nor charged when the queue rejects it, unless it can be repeated', async () => {
    const app = await createGenerationApp();
    const { queue, store } = app.services;
    const works = queue.enqueue.bind(queue);
    queue.enqueue = () => Promise.reject(new Error('away'));
    expect((await app.video()).status).toBe(500);
    expect(await app.spent()).toBe(0);
    expect(await store.collection(GENERATIONS).find({})).toEqual([]);

    const again = { headers: { 'Idempotency-Key': 'one' } };
    expect((await app.video({}, again)).status).toBe(500);
    queue.enqueue = works;
    expect((await app.video({}, again)).status).toBe(202);
    await app.settle();
    expect(app.studio.videos.all).toHaveLength(1);
  });

  it('is acknowledged at once with its credits held', async () => {
    const app = await createGenerationApp();
    const { status, body } = await app.video({ duration_seconds: 4, resolution: '1080p', audio: true });
    expect([status, body]).toEqual([
      202,
      {
        id: AN_ID,
        object: 'video_generation',
        state: 'pending',
        model: 'director',
        mode: 'text_to_video',
        prompt: 'A red panda walks',
        duration_seconds: 4,
        aspect_ratio: '16:9',
        resolution: '1080p',
        source: 'api',
        progress: null,
        error: null,
        output: null,
        credits: { reserved: 12, settled: null },
        created_at: '2026-11-21T12:00:00.000Z',
        updated_at: '2026-11-21T12:00:00.000Z',
      },
    ]);
    expect(await app.spent()).toBe(12);
    await app.settle();
    expect(app.studio.videos.all.map(({ request }) => request)).toEqual([
      {
        model: 'director',
        prompt: 'A red panda walks',
        durationSeconds: 4,
        aspectRatio: '16:9',
        resolution: '1080p',
        audio: true,
      },
    ]);
    expect(await app.look(body.id)).toMatchObject({ state: 'running', credits: { reserved: 12 } });
  });

  it('is finished, stored and charged without polling', async () => {
    const app = await createGenerationApp();
    const { body } = await app.video();
    await app.settle();
    const [job] = app.studio.videos.all;
    if (job === undefined) throw new Error('no request reached the provider');
    done(job, 7.5);
    await app.pollsPass();
    expect(await charges(app)).toEqual([7.5]);
    expect(await app.spent()).toBe(7.5);
    const video = await app.look(body.id);
    expect(video).toMatchObject({
      state: 'succeeded',
      progress: 1,
      error: null,
      output: {
        availability: 'ready',
        content_type: 'video/mp4',
        duration_seconds: 7.5,
        file_id: AN_ID,
        expires_at: '2026-11-21T12:15:05.000Z',
      },
      credits: { reserved: null, settled: 7.5 },
    });
    const bytes = await app.ask('GET', video.output?.url ?? '', { credential: null });
    expect(bytes.headers.get('content-type')).toBe('video/mp4');
    expect(Buffer.from(await bytes.arrayBuffer())).toEqual(getVideo());
    const file = await app.services.store.collection(FILES).get(video.output?.file_id ?? '');
    expect(file).toMatchObject({ ownerId: app.user.id, source: 'generated', status: 'clean' });
    expect(app.incidents).toEqual([]);
  });

  it('has an address that is signed anew on each read', async () => {
    const app = await createGenerationApp(createVideoStudio({ onJob: (job) => done(job) }));
    const { body } = await app.video();
    await app.settle();
    await app.pollsPass();
    const first = (await app.look(body.id)).output;
    await app.clock.advance(60_000);
    const second = (await app.look(body.id)).output;
    expect(second?.url).not.toBe(first?.url);
    expect(Date.parse(second?.expires_at ?? '') - Date.parse(first?.expires_at ?? '')).toBe(60_000);
  });

  it('reports its progress and ends within two polls of its provider', async () => {
    const app = await createGenerationApp();
    const { body } = await app.video();
    await app.settle();
    const [job] = app.studio.videos.all;
    if (job === undefined) throw new Error('no request reached the provider');
    job.status = { state: 'running', progress: 0.25 };
    await app.pollsPass();
    expect(await app.look(body.id)).toMatchObject({ state: 'running', progress: 0.25 });
    job.status = { state: 'running', progress: 7 };
    await app.pollsPass();
    expect(await app.look(body.id)).toMatchObject({ progress: 1 });
    done(job);
    await app.pollsPass();
    expect(await app.look(body.id)).toMatchObject({ state: 'succeeded' });
    expect(job.polls).toBe(3);
  });

  it('starts from an image of the caller', async () => {
    const app = await createGenerationApp();
    const made = { name: 'x.png', mimeType: 'image/png', content: PICTURE.data };
    const { file } = await app.services.library.save(app.user.id, made);
    const { body } = await app.video({ input_image_file_id: file?.id });
    expect(body).toMatchObject({ mode: 'image_to_video' });
    await app.settle();
    expect(app.studio.videos.all[0]?.request.image).toEqual({ mediaType: 'image/png', data: PICTURE.data });
  });

  it('fails free of charge when its image is deleted before it starts', async () => {
    const app = await createGenerationApp(createVideoStudio(), { started: false });
    const made = { name: 'x.png', mimeType: 'image/png', content: PICTURE.data };
    const { file } = await app.services.library.save(app.user.id, made);
    const { body } = await app.video({ input_image_file_id: file?.id });
    await app.services.store.collection(FILES).take(file?.id ?? '');
    await app.api.start();
    await app.settle();
    expect(await app.look(body.id)).toMatchObject({
      state: 'failed',
      error: { code: 'input_image_not_found' },
    });
    expect([app.studio.videos.all.length, await app.spent()]).toEqual([0, 0]);
  });

  it('is checked like an upload before it is visible', async () => {
    const app = await createGenerationApp(createVideoStudio({ onJob: (job) => done(job) }), {
      settings: { worker: { concurrency: { 'files.scan': 0 } } },
    });
    const { body } = await app.video();
    await app.settle();
    await app.pollsPass();
    expect(await app.look(body.id)).toMatchObject({
      state: 'succeeded',
      output: { availability: 'pending_scan', url: null, expires_at: null, file_id: AN_ID },
      credits: { settled: 8 },
    });
  });

  it('is unavailable when it is blocked or its file is deleted', async () => {
    const app = await createGenerationApp(createVideoStudio({ onJob: (job) => done(job) }), {
      moderator: { check: async () => ({ isClean: false, reason: 'no taste' }) },
    });
    const { body } = await app.video();
    await app.settle();
    await app.pollsPass();
    const { output } = await app.look(body.id);
    expect(output).toMatchObject({ availability: 'unavailable', url: null });
    await app.services.store.collection(FILES).take(output?.file_id ?? '');
    expect((await app.look(body.id)).output).toMatchObject({ availability: 'unavailable', file_id: null });
  });

  it('is free while metering is off and recorded anyway', async () => {
    const app = await createGenerationApp(createVideoStudio({ onJob: (job) => done(job) }), {
      credits: 0,
      settings: { admin: { enforceCredits: false } },
    });
    const { body } = await app.video();
    expect(body.credits).toEqual({ reserved: null, settled: null });
    await app.settle();
    await app.pollsPass();
    expect(await app.look(body.id)).toMatchObject({
      state: 'succeeded',
      credits: { reserved: null, settled: null },
    });
    const [charge] = await app.ledger.charges({ userId: app.user.id }, 10);
    expect(charge).toMatchObject({ operation: 'createVideoGeneration', amount: 0, usage: { seconds: 8 } });
  });

  it('continues when its model is removed meanwhile', async () => {
    const lists = [[FILM_MODEL], []];
    const studio = { ...createVideoStudio({ onJob: (job) => done(job) }), models: () => lists[0] ?? [] };
    const app = await createGenerationApp(studio);
    const { body } = await app.video();
    await app.settle();
    lists.shift();
    await app.pollsPass();
    expect(await app.look(body.id)).toMatchObject({ state: 'succeeded' });
  });

  it('is streamed into its file without buffering', async () => {
    const objects = createMemoryObjects();
    let most = 0;
    let waiting = 0;
    const counted: typeof objects.put = async (key, content, ...more) => {
      if (content instanceof Uint8Array) return objects.put(key, content, ...more);
      async function* passing(parts: AsyncIterable<Uint8Array>) {
        for await (const part of parts) {
          waiting -= 1;
          yield part;
        }
      }
      return objects.put(key, passing(content), ...more);
    };
    const app = await createGenerationApp(
      createVideoStudio({
        onJob(job) {
          done(job);
          const parts = {
            *[Symbol.iterator]() {
              for (let part = 0; part < 100; part += 1) {
                waiting += 1;
                most = Math.max(most, waiting);
                yield part === 0 ? getVideo(1000) : Buffer.alloc(1000, part);
              }
            },
          };
          job.content = { mediaType: 'video/mp4', parts: parts as unknown as Uint8Array[] };
        },
      }),
      { objects: { ...objects, put: counted } },
    );
    const { body } = await app.video();
    await app.settle();
    await app.pollsPass();
    expect(await app.look(body.id)).toMatchObject({ state: 'succeeded' });
    expect(most).toBe(1);
  });
});

describe('music generation', () => {
  it('is made by a job of its provider', async () => {
    const app = await createGenerationApp(createVideoStudio({}, { onJob: (job) => done(job) }));
    const { status, body } = await app.song({ duration_seconds: 20, instrumental: true, format: 'wav' });
    expect([status, body]).toMatchObject([
      202,
      {
        object: 'music_generation',
        state: 'pending',
        duration_seconds: 20,
        instrumental: true,
        format: 'wav',
        credits: { reserved: 20 },
      },
    ]);
    await app.settle();
    expect(app.studio.songs.all[0]?.request).toEqual({
      model: 'composer',
      prompt: 'A waltz',
      lengthMs: 20_000,
      instrumental: true,
      format: 'wav',
    });
    await app.pollsPass();
    expect(await app.look(body.id, 'music')).toMatchObject({
      state: 'succeeded',
      output: { content_type: 'audio/mpeg', availability: 'ready' },
      credits: { settled: 20 },
    });
    expect(await charges(app)).toEqual([20]);
  });

  it('is made by one long call when the provider has no jobs', async () => {
    const sounds = createSoundStudio({ onSound: () => undefined });
    const app = await createGenerationApp(createVideoStudio(), { models: [sounds] });
    const { body } = await app.song({ model: 'band' });
    await app.settle();
    expect(await app.look(body.id, 'music')).toMatchObject({ state: 'running', instrumental: false });
    sounds.sounds[0]?.answer(toAudio(100));
    await app.settle();
    expect(await app.look(body.id, 'music')).toMatchObject({
      state: 'succeeded',
      output: { content_type: 'audio/mpeg', duration_seconds: 10 },
      credits: { settled: 10 },
    });
    expect(sounds.sounds).toHaveLength(1);
  });

  it('is charged when it is cancelled but the provider completes it', async () => {
    const sounds = createSoundStudio({ onSound: () => undefined });
    const app = await createGenerationApp(createVideoStudio(), { models: [sounds] });
    const { body } = await app.song({ model: 'band' });
    await app.settle();
    await app.json('POST', `/api/v1/music-generations/${body.id}/cancel`);
    await app.settle();
    expect(await app.look(body.id, 'music')).toMatchObject({ state: 'cancelled' });
    const { held } = await app.ledger.balance(app.account);
    expect(held).toBeGreaterThan(0);
    sounds.sounds[0]?.answer(toAudio(100));
    await app.settle();
    const settled = await app.spent();
    expect(settled).toBeGreaterThan(0);
    expect(settled).toBeLessThanOrEqual(held / 1_000_000);
    expect(await app.look(body.id, 'music')).toMatchObject({ state: 'cancelled', credits: { settled } });
    expect(await app.ledger.balance(app.account)).toMatchObject({ held: 0 });
  });

  it('is free when it is cancelled and its provider fails', async () => {
    const sounds = createSoundStudio({ onSound: () => undefined });
    const app = await createGenerationApp(createVideoStudio(), { models: [sounds] });
    const { body } = await app.song({ model: 'band' });
    await app.settle();
    await app.json('POST', `/api/v1/music-generations/${body.id}/cancel`);
    await app.settle();
    sounds.sounds[0]?.fail(new ProviderError('failed', 'down'));
    await app.settle();
    expect(await app.spent()).toBe(0);
    expect(await app.ledger.balance(app.account)).toMatchObject({ held: 0 });
  });

  it('is not readable as a video, nor a video as music', async () => {
    const app = await createGenerationApp();
    const { body } = await app.song();
    expect(await app.json('GET', `/api/v1/video-generations/${body.id}`)).toMatchObject({ status: 404 });
    const { body: refusal } = await app.song({ model: 'director' });
    expect(refusal).toMatchObject({ errorCode: 'model_unavailable' });
  });
});

describe('failed generation', () => {
  it.each([
    [{ state: 'failed', message: 'secret words' }, 'failed', 'provider_error'],
    [{ state: 'blocked', message: 'secret words' }, 'blocked', 'content_blocked'],
  ] as const)('is free when its provider reports %j', async (status, state, code) => {
    const app = await createGenerationApp(
      createVideoStudio({
        onJob(job) {
          job.status = status;
        },
      }),
    );
    const { body } = await app.video();
    await app.settle();
    await app.pollsPass();
    const video = await app.look(body.id);
    expect(video).toMatchObject({ state, error: { code }, output: null, credits: { settled: 0 } });
    expect(JSON.stringify(video)).not.toContain('secret');
    expect([await app.spent(), await charges(app)]).toEqual([0, []]);
  });

  it.each([
    ['content_blocked', 'blocked', 'content_blocked'],
    ['invalid_request', 'failed', 'invalid_request'],
    ['rejected_key', 'failed', 'provider_rejected'],
    ['timeout', 'failed', 'provider_timeout'],
    ['failed', 'failed', 'provider_error'],
  ] as const)('is not submitted twice when it is rejected as %s', async (kind, state, code) => {
    let asked = 0;
    const app = await createGenerationApp(
      createVideoStudio({
        onSubmit() {
          asked += 1;
          throw new ProviderError(kind, 'secret words');
        },
      }),
    );
    const { body } = await app.video();
    await app.settle();
    await app.pollsPass(5);
    expect(await app.look(body.id)).toMatchObject({ state, error: { code } });
    expect([asked, await app.spent()]).toEqual([1, 0]);
  });

  it('waits for an overloaded provider', async () => {
    let asked = 0;
    const app = await createGenerationApp(
      createVideoStudio({
        onSubmit() {
          asked += 1;
          if (asked < 3) throw new ProviderError('overloaded', 'later', { retryAfterMs: 2 * POLL_MS });
        },
        onJob: (job) => done(job),
      }),
    );
    const { body } = await app.video();
    await app.settle();
    await app.pollsPass(2);
    expect(await app.look(body.id)).toMatchObject({ state: 'running' });
    await app.pollsPass(4);
    expect(await app.look(body.id)).toMatchObject({ state: 'succeeded' });
    expect([asked, await charges(app)]).toEqual([3, [8]]);
  });

  it('fails after its maximum time and cancels the job at its provider', async () => {
    const app = await createGenerationApp(createVideoStudio(), {
      settings: { generations: { pollMs: POLL_MS, maxMs: 60_000 } },
    });
    const { body } = await app.video();
    await app.settle();
    await app.pollsPass(11);
    expect(await app.look(body.id)).toMatchObject({ state: 'running' });
    await app.pollsPass(2);
    expect(await app.look(body.id)).toMatchObject({
      state: 'failed',
      error: { code: 'provider_timeout', message: 'The model provider timed out.' },
    });
    expect(app.studio.videos.all[0]?.isCancelled).toBe(true);
    expect(await app.spent()).toBe(0);
  });

  it('fails after a timeout when its provider does not answer', async () => {
    const app = await createGenerationApp(
      createVideoStudio({ onSubmit: () => new Promise(() => undefined) }),
    );
    const { body } = await app.video();
    await app.settle();
    await app.clock.advance(120_000);
    await app.settle();
    expect(await app.look(body.id)).toMatchObject({ state: 'failed', error: { code: 'provider_timeout' } });
    expect(await app.spent()).toBe(0);
  });

  it('continues when its provider is unreachable for a while', async () => {
    let isAway = true;
    const app = await createGenerationApp(
      createVideoStudio({
        onPoll() {
          if (isAway) throw new ProviderError('failed', 'away');
        },
        onJob: (job) => done(job),
      }),
    );
    const { body } = await app.video();
    await app.settle();
    await app.pollsPass(20);
    expect(await app.look(body.id)).toMatchObject({ state: 'running' });
    isAway = false;
    await app.pollsPass(10);
    expect(await app.look(body.id)).toMatchObject({ state: 'succeeded' });
    expect(await charges(app)).toEqual([8]);
  });

  it('repeats a broken download and fails after five attempts', async () => {
    let broken = 2;
    const app = await createGenerationApp(
      createVideoStudio({
        onJob: (job) => done(job),
        onFetch(job) {
          broken -= 1;
          const isBroken = broken >= 0;
          const parts = {
            *[Symbol.iterator]() {
              yield getVideo();
              if (isBroken) throw new Error('cut');
            },
          };
          job.content = { mediaType: 'video/mp4', parts: parts as unknown as Uint8Array[] };
        },
      }),
    );
    const { body } = await app.video();
    await app.settle();
    await app.pollsPass();
    expect(await app.look(body.id)).toMatchObject({ state: 'storing', progress: 1 });
    await app.pollsPass(3);
    expect(await app.look(body.id)).toMatchObject({ state: 'succeeded' });
    expect(await charges(app)).toEqual([8]);

    broken = 1000;
    const second = (await app.video()).body;
    await app.settle();
    await app.pollsPass(20);
    expect(await app.look(second.id)).toMatchObject({ state: 'failed', error: { code: 'provider_error' } });
    expect(await charges(app)).toEqual([8]);
  });

  it.each([
    ['output_too_large', { admin: { MaxFileSize: 20 } }],
    ['limit_exceeded', { files: { storageQuota: 20 } }],
  ] as const)('reports %s without storage, and is free', async (code, settings) => {
    const app = await createGenerationApp(createVideoStudio({ onJob: (job) => done(job) }), { settings });
    const { body } = await app.video();
    await app.settle();
    await app.pollsPass();
    expect(await app.look(body.id)).toMatchObject({ state: 'failed', error: { code } });
    expect([await app.spent(), app.studio.videos.all[0]?.fetches]).toEqual([0, 1]);
  });
});

describe('credit of a generation', () => {
  it('rejects a generation when it is insufficient and leaves none behind', async () => {
    const app = await createGenerationApp(createVideoStudio(), { credits: 7 });
    const { status, body } = await app.video();
    expect([status, body.errorCode]).toEqual([422, 'insufficient_credits']);
    expect((await app.json('GET', '/api/v1/video-generations')).body.data).toEqual([]);
    expect(await app.services.store.collection(GENERATIONS).find({})).toEqual([]);
    await app.settle();
    expect(app.studio.videos.all).toEqual([]);
  });

  it('can be granted after a rejection, and the same key can be repeated', async () => {
    const app = await createGenerationApp(createVideoStudio({ onJob: (job) => done(job) }), {
      credits: 7,
    });
    const headers = { 'Idempotency-Key': 'one' };
    expect((await app.video({}, { headers })).status).toBe(422);
    expect((await app.json('GET', '/api/v1/video-generations')).body.data).toEqual([]);
    await app.ledger.grant({ account: app.account, amount: 1_000_000, key: 'more', reason: 'more' });
    const { status, body } = await app.video({}, { headers });
    expect(status).toBe(202);
    await app.settle();
    await app.pollsPass();
    expect(await app.look(body.id)).toMatchObject({ state: 'succeeded' });
    expect(await charges(app)).toEqual([8]);
  });

  it('is held during the work and settled by its own hold', async () => {
    const app = await createGenerationApp();
    const { body } = await app.video();
    await app.settle();
    for (let minute = 0; minute < 40; minute += 1) await app.clock.advance(60_000);
    expect(await app.spent()).toBe(8);
    const [job] = app.studio.videos.all;
    if (job !== undefined) done(job);
    await app.pollsPass();
    expect(await app.look(body.id)).toMatchObject({ state: 'succeeded' });
    expect(await charges(app)).toEqual([8]);
  });

  it('never costs more than requested, however long the video is', async () => {
    const app = await createGenerationApp(createVideoStudio({ onJob: (job) => done(job, 9.1) }));
    const { body } = await app.video();
    await app.settle();
    await app.pollsPass();
    expect(await app.look(body.id)).toMatchObject({
      output: { duration_seconds: 9.1 },
      credits: { settled: 8 },
    });
  });
});

describe('Idempotency-Key of a generation', () => {
  it.each([1000, 8])('makes one generation for 50 parallel requests with %d credits', async (credits) => {
    const app = await createGenerationApp(createVideoStudio({ onJob: (job) => done(job) }), { credits });
    const headers = { 'Idempotency-Key': 'one' };
    const answers = await Promise.all(Array.from({ length: 50 }, () => app.video({}, { headers })));
    for (const { status, body } of answers) expect([status, body]).toEqual([202, answers[0]?.body]);
    await app.settle();
    await app.pollsPass(2);
    const other = await app.video({ prompt: 'Another' }, { headers });
    expect([other.status, other.body.errorCode]).toEqual([422, 'idempotency_key_reused']);
    const bad = await app.video({}, { headers: { 'Idempotency-Key': '' } });
    expect([bad.status, bad.body.errorCode]).toEqual([422, 'invalid_idempotency_key']);
    expect((await app.video({}, { headers })).body).toEqual(answers[0]?.body);
    await app.settle();
    expect(app.studio.videos.all).toHaveLength(1);
    expect(await charges(app)).toEqual([8]);
    expect((await app.json('GET', '/api/v1/video-generations')).body.data).toHaveLength(1);
  });
});

describe('list of generations', () => {
  it('contains those of the caller, newest first, with pages and filters', async () => {
    const app = await createGenerationApp(
      createVideoStudio({
        onJob: (job) => job.request.prompt === 'done' && done(job),
      }),
    );
    const ids: string[] = [];
    for (const prompt of ['a', 'done', 'c', 'done', 'e']) {
      await app.clock.advance(1000);
      ids.unshift((await app.video({ prompt })).body.id);
    }
    await app.settle();
    await app.pollsPass();
    const list = async (query: string): Promise<{ data: { id: string }[]; next_cursor: string | null }> =>
      (await app.json('GET', `/api/v1/video-generations?${query}`)).body;
    const getIds = async (query: string) => (await list(query)).data.map(({ id }) => id);
    const first = await list('limit=3');
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    expect(await getIds(`limit=3&cursor=${first.next_cursor}`)).toEqual(ids.slice(3));
    expect(await getIds('state=succeeded')).toEqual([ids[1], ids[3]]);
    expect(await getIds('state=running&source=api')).toEqual([ids[0], ids[2], ids[4]]);
    expect(await getIds('source=studio')).toEqual([]);
    expect((await app.json('GET', '/api/v1/music-generations')).body.data).toEqual([]);
    const stranger = await app.addUser('bob@example.com');
    const foreign = await app.json('GET', '/api/v1/video-generations', {
      credential: await app.token(stranger),
    });
    expect(foreign.body).toEqual({ data: [], next_cursor: null });
    const cursor = await app.json('GET', `/api/v1/music-generations?cursor=${first.next_cursor}`);
    expect(cursor.status).toBe(422);
  });
});

describe('list of generation models', () => {
  it('contains the available ones with their capabilities', async () => {
    const app = await createGenerationApp(
      createVideoStudio({}, {}, [
        FILM_MODEL,
        SONG_MODEL,
        { ...FILM_MODEL, id: 'bare', video: undefined } as never,
      ]),
    );
    const videos = (await app.json('GET', '/api/v1/video-models')).body;
    expect(videos.models).toEqual([
      {
        id: 'director',
        object: 'video_model',
        display_name: 'Director',
        provider: 'videos',
        modes: ['text_to_video', 'image_to_video'],
        duration: { kind: 'discrete', values: [4, 8] },
        aspect_ratios: ['16:9', '9:16'],
        resolutions: ['720p', '1080p'],
        defaults: { duration_seconds: 8, aspect_ratio: '16:9', resolution: '720p' },
        audio: 'optional',
        credits_per_second: { '720p': 1, '1080p': 3 },
        deprecation_date: null,
      },
    ]);
    const songs = (await app.json('GET', '/api/v1/music-models')).body;
    expect(songs.models).toEqual([
      {
        id: 'composer',
        object: 'music_model',
        display_name: 'Composer',
        provider: 'videos',
        duration: { kind: 'range', min: 5, max: 60, step: 1 },
        formats: ['mp3', 'wav'],
        instrumental: 'optional',
        defaults: { duration_seconds: 10, format: 'mp3' },
        credits_per_second: 1,
        deprecation_date: null,
      },
    ]);
  });
});
