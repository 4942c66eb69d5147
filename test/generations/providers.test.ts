import { createDemoProvider, type GenerateOptions, type MediaJobs, type VideoRequest } from '@questline/core';
import { describe, expect, it } from 'vitest';
import {
  createFilmStudio,
  createGenerationWorld,
  done,
  FILM_MODEL,
  type GenerationWorld,
} from '../support/generations.ts';

const KEY = 'sk-own-key-of-ada-0123456789';

/** The studio as a provider that users may bring keys for, and the keys it was asked with. */
function keyedStudio() {
  const keys: (string | undefined)[] = [];
  const studio = createFilmStudio({}, {}, [{ ...FILM_MODEL, provider: 'xai' }]);
  const { films } = studio;
  const noting = <A, T>(verb: (first: A, options: GenerateOptions) => Promise<T>) => {
    return (first: A, options: GenerateOptions): Promise<T> => {
      keys.push(options.apiKey);
      return verb(first, options);
    };
  };
  const video: MediaJobs<VideoRequest> = {
    submit: noting(films.submit),
    poll: noting(films.poll),
    fetch: noting(films.fetch),
    cancel: noting(async (id: string, options) => films.cancel?.(id, options)),
  };
  return { keys, studio: { ...studio, id: 'xai', video } };
}

async function bringKey(world: GenerationWorld): Promise<string> {
  const { status, body } = await world.json('POST', '/api/api-keys/create', {
    credential: await world.token(),
    body: { name: 'Mine', service: 'xai', key: KEY },
  });
  expect(status).toBe(201);
  return body.id ?? body._id;
}

describe("a film under a key of the owner's own", () => {
  it('is asked for, asked about and fetched with it, and costs no credits', async () => {
    const { studio, keys } = keyedStudio();
    const world = await createGenerationWorld(studio, { credits: 0 });
    await bringKey(world);
    const { status, body } = await world.film();
    expect([status, body.credits]).toEqual([202, { reserved: 0, settled: null }]);
    await world.settle();
    for (const job of studio.films.all) done(job);
    await world.pollsPass();
    expect(await world.look(body.id)).toMatchObject({ state: 'succeeded', credits: { settled: 0 } });
    expect(keys).toEqual([KEY, KEY, KEY]);
  });

  it('goes on with the key it was asked for with, whatever keys come', async () => {
    const { studio, keys } = keyedStudio();
    const world = await createGenerationWorld(studio);
    const { body } = await world.film();
    await world.settle();
    await bringKey(world);
    for (const job of studio.films.all) done(job);
    await world.pollsPass();
    expect(await world.look(body.id)).toMatchObject({ state: 'succeeded', credits: { settled: 8 } });
    expect(keys).toEqual([undefined, undefined, undefined]);
  });

  it('fails when that key goes: nobody else can ask about it', async () => {
    const { studio, keys } = keyedStudio();
    const world = await createGenerationWorld(studio);
    const id = await bringKey(world);
    const { body } = await world.film();
    await world.settle();
    const gone = await world.json('DELETE', `/api/api-keys/${id}/delete`, {
      credential: await world.token(),
    });
    expect(gone.status).toBeLessThan(300);
    await world.pollsPass();
    expect(await world.look(body.id)).toMatchObject({
      state: 'failed',
      error: { code: 'model_unavailable' },
    });
    expect(keys).toEqual([KEY]);
  });
});

describe('the offline provider', () => {
  it('makes a film that passes the check of what is kept', async () => {
    const world = await createGenerationWorld(createFilmStudio(), { models: [createDemoProvider()] });
    const { status, body } = await world.film({ model: 'demo-video', duration_seconds: 2 });
    expect([status, body.credits]).toEqual([202, { reserved: 0.2, settled: null }]);
    await world.settle();
    await world.pollsPass();
    const film = await world.look(body.id);
    expect(film).toMatchObject({
      state: 'succeeded',
      output: { availability: 'ready', content_type: 'video/mp4', duration_seconds: 2 },
    });
    const bytes = Buffer.from(await (await world.ask('GET', film.output.url)).arrayBuffer());
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
  });

  it('makes music in a job too', async () => {
    const world = await createGenerationWorld(createFilmStudio(), { models: [createDemoProvider()] });
    const { body } = await world.song({ model: 'demo-music', format: 'wav', duration_seconds: 3 });
    await world.settle();
    expect(await world.look(body.id, 'music')).toMatchObject({
      state: 'succeeded',
      instrumental: true,
      output: { availability: 'ready', content_type: 'audio/wav' },
    });
  });
});
