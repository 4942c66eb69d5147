import { createFakeClock } from '@questline/testing';
import { describe, expect, test } from 'vitest';
import { demoCalls } from '../src/calls.ts';
import { createDemoMedia } from '../src/index.ts';
import { createDemoVideos } from '../src/video.ts';

const audio = { mediaType: 'audio/wav', data: new Uint8Array(7) };
const left = new Error('left');

/** Each call, with a model of this id. */
const CALLS: Record<string, (model: string, options: object) => Promise<unknown>> = {
  image: (model, options) => demoCalls.image({ model, prompt: 'a', count: 1 }, options),
  speech: (model, options) => demoCalls.speech({ model, text: 'a', format: 'mp3' }, options),
  soundEffect: (model, options) => demoCalls.soundEffect({ model, text: 'a', format: 'mp3' }, options),
  music: (model, options) => demoCalls.music({ model, prompt: 'a', lengthMs: 3000, format: 'mp3' }, options),
  transcribe: (model, options) => demoCalls.transcribe({ model, audio }, options),
};

describe.each(Object.entries(CALLS))('call %s of the demo provider', (_name, call) => {
  test('is refused with a model of another kind, and after an abort', async () => {
    for (const model of ['demo-video', 'other']) {
      await expect(call(model, {})).rejects.toMatchObject({ kind: 'invalid_request' });
    }
    await expect(call('demo-video', { signal: AbortSignal.abort(left) })).rejects.toBe(left);
  });
});

test('draws a square for an unknown shape', async () => {
  const draw = (more: object) => demoCalls.image({ model: 'demo-image', prompt: 'a', count: 1, ...more }, {});
  expect(await draw({ aspectRatio: '0:0' })).toEqual(await draw({}));
});

describe('video of the demo provider', () => {
  const request = {
    model: 'demo-video',
    prompt: 'a',
    durationSeconds: 2,
    aspectRatio: '1:1',
    resolution: '360p',
  } as const;

  test('is not made after an abort', async () => {
    const videos = createDemoVideos(undefined);
    const id = await videos.submit(request, {});
    const options = { signal: AbortSignal.abort(left) };
    await expect(videos.submit(request, options)).rejects.toBe(left);
    await expect(videos.poll(id, options)).rejects.toBe(left);
    await expect(async () => videos.fetch(id, options)).rejects.toBe(left);
  });

  test('takes 100 pauses of its clock, and no time without one', async () => {
    const clock = createFakeClock(5_000);
    const { video, models, image } = createDemoMedia({ clock });
    expect([models.length, image]).toEqual([6, demoCalls.image]);
    const id = (await video?.submit(request, {})) ?? '';
    expect(await video?.poll(id, {})).toEqual({ state: 'running', progress: 0 });
    await clock.advance(1500);
    expect(await video?.poll(id, {})).toEqual({ state: 'running', progress: 0.5 });
    await clock.advance(1500);
    expect(await video?.poll(id, {})).toMatchObject({ state: 'done', durationSeconds: 2 });
    for (const options of [{}, { clock, pauseMs: 0 }]) {
      const atOnce = createDemoMedia(options).video;
      const now = (await atOnce?.submit(request, {})) ?? '';
      expect(await atOnce?.poll(now, {})).toMatchObject({ state: 'done' });
    }
    const quick = createDemoMedia({ clock, pauseMs: 1 }).video;
    const started = (await quick?.submit(request, {})) ?? '';
    expect(await quick?.poll(started, {})).toMatchObject({ state: 'running' });
  });
});
