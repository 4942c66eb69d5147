import { createDemoProvider } from '@questline/core';
import type { GenerateOptions, MediaJobs, VideoRequest } from '@questline/core/ports';
import { createDemoMedia } from '@questline/demo-media';
import { describe, expect, it } from 'vitest';
import {
  createGenerationApp,
  createVideoStudio,
  done,
  FILM_MODEL,
  type GenerationApp,
} from '../support/generations.ts';

const KEY = 'sk-own-key-of-ada-0123456789';

/** A provider that accepts keys of users, and the keys it received. */
function keyedStudio() {
  const keys: (string | undefined)[] = [];
  const studio = createVideoStudio({}, {}, [{ ...FILM_MODEL, provider: 'xai' }]);
  const { videos } = studio;
  const noting = <A, T>(verb: (first: A, options: GenerateOptions) => Promise<T>) => {
    return (first: A, options: GenerateOptions): Promise<T> => {
      keys.push(options.apiKey);
      return verb(first, options);
    };
  };
  const video: MediaJobs<VideoRequest> = {
    submit: noting(videos.submit),
    poll: noting(videos.poll),
    fetch: noting(videos.fetch),
    cancel: noting(async (id: string, options) => videos.cancel?.(id, options)),
  };
  return { keys, studio: { ...studio, id: 'xai', video } };
}

async function bringKey(app: GenerationApp): Promise<string> {
  const { status, body } = await app.json('POST', '/api/api-keys/create', {
    credential: await app.token(),
    body: { name: 'Mine', service: 'xai', key: KEY },
  });
  expect(status).toBe(201);
  return body._id;
}

describe('video under a key of its owner', () => {
  it('is submitted, polled and fetched with it and costs no credits', async () => {
    const { studio, keys } = keyedStudio();
    const app = await createGenerationApp(studio, { credits: 0 });
    await bringKey(app);
    const { status, body } = await app.video();
    expect([status, body.credits]).toEqual([202, { reserved: 0, settled: null }]);
    await app.settle();
    for (const job of studio.videos.all) done(job);
    await app.pollsPass();
    expect(await app.look(body.id)).toMatchObject({ state: 'succeeded', credits: { settled: 0 } });
    expect(keys).toEqual([KEY, KEY, KEY]);
  });

  it('continues with its original key when other keys are added', async () => {
    const { studio, keys } = keyedStudio();
    const app = await createGenerationApp(studio);
    const { body } = await app.video();
    await app.settle();
    await bringKey(app);
    for (const job of studio.videos.all) done(job);
    await app.pollsPass();
    expect(await app.look(body.id)).toMatchObject({ state: 'succeeded', credits: { settled: 8 } });
    expect(keys).toEqual([undefined, undefined, undefined]);
  });

  it('fails when that key is deleted, because no other key can poll it', async () => {
    const { studio, keys } = keyedStudio();
    const app = await createGenerationApp(studio);
    const id = await bringKey(app);
    const { body } = await app.video();
    await app.settle();
    const gone = await app.json('DELETE', `/api/api-keys/${id}/delete`, {
      credential: await app.token(),
    });
    expect(gone.status).toBeLessThan(300);
    await app.pollsPass();
    expect(await app.look(body.id)).toMatchObject({
      state: 'failed',
      error: { code: 'model_unavailable' },
    });
    expect(keys).toEqual([KEY]);
  });
});

describe('offline provider', () => {
  it('makes a video that passes the file check', async () => {
    const app = await createGenerationApp(createVideoStudio(), {
      models: [createDemoProvider({ media: createDemoMedia() })],
      settings: { admin: {} },
    });
    const { status, body } = await app.video({ model: 'demo-video', duration_seconds: 2 });
    expect([status, body.credits]).toEqual([202, { reserved: 0.2, settled: null }]);
    await app.settle();
    await app.pollsPass();
    const video = await app.look(body.id);
    expect(video).toMatchObject({
      state: 'succeeded',
      output: { availability: 'ready', content_type: 'video/mp4', duration_seconds: 2 },
    });
    const bytes = Buffer.from(await (await app.ask('GET', video.output?.url ?? '')).arrayBuffer());
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
  });

  it('makes music in a job', async () => {
    const app = await createGenerationApp(createVideoStudio(), {
      models: [createDemoProvider({ media: createDemoMedia() })],
      settings: { admin: {} },
    });
    const { body } = await app.song({ model: 'demo-music', format: 'wav', duration_seconds: 3 });
    await app.settle();
    expect(await app.look(body.id, 'music')).toMatchObject({
      state: 'succeeded',
      instrumental: true,
      output: { availability: 'ready', content_type: 'audio/wav' },
    });
  });
});
