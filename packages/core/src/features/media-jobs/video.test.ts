import { describe, expect, it } from 'vitest';
import { toEntry, VIDEO_INPUT, VIDEO_MODEL } from '../../../test/generations.ts';
import type { ModelInfo } from '../../ports/models.ts';
import { VIDEO } from './video.ts';

/** The fields of refusals. */
const PATHS: Readonly<Record<string, string>> = {
  unsupported_mode: 'mode',
  unexpected_input_image: 'input_image_file_id',
  missing_input_image: 'input_image_file_id',
  unsupported_duration: 'duration_seconds',
  unsupported_aspect_ratio: 'aspect_ratio',
  unsupported_resolution: 'resolution',
  unsupported_audio_option: 'audio',
};

describe('a request for a video', () => {
  const choose = (body: object = {}, video: object = {}) => {
    const info = { ...VIDEO_MODEL, video: { ...VIDEO_MODEL.video, ...video } } as ModelInfo;
    return VIDEO.choose(toEntry(info), { model: 'director', prompt: 'a boat', ...body } as never);
  };
  const image = 'b'.repeat(24);

  it('has the defaults of its model', () => {
    expect(choose()).toStrictEqual(VIDEO_INPUT);
    expect(choose({}, { modes: ['image_to_video', 'text_to_video'] })).toMatchObject({
      mode: 'text_to_video',
    });
  });

  it('has its own values', () => {
    const body = { duration_seconds: 4, aspect_ratio: '9:16', resolution: '1080p', audio: false };
    expect(choose({ ...body, mode: 'image_to_video', input_image_file_id: image })).toStrictEqual({
      ...{
        prompt: 'a boat',
        mode: 'image_to_video',
        durationSeconds: 4,
        aspectRatio: '9:16',
        resolution: '1080p',
      },
      ...{ audio: false, inputImageFileId: image },
    });
    expect(choose({ input_image_file_id: image })).toMatchObject({ mode: 'image_to_video' });
  });

  it.each([
    [
      'unsupported_mode',
      { mode: 'image_to_video', input_image_file_id: image },
      { modes: ['text_to_video'] },
    ],
    ['unexpected_input_image', { mode: 'text_to_video', input_image_file_id: image }, {}],
    ['unexpected_input_image', { input_image_file_id: image }, { modes: ['text_to_video'] }],
    ['missing_input_image', { mode: 'image_to_video' }, {}],
    ['missing_input_image', {}, { modes: ['image_to_video'] }],
    ['unsupported_duration', { duration_seconds: 5 }, {}],
    ['unsupported_aspect_ratio', { aspect_ratio: '1:1' }, {}],
    ['unsupported_resolution', { resolution: '4k' }, {}],
    ['unsupported_audio_option', { audio: true }, { audio: 'none' }],
    ['unsupported_audio_option', { audio: false }, { audio: 'always' }],
  ])('is refused: %s, %j, %j', (code, body, video) => {
    const details = [expect.objectContaining({ path: PATHS[code] })];
    expect(() => choose(body, video)).toThrow(expect.objectContaining({ status: 422, code, details }));
  });

  it.each([
    [{ audio: false }, { audio: 'none' }],
    [{ audio: true }, { audio: 'always' }],
    [{ audio: true }, {}],
  ])('may name what the model does anyway: %j, %j', (body, video) => {
    expect(choose(body, video)).toMatchObject(body);
  });

  it.each([
    [1, true],
    [1.5, true],
    [2, true],
    [0.5, false],
    [2.5, false],
    [1.25, false],
    [1.1, false],
  ])('has a duration of a range: %s', (seconds, isPossible) => {
    const duration = { kind: 'range', min: 1, max: 2, step: 0.5 };
    const ask = () => choose({ duration_seconds: seconds }, { duration });
    if (isPossible) expect(ask()).toMatchObject({ durationSeconds: seconds });
    else expect(ask).toThrow('Director supports 1 to 2 seconds in steps of 0.5');
  });

  it('may have any duration of a range without steps', () => {
    const duration = { kind: 'range', min: 1, max: 2, step: 0 };
    expect(choose({ duration_seconds: 1.234 }, { duration })).toMatchObject({ durationSeconds: 1.234 });
    const fine = { kind: 'range', min: 0.1, max: 1, step: 0.1 };
    expect(choose({ duration_seconds: 0.3 }, { duration: fine })).toMatchObject({ durationSeconds: 0.3 });
    const odd = { kind: 'range', min: 1, max: 2, step: 0.7 };
    expect(choose({ duration_seconds: 1.7 }, { duration: odd })).toMatchObject({ durationSeconds: 1.7 });
    expect(() => choose({ duration_seconds: 5 })).toThrow('Director supports 4, 8 seconds');
  });
});

describe('a video model', () => {
  it('is shown with its abilities and prices', () => {
    expect(VIDEO.toWireModel(toEntry(VIDEO_MODEL))).toStrictEqual({
      ...{ id: 'director', object: 'video_model', display_name: 'Director', provider: 'videos' },
      ...{ modes: ['text_to_video', 'image_to_video'], duration: { kind: 'discrete', values: [4, 8] } },
      ...{ aspect_ratios: ['16:9', '9:16'], resolutions: ['720p', '1080p'], audio: 'optional' },
      defaults: { duration_seconds: 8, aspect_ratio: '16:9', resolution: '720p' },
      ...{ credits_per_second: { '720p': 1, '1080p': 3 }, deprecation_date: null },
    });
    const { prices: _, ...free } = VIDEO_MODEL;
    const range = { kind: 'range', min: 1, max: 2, step: 1 } as const;
    const other = {
      ...free,
      deprecationDate: '2027-01-01',
      video: { ...VIDEO_MODEL.video, duration: range },
    };
    expect(VIDEO.toWireModel(toEntry(other as ModelInfo))).toMatchObject({
      ...{ credits_per_second: null, deprecation_date: '2027-01-01', duration: range },
    });
    expect(VIDEO.toWireModel(toEntry(VIDEO_MODEL, { prices: undefined }))).toMatchObject({
      credits_per_second: { '720p': 0, '1080p': 0 },
    });
  });

  it('needs abilities, and a provider of videos', () => {
    expect(VIDEO.serves(toEntry(VIDEO_MODEL))).toBe(true);
    const { video: _, ...none } = VIDEO_MODEL;
    expect(VIDEO.serves(toEntry(none as ModelInfo))).toBe(false);
    expect(VIDEO.serves(toEntry({ ...VIDEO_MODEL, type: 'music' }))).toBe(false);
    expect(VIDEO.serves(toEntry(VIDEO_MODEL, { provider: { id: 'x' } }))).toBe(false);
    expect(() => VIDEO.toWireModel(toEntry(none as ModelInfo))).toThrow('director is not a video model');
  });

  it('makes videos with sound if the request says so', async () => {
    const given: unknown[] = [];
    const video = { submit: async (request: unknown) => given.push(request) };
    const submit = async (input: object, image?: object) => {
      const making = VIDEO.making({ video } as never, {
        providerModel: 'm',
        input: { ...VIDEO_INPUT, ...input },
      });
      if (making?.jobs === undefined) throw new Error('no jobs');
      await making.submit(image as never, {});
    };
    await submit({});
    await submit({ audio: false }, { mediaType: 'image/png' });
    const { mode: _, ...about } = VIDEO_INPUT;
    expect(given).toStrictEqual([
      { model: 'm', ...about },
      { model: 'm', ...about, audio: false, image: { mediaType: 'image/png' } },
    ]);
  });
});
