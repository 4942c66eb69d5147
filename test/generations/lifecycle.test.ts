import { FILES, GENERATIONS, ProviderError } from '@questline/core';
import { createMemoryObjects } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import {
  createFilmStudio,
  createGenerationWorld,
  done,
  FILM_MODEL,
  filmOf,
  type GenerationWorld,
  POLL_MS,
  SONG_MODEL,
} from '../support/generations.ts';
import { createSoundStudio, PICTURE, soundOf } from '../support/media.ts';

const AN_ID = expect.stringMatching(/^[0-9a-f]{24}$/);

async function charges(world: GenerationWorld): Promise<readonly number[]> {
  const entries = await world.ledger.entries(world.account, { limit: 500 });
  return entries.filter(({ kind }) => kind === 'charge').map(({ amount }) => -amount / 1e6);
}

describe('a film', () => {
  it('that the queue cannot take is not made, nor paid for, unless it can be asked for again', async () => {
    const world = await createGenerationWorld();
    const { queue, store } = world.services;
    const works = queue.enqueue.bind(queue);
    queue.enqueue = () => Promise.reject(new Error('away'));
    expect((await world.film()).status).toBe(500);
    expect(await world.spent()).toBe(0);
    expect(await store.collection(GENERATIONS).find({})).toEqual([]);

    const again = { headers: { 'Idempotency-Key': 'one' } };
    expect((await world.film({}, again)).status).toBe(500);
    queue.enqueue = works;
    expect((await world.film({}, again)).status).toBe(202);
    await world.settle();
    expect(world.studio.films.all).toHaveLength(1);
  });

  it('is acknowledged at once, with its credits held', async () => {
    const world = await createGenerationWorld();
    const { status, body } = await world.film({ duration_seconds: 4, resolution: '1080p', audio: true });
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
    expect(await world.spent()).toBe(12);
    await world.settle();
    expect(world.studio.films.all.map(({ request }) => request)).toEqual([
      {
        model: 'director',
        prompt: 'A red panda walks',
        durationSeconds: 4,
        aspectRatio: '16:9',
        resolution: '1080p',
        audio: true,
      },
    ]);
    expect(await world.look(body.id)).toMatchObject({ state: 'running', credits: { reserved: 12 } });
  });

  it('is finished, kept and charged without anybody polling', async () => {
    const world = await createGenerationWorld();
    const { body } = await world.film();
    await world.settle();
    const [job] = world.studio.films.all;
    if (job === undefined) throw new Error('nothing was asked for');
    done(job, 7.5);
    await world.pollsPass();
    expect(await charges(world)).toEqual([7.5]);
    expect(await world.spent()).toBe(7.5);
    const film = await world.look(body.id);
    expect(film).toMatchObject({
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
    const bytes = await world.ask('GET', film.output.url, { credential: null });
    expect(bytes.headers.get('content-type')).toBe('video/mp4');
    expect(Buffer.from(await bytes.arrayBuffer())).toEqual(filmOf());
    const file = await world.services.store.collection(FILES).get(film.output.file_id);
    expect(file).toMatchObject({ ownerId: world.user.id, source: 'generated', status: 'clean' });
    expect(world.incidents).toEqual([]);
  });

  it('has an address that is signed anew at each read', async () => {
    const world = await createGenerationWorld(createFilmStudio({ onJob: (job) => done(job) }));
    const { body } = await world.film();
    await world.settle();
    await world.pollsPass();
    const first = (await world.look(body.id)).output;
    await world.clock.advance(60_000);
    const second = (await world.look(body.id)).output;
    expect(second.url).not.toBe(first.url);
    expect(Date.parse(second.expires_at) - Date.parse(first.expires_at)).toBe(60_000);
  });

  it('tells its progress, and ends within two polls of its provider', async () => {
    const world = await createGenerationWorld();
    const { body } = await world.film();
    await world.settle();
    const [job] = world.studio.films.all;
    if (job === undefined) throw new Error('nothing was asked for');
    job.status = { state: 'running', progress: 0.25 };
    await world.pollsPass();
    expect(await world.look(body.id)).toMatchObject({ state: 'running', progress: 0.25 });
    job.status = { state: 'running', progress: 7 };
    await world.pollsPass();
    expect(await world.look(body.id)).toMatchObject({ progress: 1 });
    done(job);
    await world.pollsPass();
    expect(await world.look(body.id)).toMatchObject({ state: 'succeeded' });
    expect(job.polls).toBe(3);
  });

  it('begins with an image of the caller', async () => {
    const world = await createGenerationWorld();
    const made = { name: 'x.png', mimeType: 'image/png', content: PICTURE.data };
    const { file } = await world.services.library.save(world.user.id, made);
    const { body } = await world.film({ input_image_file_id: file?.id });
    expect(body).toMatchObject({ mode: 'image_to_video' });
    await world.settle();
    expect(world.studio.films.all[0]?.request.image).toEqual({ mediaType: 'image/png', data: PICTURE.data });
  });

  it('fails for nothing when its image is gone by the time it is made', async () => {
    const world = await createGenerationWorld(createFilmStudio(), { started: false });
    const made = { name: 'x.png', mimeType: 'image/png', content: PICTURE.data };
    const { file } = await world.services.library.save(world.user.id, made);
    const { body } = await world.film({ input_image_file_id: file?.id });
    await world.services.store.collection(FILES).take(file?.id ?? '');
    await world.api.start();
    await world.settle();
    expect(await world.look(body.id)).toMatchObject({
      state: 'failed',
      error: { code: 'input_image_not_found' },
    });
    expect([world.studio.films.all.length, await world.spent()]).toEqual([0, 0]);
  });

  it('is checked like an upload before anybody may see it', async () => {
    const world = await createGenerationWorld(createFilmStudio({ onJob: (job) => done(job) }), {
      settings: { worker: { concurrency: { 'files.scan': 0 } } },
    });
    const { body } = await world.film();
    await world.settle();
    await world.pollsPass();
    expect(await world.look(body.id)).toMatchObject({
      state: 'succeeded',
      output: { availability: 'pending_scan', url: null, expires_at: null, file_id: AN_ID },
      credits: { settled: 8 },
    });
  });

  it('is unavailable when it was blocked, or its file is gone', async () => {
    const world = await createGenerationWorld(createFilmStudio({ onJob: (job) => done(job) }), {
      moderator: { check: async () => ({ isClean: false, reason: 'no taste' }) },
    });
    const { body } = await world.film();
    await world.settle();
    await world.pollsPass();
    const { output } = await world.look(body.id);
    expect(output).toMatchObject({ availability: 'unavailable', url: null });
    await world.services.store.collection(FILES).take(output.file_id);
    expect((await world.look(body.id)).output).toMatchObject({ availability: 'unavailable', file_id: null });
  });

  it('costs nothing while nothing is metered, and is written down all the same', async () => {
    const world = await createGenerationWorld(createFilmStudio({ onJob: (job) => done(job) }), {
      credits: 0,
      settings: { admin: { enforceCredits: false } },
    });
    const { body } = await world.film();
    expect(body.credits).toEqual({ reserved: null, settled: null });
    await world.settle();
    await world.pollsPass();
    expect(await world.look(body.id)).toMatchObject({
      state: 'succeeded',
      credits: { reserved: null, settled: null },
    });
    const [charge] = await world.ledger.charges({ userId: world.user.id }, 10);
    expect(charge).toMatchObject({ operation: 'createVideoGeneration', amount: 0, usage: { seconds: 8 } });
  });

  it('goes on although its model has been taken away meanwhile', async () => {
    const lists = [[FILM_MODEL], []];
    const studio = { ...createFilmStudio({ onJob: (job) => done(job) }), models: () => lists[0] ?? [] };
    const world = await createGenerationWorld(studio);
    const { body } = await world.film();
    await world.settle();
    lists.shift();
    await world.pollsPass();
    expect(await world.look(body.id)).toMatchObject({ state: 'succeeded' });
  });

  it('is streamed into its file, not gathered first', async () => {
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
    const world = await createGenerationWorld(
      createFilmStudio({
        onJob(job) {
          done(job);
          const parts = {
            *[Symbol.iterator]() {
              for (let part = 0; part < 100; part += 1) {
                waiting += 1;
                most = Math.max(most, waiting);
                yield part === 0 ? filmOf(1000) : Buffer.alloc(1000, part);
              }
            },
          };
          job.content = { mediaType: 'video/mp4', parts: parts as unknown as Uint8Array[] };
        },
      }),
      { objects: { ...objects, put: counted } },
    );
    const { body } = await world.film();
    await world.settle();
    await world.pollsPass();
    expect(await world.look(body.id)).toMatchObject({ state: 'succeeded' });
    expect(most).toBe(1);
  });
});

describe('a piece of music', () => {
  it('is made by a job of its provider', async () => {
    const world = await createGenerationWorld(createFilmStudio({}, { onJob: (job) => done(job) }));
    const { status, body } = await world.song({ duration_seconds: 20, instrumental: true, format: 'wav' });
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
    await world.settle();
    expect(world.studio.songs.all[0]?.request).toEqual({
      model: 'composer',
      prompt: 'A waltz',
      lengthMs: 20_000,
      instrumental: true,
      format: 'wav',
    });
    await world.pollsPass();
    expect(await world.look(body.id, 'music')).toMatchObject({
      state: 'succeeded',
      output: { content_type: 'audio/mpeg', availability: 'ready' },
      credits: { settled: 20 },
    });
    expect(await charges(world)).toEqual([20]);
  });

  it('is made by one long call where the provider knows nothing else', async () => {
    const sounds = createSoundStudio({ onSound: () => undefined });
    const world = await createGenerationWorld(createFilmStudio(), { models: [sounds] });
    const { body } = await world.song({ model: 'band' });
    await world.settle();
    expect(await world.look(body.id, 'music')).toMatchObject({ state: 'running', instrumental: false });
    sounds.sounds[0]?.answer(soundOf(100));
    await world.settle();
    expect(await world.look(body.id, 'music')).toMatchObject({
      state: 'succeeded',
      output: { content_type: 'audio/mpeg', duration_seconds: 10 },
      credits: { settled: 10 },
    });
    expect(sounds.sounds).toHaveLength(1);
  });

  it('is broken off with its call when it is cancelled', async () => {
    const sounds = createSoundStudio({ onSound: () => undefined });
    const world = await createGenerationWorld(createFilmStudio(), { models: [sounds] });
    const { body } = await world.song({ model: 'band' });
    await world.settle();
    await world.json('POST', `/api/v1/music-generations/${body.id}/cancel`);
    await world.settle();
    expect(sounds.sounds[0]?.options.signal?.aborted).toBe(true);
    expect(await world.look(body.id, 'music')).toMatchObject({ state: 'cancelled' });
    expect(await world.spent()).toBe(0);
  });

  it('is no film, nor the other way round', async () => {
    const world = await createGenerationWorld();
    const { body } = await world.song();
    expect(await world.json('GET', `/api/v1/video-generations/${body.id}`)).toMatchObject({ status: 404 });
    const { body: refusal } = await world.song({ model: 'director' });
    expect(refusal).toMatchObject({ errorCode: 'model_unavailable' });
  });
});

describe('a generation that comes to nothing', () => {
  it.each([
    [{ state: 'failed', message: 'secret words' }, 'failed', 'provider_error'],
    [{ state: 'blocked', message: 'secret words' }, 'blocked', 'content_blocked'],
  ] as const)('because its provider says %j is told so, and is free', async (status, state, code) => {
    const world = await createGenerationWorld(
      createFilmStudio({
        onJob(job) {
          job.status = status;
        },
      }),
    );
    const { body } = await world.film();
    await world.settle();
    await world.pollsPass();
    const film = await world.look(body.id);
    expect(film).toMatchObject({ state, error: { code }, output: null, credits: { settled: 0 } });
    expect(JSON.stringify(film)).not.toContain('secret');
    expect([await world.spent(), await charges(world)]).toEqual([0, []]);
  });

  it.each([
    ['content_blocked', 'blocked', 'content_blocked'],
    ['invalid_request', 'failed', 'invalid_request'],
    ['rejected_key', 'failed', 'provider_rejected'],
    ['timeout', 'failed', 'provider_timeout'],
    ['failed', 'failed', 'provider_error'],
  ] as const)('because it is refused as %s is not asked for twice', async (kind, state, code) => {
    let asked = 0;
    const world = await createGenerationWorld(
      createFilmStudio({
        onSubmit() {
          asked += 1;
          throw new ProviderError(kind, 'secret words');
        },
      }),
    );
    const { body } = await world.film();
    await world.settle();
    await world.pollsPass(5);
    expect(await world.look(body.id)).toMatchObject({ state, error: { code } });
    expect([asked, await world.spent()]).toEqual([1, 0]);
  });

  it('waits for a provider that has too much to do', async () => {
    let asked = 0;
    const world = await createGenerationWorld(
      createFilmStudio({
        onSubmit() {
          asked += 1;
          if (asked < 3) throw new ProviderError('overloaded', 'later', { retryAfterMs: 2 * POLL_MS });
        },
        onJob: (job) => done(job),
      }),
    );
    const { body } = await world.film();
    await world.settle();
    await world.pollsPass(2);
    expect(await world.look(body.id)).toMatchObject({ state: 'running' });
    await world.pollsPass(4);
    expect(await world.look(body.id)).toMatchObject({ state: 'succeeded' });
    expect([asked, await charges(world)]).toEqual([3, [8]]);
  });

  it('after its longest time has failed, and its provider is told to stop', async () => {
    const world = await createGenerationWorld(createFilmStudio(), {
      settings: { generations: { pollMs: POLL_MS, maxMs: 60_000 } },
    });
    const { body } = await world.film();
    await world.settle();
    await world.pollsPass(11);
    expect(await world.look(body.id)).toMatchObject({ state: 'running' });
    await world.pollsPass(2);
    expect(await world.look(body.id)).toMatchObject({
      state: 'failed',
      error: { code: 'provider_timeout', message: 'The model provider took too long.' },
    });
    expect(world.studio.films.all[0]?.isCancelled).toBe(true);
    expect(await world.spent()).toBe(0);
  });

  it('because its provider does not answer at all has failed after a while', async () => {
    const world = await createGenerationWorld(
      createFilmStudio({ onSubmit: () => new Promise(() => undefined) }),
    );
    const { body } = await world.film();
    await world.settle();
    await world.clock.advance(120_000);
    await world.settle();
    expect(await world.look(body.id)).toMatchObject({ state: 'failed', error: { code: 'provider_timeout' } });
    expect(await world.spent()).toBe(0);
  });

  it('is not given up because its provider cannot be reached for a while', async () => {
    let isAway = true;
    const world = await createGenerationWorld(
      createFilmStudio({
        onPoll() {
          if (isAway) throw new ProviderError('failed', 'away');
        },
        onJob: (job) => done(job),
      }),
    );
    const { body } = await world.film();
    await world.settle();
    await world.pollsPass(20);
    expect(await world.look(body.id)).toMatchObject({ state: 'running' });
    isAway = false;
    await world.pollsPass(10);
    expect(await world.look(body.id)).toMatchObject({ state: 'succeeded' });
    expect(await charges(world)).toEqual([8]);
  });

  it('is fetched again when it broke on its way, and given up after five times', async () => {
    let broken = 2;
    const world = await createGenerationWorld(
      createFilmStudio({
        onJob: (job) => done(job),
        onFetch(job) {
          broken -= 1;
          const isBroken = broken >= 0;
          const parts = {
            *[Symbol.iterator]() {
              yield filmOf();
              if (isBroken) throw new Error('cut');
            },
          };
          job.content = { mediaType: 'video/mp4', parts: parts as unknown as Uint8Array[] };
        },
      }),
    );
    const { body } = await world.film();
    await world.settle();
    await world.pollsPass();
    expect(await world.look(body.id)).toMatchObject({ state: 'storing', progress: 1 });
    await world.pollsPass(3);
    expect(await world.look(body.id)).toMatchObject({ state: 'succeeded' });
    expect(await charges(world)).toEqual([8]);

    broken = 1000;
    const second = (await world.film()).body;
    await world.settle();
    await world.pollsPass(20);
    expect(await world.look(second.id)).toMatchObject({ state: 'failed', error: { code: 'provider_error' } });
    expect(await charges(world)).toEqual([8]);
  });

  it.each([
    ['output_too_large', { admin: { MaxFileSize: 20 } }],
    ['limit_exceeded', { files: { storageQuota: 20 } }],
  ] as const)('because there is no room for it says %s, and is free', async (code, settings) => {
    const world = await createGenerationWorld(createFilmStudio({ onJob: (job) => done(job) }), { settings });
    const { body } = await world.film();
    await world.settle();
    await world.pollsPass();
    expect(await world.look(body.id)).toMatchObject({ state: 'failed', error: { code } });
    expect([await world.spent(), world.studio.films.all[0]?.fetches]).toEqual([0, 1]);
  });
});

describe('credit', () => {
  it('that is short refuses a generation, and leaves none behind', async () => {
    const world = await createGenerationWorld(createFilmStudio(), { credits: 7 });
    const { status, body } = await world.film();
    expect([status, body.errorCode]).toEqual([422, 'insufficient_credits']);
    expect((await world.json('GET', '/api/v1/video-generations')).body.data).toEqual([]);
    expect(await world.services.store.collection(GENERATIONS).find({})).toEqual([]);
    await world.settle();
    expect(world.studio.films.all).toEqual([]);
  });

  it('that was short may come, and the same request be repeated under its key', async () => {
    const world = await createGenerationWorld(createFilmStudio({ onJob: (job) => done(job) }), {
      credits: 7,
    });
    const headers = { 'Idempotency-Key': 'one' };
    expect((await world.film({}, { headers })).status).toBe(422);
    expect((await world.json('GET', '/api/v1/video-generations')).body.data).toEqual([]);
    await world.ledger.grant({ account: world.account, amount: 1_000_000, key: 'more', reason: 'more' });
    const { status, body } = await world.film({}, { headers });
    expect(status).toBe(202);
    await world.settle();
    await world.pollsPass();
    expect(await world.look(body.id)).toMatchObject({ state: 'succeeded' });
    expect(await charges(world)).toEqual([8]);
  });

  it('is held for as long as the work takes, and settled by its own hold', async () => {
    const world = await createGenerationWorld();
    const { body } = await world.film();
    await world.settle();
    for (let minute = 0; minute < 40; minute += 1) await world.clock.advance(60_000);
    expect(await world.spent()).toBe(8);
    const [job] = world.studio.films.all;
    if (job !== undefined) done(job);
    await world.pollsPass();
    expect(await world.look(body.id)).toMatchObject({ state: 'succeeded' });
    expect(await charges(world)).toEqual([8]);
  });

  it('is never more than was asked for, however long a film turns out', async () => {
    const world = await createGenerationWorld(createFilmStudio({ onJob: (job) => done(job, 9.1) }));
    const { body } = await world.film();
    await world.settle();
    await world.pollsPass();
    expect(await world.look(body.id)).toMatchObject({
      output: { duration_seconds: 9.1 },
      credits: { settled: 8 },
    });
  });
});

describe('one Idempotency-Key', () => {
  it.each([1000, 8])('makes one generation of 50 at once, with %d credits', async (credits) => {
    const world = await createGenerationWorld(createFilmStudio({ onJob: (job) => done(job) }), { credits });
    const headers = { 'Idempotency-Key': 'one' };
    const answers = await Promise.all(Array.from({ length: 50 }, () => world.film({}, { headers })));
    for (const { status, body } of answers) expect([status, body]).toEqual([202, answers[0]?.body]);
    await world.settle();
    await world.pollsPass(2);
    const other = await world.film({ prompt: 'Another' }, { headers });
    expect([other.status, other.body.errorCode]).toEqual([422, 'idempotency_key_reused']);
    const bad = await world.film({}, { headers: { 'Idempotency-Key': '' } });
    expect([bad.status, bad.body.errorCode]).toEqual([422, 'invalid_idempotency_key']);
    expect((await world.film({}, { headers })).body).toEqual(answers[0]?.body);
    await world.settle();
    expect(world.studio.films.all).toHaveLength(1);
    expect(await charges(world)).toEqual([8]);
    expect((await world.json('GET', '/api/v1/video-generations')).body.data).toHaveLength(1);
  });
});

describe('the list', () => {
  it('is of the caller, newest first, by pages, and can be filtered', async () => {
    const world = await createGenerationWorld(
      createFilmStudio({
        onJob: (job) => job.request.prompt === 'done' && done(job),
      }),
    );
    const ids: string[] = [];
    for (const prompt of ['a', 'done', 'c', 'done', 'e']) {
      await world.clock.advance(1000);
      ids.unshift((await world.film({ prompt })).body.id);
    }
    await world.settle();
    await world.pollsPass();
    const list = async (query: string): Promise<{ data: { id: string }[]; next_cursor: string | null }> =>
      (await world.json('GET', `/api/v1/video-generations?${query}`)).body;
    const idsOf = async (query: string) => (await list(query)).data.map(({ id }) => id);
    const first = await list('limit=3');
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    expect(await idsOf(`limit=3&cursor=${first.next_cursor}`)).toEqual(ids.slice(3));
    expect(await idsOf('state=succeeded')).toEqual([ids[1], ids[3]]);
    expect(await idsOf('state=running&source=api')).toEqual([ids[0], ids[2], ids[4]]);
    expect(await idsOf('source=studio')).toEqual([]);
    expect((await world.json('GET', '/api/v1/music-generations')).body.data).toEqual([]);
    const stranger = await world.addUser('bob@example.com');
    const foreign = await world.json('GET', '/api/v1/video-generations', {
      credential: await world.token(stranger),
    });
    expect(foreign.body).toEqual({ data: [], next_cursor: null });
    const cursor = await world.json('GET', `/api/v1/music-generations?cursor=${first.next_cursor}`);
    expect(cursor.status).toBe(422);
  });
});

describe('the models', () => {
  it('are those that can be used, with what each can do', async () => {
    const world = await createGenerationWorld(
      createFilmStudio({}, {}, [
        FILM_MODEL,
        SONG_MODEL,
        { ...FILM_MODEL, id: 'bare', video: undefined } as never,
      ]),
    );
    const films = (await world.json('GET', '/api/v1/video-models')).body;
    expect(films.models).toEqual([
      {
        id: 'director',
        object: 'video_model',
        display_name: 'Director',
        provider: 'films',
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
    const songs = (await world.json('GET', '/api/v1/music-models')).body;
    expect(songs.models).toEqual([
      {
        id: 'composer',
        object: 'music_model',
        display_name: 'Composer',
        provider: 'films',
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
