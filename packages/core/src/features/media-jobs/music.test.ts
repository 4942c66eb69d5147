import { describe, expect, it } from 'vitest';
import { MUSIC_INPUT, MUSIC_MODEL, toEntry } from '../../../test/generations.ts';
import { MUSIC } from './music.ts';

describe('music', () => {
  const choose = (body: object = {}, audio: object | null = {}) => {
    const info = { ...MUSIC_MODEL, audio: audio === null ? undefined : { ...MUSIC_MODEL.audio, ...audio } };
    return MUSIC.choose(toEntry(info as never), { model: 'composer', prompt: 'a waltz', ...body } as never);
  };

  it('has the defaults of its model', () => {
    expect(choose()).toStrictEqual({ ...MUSIC_INPUT, durationSeconds: 10 });
    expect(choose({}, null)).toStrictEqual({ ...MUSIC_INPUT, durationSeconds: 10 });
    expect(choose({}, { formats: ['wav', 'mp3'] })).toMatchObject({ format: 'mp3' });
    expect(choose({}, { formats: ['wav'] })).toMatchObject({ format: 'wav' });
    expect(choose({}, { duration: { min: 20, max: 60 } })).toMatchObject({ durationSeconds: 20 });
    expect(choose({}, { duration: { min: 2, max: 8 } })).toMatchObject({ durationSeconds: 8 });
    expect(choose({}, { duration: { min: 2.5, max: 60 } })).toMatchObject({ durationSeconds: 9.5 });
    expect(choose({}, { instrumental: 'always' })).toMatchObject({ instrumental: true });
    const body = { duration_seconds: 5, instrumental: true, format: 'wav' };
    expect(choose(body)).toMatchObject({ durationSeconds: 5, instrumental: true, format: 'wav' });
  });

  it.each([
    ['limit_exceeded', 'prompt', { prompt: 'x'.repeat(11) }, {}],
    ['unsupported_duration', 'duration_seconds', { duration_seconds: 4 }, {}],
    ['unsupported_duration', 'duration_seconds', { duration_seconds: 121 }, null],
    ['unsupported_duration', 'duration_seconds', { duration_seconds: 2 }, null],
    ['unsupported_audio_option', 'format', { format: 'flac' }, {}],
    ['unsupported_audio_option', 'instrumental', { instrumental: false }, { instrumental: 'always' }],
    ['unsupported_audio_option', 'instrumental', { instrumental: true }, { instrumental: 'none' }],
  ])('is refused: %s of %s, %j, %j', (code, path, body, audio) => {
    const details = [expect.objectContaining({ path })];
    expect(() => choose(body, audio)).toThrow(expect.objectContaining({ status: 422, code, details }));
  });

  it('may have the longest prompt, and name what the model does anyway', () => {
    expect(choose({ prompt: '😀'.repeat(10) })).toMatchObject({ prompt: '😀'.repeat(10) });
    expect(choose({ instrumental: false }, { instrumental: 'none' })).toMatchObject({ instrumental: false });
    expect(() => choose({ instrumental: false }, { instrumental: 'always' })).toThrow(
      'never generates vocals',
    );
    expect(() => choose({ instrumental: true }, { instrumental: 'none' })).toThrow('always generates vocals');
  });

  it('is shown with its abilities and prices', () => {
    expect(MUSIC.toWireModel(toEntry(MUSIC_MODEL))).toStrictEqual({
      ...{ id: 'composer', object: 'music_model', display_name: 'Composer', provider: 'videos' },
      ...{
        duration: { kind: 'range', min: 5, max: 60, step: 1 },
        formats: ['mp3', 'wav'],
        instrumental: 'optional',
      },
      defaults: { duration_seconds: 10, format: 'mp3' },
      ...{ credits_per_second: 1, deprecation_date: null },
    });
    const { prices: _, ...free } = MUSIC_MODEL;
    expect(MUSIC.toWireModel(toEntry(free))).toMatchObject({ credits_per_second: null });
    expect(MUSIC.toWireModel(toEntry(MUSIC_MODEL, { prices: undefined }))).toMatchObject({
      credits_per_second: null,
    });
    const byCharacter = { ...MUSIC_MODEL, prices: { input: 1 }, deprecationDate: '2027-01-01' };
    expect(MUSIC.toWireModel(toEntry(byCharacter))).toMatchObject({
      ...{ credits_per_second: null, deprecation_date: '2027-01-01' },
    });
    const { prices } = toEntry(MUSIC_MODEL);
    expect(MUSIC.toWireModel(toEntry(byCharacter, { prices }))).toMatchObject({ credits_per_second: null });
  });

  it('needs a provider of music', () => {
    expect(MUSIC.serves(toEntry(MUSIC_MODEL))).toBe(true);
    expect(MUSIC.serves(toEntry(MUSIC_MODEL, { provider: { music: async () => undefined } }))).toBe(true);
    expect(MUSIC.serves(toEntry(MUSIC_MODEL, { provider: {} }))).toBe(false);
    expect(MUSIC.serves(toEntry({ ...MUSIC_MODEL, type: 'video' }))).toBe(false);
    expect(MUSIC.making({} as never, { providerModel: 'm', input: MUSIC_INPUT })).toBeUndefined();
  });

  it('is submitted to a provider with jobs', async () => {
    const submit = async (request: unknown) => JSON.stringify(request);
    const making = MUSIC.making({ musicJobs: { submit }, music: {} } as never, {
      providerModel: 'm-1',
      input: MUSIC_INPUT,
    });
    if (making?.jobs === undefined) throw new Error('no jobs');
    expect(JSON.parse(await making.submit(undefined, {}))).toEqual({
      ...{ model: 'm-1', prompt: 'a waltz', lengthMs: 8000, format: 'mp3' },
    });
  });

  it.each([
    ['mp3', 'audio/x-other; a=b', 'audio/x-other'],
    ['mp3', 'text/html', 'audio/mpeg'],
    ['wav', '', 'audio/wav'],
    ['opus', '', 'audio/ogg'],
  ] as const)('of the format %s with the type %j is %s', (format, contentType, mimeType) => {
    expect(MUSIC.getMimeType({ ...MUSIC_INPUT, format }, contentType)).toBe(mimeType);
  });
});
