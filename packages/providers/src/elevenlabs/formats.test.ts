import { describe, expect, it } from 'vitest';
import { readElevenLabsError } from './errors.ts';
import { outputFormat, toAudio } from './formats.ts';

describe('audio of ElevenLabs', () => {
  it.each([
    ['mp3', 'mp3_44100_128', 'audio/mpeg', 16_000],
    ['opus', 'opus_48000_128', 'audio/ogg', 16_000],
    ['pcm', 'pcm_24000', 'audio/pcm', 48_000],
  ] as const)('as %s has the name, the type and the rate of its format', (format, name, mediaType, rate) => {
    expect(outputFormat(format)).toBe(name);
    const data = Buffer.alloc(1.5 * rate + 1);
    expect(toAudio(format, data)).toEqual({ mediaType, data, usage: { seconds: 1.5 } });
    expect(() => toAudio(format, Buffer.alloc(0))).toThrow('the response contains no audio');
  });

  it('as WAV has a head with the form of the samples', () => {
    const { mediaType, data, usage } = toAudio('wav', Buffer.from('samples!'));
    expect([outputFormat('wav'), mediaType, usage]).toEqual(['pcm_24000', 'audio/wav', { seconds: 0 }]);
    const wave = Buffer.from(data);
    const longs = [4, 16, 24, 28, 40].map((at) => wave.readUInt32LE(at));
    expect(longs).toEqual([44, 16, 24_000, 48_000, 8]);
    expect([20, 22, 32, 34].map((at) => wave.readUInt16LE(at))).toEqual([1, 1, 2, 16]);
    expect([0, 8, 12, 36, 44].map((at) => wave.toString('latin1', at, at + 4))).toEqual([
      'RIFF',
      'WAVE',
      'fmt ',
      'data',
      'samp',
    ]);
    expect(wave).toHaveLength(52);
  });

  it('is not made in other formats', () => {
    expect(() => outputFormat('flac')).toThrow(expect.objectContaining({ kind: 'invalid_request' }));
    expect(() => toAudio('aac', Buffer.from('a'))).toThrow('does not make aac');
  });
});

describe('error of ElevenLabs', () => {
  it.each([
    ['invalid_api_key', 'rejected_key'],
    ['missing_permissions', 'rejected_key'],
    ['quota_exceeded', 'rejected_key'],
    ['too_many_concurrent_requests', 'overloaded'],
    ['concurrent_limit_exceeded', 'overloaded'],
    ['rate_limit_exceeded', 'overloaded'],
    ['system_busy', 'overloaded'],
    ['bad_prompt', 'content_blocked'],
    ['bad_composition_plan', 'content_blocked'],
    ['content_moderated', 'content_blocked'],
    ['max_character_limit_exceeded', 'invalid_request'],
    ['voice_not_found', 'invalid_request'],
    ['model_not_found', 'invalid_request'],
    ['something_new', undefined],
  ])('has a kind by its status or code %s', (word, kind) => {
    for (const detail of [{ status: word }, { code: word }]) {
      expect(readElevenLabsError({ detail: { ...detail, message: 'Oh' } }, 400)).toEqual({
        message: 'Oh',
        kind,
        code: word,
      });
    }
  });

  it('has its message alone, or the first field that does not fit', () => {
    expect(readElevenLabsError({ detail: 'Oh' }, 400)).toMatchObject({ message: 'Oh', kind: undefined });
    const detail = [{ msg: 'field required', type: 'missing', loc: ['body', 'text'] }, { msg: 'other' }];
    expect(readElevenLabsError({ detail }, 422)).toEqual({
      message: 'field required',
      code: 'missing',
      param: 'body.text',
    });
    expect(readElevenLabsError({ detail: [{ loc: 'body' }] }, 422).param).toBeUndefined();
  });
});
