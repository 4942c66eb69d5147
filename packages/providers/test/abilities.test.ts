import type { ModelInfo } from '@questline/core/ports';
import { createAnthropicProvider } from '@questline/providers/anthropic';
import { createElevenLabsProvider } from '@questline/providers/elevenlabs';
import { createGeminiProvider } from '@questline/providers/gemini';
import { createOpenAIProvider } from '@questline/providers/openai';
import { createXAIProvider } from '@questline/providers/xai';
import { describe, expect, it } from 'vitest';

const apiKey = 'sk-none';
const all = [
  createAnthropicProvider({ apiKey }),
  createOpenAIProvider({ apiKey }),
  createGeminiProvider({ apiKey }),
  createXAIProvider({ apiKey }),
  createElevenLabsProvider({ apiKey }),
].flatMap((provider) => provider.models());

/** A value of each model of a type, by the id of the model. */
const collect = <T>(type: ModelInfo['type'], read: (model: ModelInfo) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(all.filter((model) => model.type === type).map((model) => [model.id, read(model)]));
const named = <T>(ids: string, value: T): Readonly<Record<string, T>> =>
  Object.fromEntries(ids.split(' ').map((id) => [id, value]));

const CLAUDE = 'claude-haiku-5-5 claude-haiku-4-5 claude-sonnet-5-5 claude-opus-5-5 claude-fable-5-2';
const GPT_6 = 'gpt-6-luna gpt-6.1-terra gpt-6.2-sol gpt-6.2-astra';
const GPT = `${GPT_6} gpt-4o-mini gpt-4.1`;
const GEMINI = 'gemini-3.5-flash-lite gemini-3.8-flash gemini-4-hydrogen gemini-4-argon gemini-4-carbon';
const GROK = 'grok-4.3 grok-4.7';

describe('text models of the vendors', () => {
  it('stream, call tools and see; all but two think', () => {
    const getFlags = ({ supportsStreaming, supportsTools, supportsVision, supportsThinking }: ModelInfo) => [
      supportsStreaming,
      supportsTools,
      supportsVision,
      supportsThinking,
    ];
    expect(collect('text', getFlags)).toEqual({
      ...named(`${CLAUDE} ${GPT} ${GEMINI} ${GROK}`, [true, true, true, true]),
      ...named('gpt-4o-mini gpt-4.1', [true, true, true, false]),
    });
  });

  it('read the kinds of content that their vendor names, and write text', () => {
    expect(collect('text', ({ inputModalities }) => inputModalities)).toEqual({
      ...named(`${CLAUDE} ${GPT}`, ['text', 'image', 'document']),
      ...named(GEMINI, ['text', 'image', 'document', 'audio', 'video']),
      ...named(GROK, ['text', 'image']),
    });
    for (const model of all.filter(({ type }) => type === 'text'))
      expect(model.outputModalities).toEqual(['text']);
  });

  it('take the efforts that are listed', () => {
    const fromNone = ['none', 'low', 'medium', 'high', 'xhigh'];
    const fromLow = ['low', 'medium', 'high', 'xhigh'];
    expect(collect('text', ({ reasoningEfforts }) => reasoningEfforts)).toEqual({
      ...named(CLAUDE, undefined),
      ...named('claude-fable-5-2 gpt-6.2-sol gpt-6.2-astra grok-4.7', fromLow),
      ...named('gpt-6-luna gpt-6.1-terra', fromNone),
      ...named('gpt-4o-mini gpt-4.1', undefined),
      ...named(GEMINI, ['low', 'medium', 'high']),
      'gemini-3.5-flash-lite': ['minimal', 'low', 'medium', 'high'],
      'grok-4.3': ['none', 'low', 'medium', 'high'],
    });
  });

  it('cost less for cached input, those that write caches more for it', () => {
    const compare = ({ prices = {} }: ModelInfo) => {
      const { input = 0, cachedInput = input, cacheWrite } = prices;
      return [cachedInput < input, cacheWrite !== undefined && cacheWrite > input];
    };
    expect(collect('text', compare)).toEqual({
      ...named(`${CLAUDE} ${GPT_6}`, [true, true]),
      ...named(`gpt-4o-mini gpt-4.1 ${GEMINI} ${GROK}`, [true, false]),
    });
  });

  it('cache prompts of the length that their vendor names', () => {
    expect(collect('text', ({ minCacheTokens }) => minCacheTokens)).toEqual({
      ...named(`${CLAUDE} ${GROK}`, undefined),
      ...named(`claude-haiku-4-5 ${GEMINI}`, 4096),
      ...named(GPT, 1024),
    });
  });

  it('cost several times as much for long prompts, where their vendor says so', () => {
    const getFactors = ({ prices = {}, priceTiers = [] }: ModelInfo) =>
      priceTiers.map(({ prices: long }) =>
        (['input', 'cachedInput', 'cacheWrite', 'output'] as const).map(
          (unit) => Math.round(((long[unit] ?? 0) / (prices[unit] ?? 1)) * 10) / 10,
        ),
      );
    expect(collect('text', getFactors)).toEqual({
      ...named(`${CLAUDE} ${GPT} ${GEMINI}`, []),
      ...named(GPT_6, [[2, 2, 2, 1.5]]),
      ...named(GROK, [[2, 2, 0, 2]]),
      'claude-haiku-5-5': [[5, 5, 5, 5]],
    });
  });

  it('charge for text that was cut off by their speed, where it is measured', () => {
    expect(collect('text', ({ outputTokensPerSecond }) => outputTokensPerSecond)).toEqual({
      ...named(`${CLAUDE} ${GPT} ${GEMINI} ${GROK}`, undefined),
      'gpt-6-luna': 140,
      'grok-4.3': 160,
    });
  });
});

describe('models of the vendors for vectors', () => {
  it('make them of the size that is listed', () => {
    expect(collect('embedding', ({ dimensions }) => dimensions)).toEqual({
      'text-embedding-3-small': 1536,
      'text-embedding-3-large': 3072,
      'gemini-embedding-001': 3072,
      'gemini-embedding-2': 3072,
    });
  });
});

describe('models of the vendors for media', () => {
  it('draw and edit images', () => {
    const openAI = {
      sizing: { kind: 'presets', sizes: ['1024x1024', '1536x1024', '1024x1536', 'auto'] },
      supports: {
        transparent_background: true,
        seed: false,
        qualities: ['low', 'medium', 'high', 'auto'],
        max_images: 10,
        max_reference_images: 15,
        edit: true,
        requires_input_image: false,
      },
    };
    const gemini = {
      sizing: {
        kind: 'aspect_ratio',
        ratios: ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'],
      },
      supports: {
        transparent_background: false,
        seed: true,
        qualities: [],
        max_images: 4,
        max_reference_images: 3,
        edit: true,
        requires_input_image: false,
      },
    };
    expect(collect('image', ({ image }) => image)).toEqual({
      ...named('gpt-image-2.6-flare gpt-image-2.6-sunburst gpt-image-1', openAI),
      ...named('gemini-3.1-flash-image gemini-2.5-flash-image', gemini),
    });
  });

  it('cost per token or per image', () => {
    expect(collect('image', ({ prices }) => Object.keys(prices ?? {}))).toEqual({
      ...named('gpt-image-2.6-flare gpt-image-2.6-sunburst', ['input', 'output']),
      ...named('gpt-image-1 gemini-3.1-flash-image gemini-2.5-flash-image', ['image']),
    });
  });

  it('make videos of text and of images, with sound', () => {
    const modes = ['text_to_video', 'image_to_video'];
    const grok = {
      modes,
      duration: { kind: 'range', min: 1, max: 15, step: 1 },
      aspectRatios: ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3'],
      resolutions: ['480p', '720p'],
      defaults: { durationSeconds: 8, aspectRatio: '16:9', resolution: '480p' },
      audio: 'always',
    };
    expect(collect('video', ({ video }) => video)).toEqual({
      'gemini-omni-1.2-flash': {
        modes,
        duration: { kind: 'range', min: 3, max: 10, step: 1 },
        aspectRatios: ['16:9', '9:16'],
        resolutions: ['360p', '720p', '1080p', '4k'],
        defaults: { durationSeconds: 5, aspectRatio: '16:9', resolution: '720p' },
        audio: 'always',
      },
      'grok-imagine-video': grok,
      'grok-imagine-video-1.5': { ...grok, resolutions: ['480p', '720p', '1080p'] },
    });
  });

  it('speak, and make sounds and music', () => {
    const openAI = { formats: ['mp3', 'wav', 'opus', 'aac', 'flac', 'pcm'], maxCharacters: 4096 };
    const formats = ['mp3', 'wav', 'opus', 'pcm'];
    expect(collect('text-to-speech', ({ audio }) => audio)).toEqual({
      ...named('gpt-4o-mini-tts tts-1-hd', openAI),
      eleven_flash_v2_5: {
        formats,
        maxCharacters: 10_000,
        options: ['stability', 'similarityBoost', 'languageCode'],
      },
      eleven_multilingual_v2: { formats, maxCharacters: 10_000, options: ['stability', 'similarityBoost'] },
    });
    expect(
      collect('sound-effect', ({ audio, prices }) => ({ audio, units: Object.keys(prices ?? {}) })),
    ).toEqual({
      eleven_text_to_sound_v2: {
        audio: {
          formats,
          maxCharacters: 1000,
          options: ['promptInfluence'],
          duration: { min: 0.5, max: 30 },
        },
        units: ['second'],
      },
    });
    expect(collect('music', ({ audio, prices }) => ({ audio, units: Object.keys(prices ?? {}) }))).toEqual({
      music_v1: {
        audio: { formats, maxCharacters: 2000, duration: { min: 3, max: 300 }, instrumental: 'optional' },
        units: ['second'],
      },
    });
  });
});

describe('models of the vendors that retire', () => {
  it('name their successors, where the vendor has one', () => {
    const retiring = all.filter(({ deprecationDate }) => deprecationDate !== undefined);
    expect(retiring.map(({ id, replacedBy }) => [id, replacedBy])).toEqual([
      ['gpt-4o-mini', 'gpt-6-luna'],
      ['gpt-4.1', 'gpt-6-luna'],
      ['gpt-image-1', 'gpt-image-2.6-flare'],
      ['gpt-4o-mini-tts', undefined],
      ['tts-1-hd', undefined],
      ['gpt-4o-transcribe', 'gpt-transcribe'],
      ['whisper-1', 'gpt-transcribe'],
      ['gemini-2.5-flash-image', 'gemini-3.1-flash-image'],
    ]);
  });
});

describe('models of the vendors without a check date', () => {
  it('are those whose figures were not verified', () => {
    const unchecked = all.filter(({ checkedOn }) => checkedOn === undefined);
    expect(unchecked.map(({ id }) => id)).toEqual([
      ...['text-embedding-3-small', 'text-embedding-3-large', 'gemini-embedding-001', 'gemini-embedding-2'],
      ...['gemini-omni-1.2-flash', 'grok-imagine-video', 'grok-imagine-video-1.5'],
      ...['eleven_flash_v2_5', 'eleven_multilingual_v2', 'eleven_text_to_sound_v2', 'music_v1'],
    ]);
  });
});
