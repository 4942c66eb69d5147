import { describe, expect, it } from 'vitest';
import { imageModel, speechModel, transcriptionModel, videoModel } from './media-model.ts';
import { embeddingModel, textModel } from './text-model.ts';

const MEDIA = { id: 'm', name: 'M', provider: '', contextWindow: 0, maxOutputTokens: 0 };

describe('model of a list', () => {
  it('that writes text has all abilities, unless the list says otherwise', () => {
    const prices = { input: 1, output: 2 };
    expect(textModel('m', 'M', 100, 10, prices, 'Writes.')).toEqual({
      id: 'm',
      name: 'M',
      type: 'text',
      provider: '',
      description: 'Writes.',
      contextWindow: 100,
      maxOutputTokens: 10,
      supportsStreaming: true,
      supportsThinking: true,
      supportsTools: true,
      supportsVision: true,
      prices,
    });
    const more = { supportsThinking: false, minCacheTokens: 7 };
    expect(textModel('m', 'M', 100, 10, prices, 'Writes.', more)).toMatchObject(more);
  });

  it('that embeds costs per token of its input', () => {
    expect(embeddingModel('m', 'M', { contextWindow: 8, dimensions: 3, input: 0.5 })).toEqual({
      ...MEDIA,
      type: 'embedding',
      contextWindow: 8,
      dimensions: 3,
      prices: { input: 0.5 },
    });
  });

  it('that draws or speaks has the prices and abilities of the list', () => {
    const image = { sizing: { kind: 'presets', sizes: ['1x1'] } } as never;
    expect(imageModel('m', 'M', { image: 0.5 }, image)).toEqual({
      ...MEDIA,
      type: 'image',
      image,
      prices: { image: 0.5 },
    });
    const audio = { formats: ['mp3'], maxCharacters: 7 } as const;
    expect(speechModel('m', 'M', 0.5, audio)).toEqual({
      ...MEDIA,
      type: 'text-to-speech',
      audio,
      prices: { thousandCharacters: 0.5 },
    });
  });

  it('that transcribes costs per second, and twice its minute per megabyte', () => {
    expect(transcriptionModel('m', 'M', 0.6)).toEqual({
      ...MEDIA,
      type: 'speech-to-text',
      prices: { second: 0.01, megabyte: 1.2 },
    });
  });

  it('that makes videos costs at most its dearest resolution', () => {
    const abilities = { modes: ['text_to_video'], audio: 'always' } as never;
    const prices = { '480p': 0.1, '1080p': 0.4, '720p': 0.2 };
    expect(videoModel('m', 'M', prices, abilities)).toEqual({
      ...MEDIA,
      type: 'video',
      video: { modes: ['text_to_video'], audio: 'always', resolutions: ['480p', '1080p', '720p'] },
      prices: { second: 0.4, secondByResolution: prices },
    });
  });
});
